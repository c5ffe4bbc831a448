"""What a browser may follow about the exchange account, and who may. Hints everywhere; values of public markets only.

Everybody with a role may read everything here; a person without one, and anything that is not a number, is refused.
"""

from typing import TYPE_CHECKING

from django.db.models import Model

from desk.rooms import MayFollow
from exchange_ops.addresses.models import AddressCheck, FeeEstimate
from exchange_ops.console.models import ConsoleCall
from exchange_ops.orders.brackets.models import Bracket
from exchange_ops.orders.models import Order
from exchange_ops.positions.models import MarginAction
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from exchange_ops.subaccounts.models import SubAccount
from exchange_ops.transfers.models import Transfer
from exchange_ops.withdrawals.models import Withdrawal

if TYPE_CHECKING:
    from desk.models import Person

# With a key: the number of a row, and the column that says whose it is. Without: one topic for the whole desk, of whose
# hints somebody who is limited to accounts gets no more than that something changed (`desk.live.fanout`).
ROWS: dict[str, tuple[type[Model] | None, str, str]] = {
    "withdrawal": (Withdrawal, "pk", "account"),
    "ledger": (Account, "pk", "pk"),
    "balances": (Account, "pk", "pk"),
    "addresscheck": (AddressCheck, "pk", "account"),
    "addresses": (Account, "pk", "pk"),
    "feeestimate": (FeeEstimate, "pk", "account"),
    "subaccount": (SubAccount, "pk", "account"),
    "transfer": (Transfer, "pk", "account"),
    "order": (Order, "pk", "account"),
    "bracket": (Bracket, "pk", "account"),
    "marginaction": (MarginAction, "pk", "account"),
    "policychange": (None, "pk", ""),
    "consolecall": (ConsoleCall, "pk", "account"),
    "portfolio": (Account, "pk", "pk"),
}
PLAIN = (
    "withdrawals",
    "approvals",
    "freezes",
    "market",
    "system",
    "subaccounts",
    "transfers",
    "orders",
    "margin",
    "policy",
)
# The public market, with ticks; the key is made of the name of a symbol (domain/market_topics.py).
MARKET = ("symbol", "book", "trades", "candles")
HISTORY = "history"  # of candles, with the same key and without ticks
LONGEST_NUMBER = 18  # digits of a row's number, which the database could look up


def _may_follow_row(name: str) -> MayFollow:
    """Everybody with a role at the row's account; of a row that is of no account, everybody with a role."""
    model, key, account = ROWS[name]

    def may_follow(person: "Person", text: str) -> bool:
        if not (text.isascii() and text.isdigit() and rules.may_see(person)):
            return False
        if not person.limits or model is None:
            return True
        rows = (
            model._default_manager.filter(**{key: int(text)})
            if len(text) < LONGEST_NUMBER
            else model._default_manager.none()
        )
        return (
            rules.seen_by(person, rows, account=account).exists()
            or rows.filter(**{f"{account}__isnull": True}).exists()
        )

    return may_follow


def _may_follow_symbol(person: "Person", key: str) -> bool:
    return bool(key) and rules.may_see(person)


def _may_follow(person: "Person", key: str) -> bool:
    return not key and rules.may_see(person)


def _may_follow_keys(person: "Person", key: str) -> bool:
    return not key and rules.may_see_keys(person)


TOPICS = {
    **{name: _may_follow_row(name) for name in ROWS},
    **dict.fromkeys(PLAIN, _may_follow),
    **dict.fromkeys((*MARKET, HISTORY), _may_follow_symbol),
    "keys": _may_follow_keys,
}
