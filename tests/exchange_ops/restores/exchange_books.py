"""What the exchange did for the desk's account, by its own journal and books: the side that no restore takes back.

The journal has each call that changed something, once for each time that it did. A request of the busy people has an
amount or a quantity of its own, so what was done for it is counted, whoever called and from whichever desk.
"""

import json
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from sandbox.settings.keys import DESK_ACCOUNT

Effect = tuple[str, ...]


def plain(number: object) -> str:
    """A number in the one form in which effects name it."""
    return format(Decimal(str(number)).normalize(), "f")


# For each call that makes something, what says which request it is for. Calls that say the same twice do nothing twice.
_MAKES: Final[dict[str, Callable[[dict[str, Any]], Effect]]] = {
    "create_withdrawal": lambda said: ("hold", plain(said["amount"])),
    "commit_withdrawal": lambda said: ("payment", said["id"]),
    "transfer_funds": lambda said: ("transfer", plain(said["amount"])),
    "transfer_to_user": lambda said: ("transfer", plain(said["amount"])),
    "transfer_subaccount_funds": lambda said: ("transfer", plain(said["amount"])),
    "set_margin_account": lambda said: ("collateral", plain(said["marginBalance"])),
}
FAR_TICKS: Final = 1_000  # the price of an order that only rests is below this
_ANY_NUMBER: Final = {"hold", "payment"}
_TRADING = ("create_order", "replace_order", "create_margin_order", "close_margin_account", "close_margin_position")
MAKING: Final = frozenset({*_MAKES, *_TRADING})


class Books:
    """The books of an exchange that runs in this process over a journal in `folder`."""

    def __init__(self, sandbox: Any, folder: Path) -> None:
        self._sandbox = sandbox
        self._journal = folder / "journal.jsonl"

    def entries(self) -> list[dict[str, Any]]:
        """Every input of the desk's account, oldest first."""
        lines = [json.loads(line) for line in self._journal.read_text().splitlines()[1:]]
        return [line for line in lines if line.get("account") == DESK_ACCOUNT]

    def effects(self) -> Counter[Effect]:
        """How often each effect was brought about."""
        return Counter(_MAKES[one["do"]](one["with"]) for one in self.entries() if one["do"] in _MAKES)

    def twice(self) -> list[str]:
        """Effects that a single request has more than once.

        What was released may be reserved again, and a payment may be ordered again: what was paid is counted instead.
        Of orders those count that were filled or still rest, but for what brackets sell: see `oversold`.
        """
        payouts = (("payout", plain(one.amount)) for one in self.transactions() if _is_paid(one))
        orders = (_effect_of(order) for order in self.orders().values() if order.margin or order.is_buy)
        several = {effect: times for effect, times in self.effects().items() if effect[0] not in _ANY_NUMBER}
        counts = Counter(payouts) + Counter(filter(None, orders)) + Counter(several)
        return [" ".join(effect) for effect, times in counts.items() if times > 1]

    def oversold(self) -> int:
        """By how much more is sold, or rests to be sold, than the entries of brackets bought, in increments.

        Nobody but brackets sells outside margin, and only their entries have a price near the market.
        """
        spot = [order for order in self.orders().values() if not order.margin]
        entered = sum(order.filled for order in spot if order.is_buy and (order.price or 0) > FAR_TICKS)
        selling = sum(order.filled + order.remaining * order.is_active for order in spot if not order.is_buy)
        return max(0, selling - entered)

    def transactions(self) -> list[Any]:
        """Every transaction of the account."""
        return list(self._sandbox.world.exchange.transactions.of_account(DESK_ACCOUNT))

    def paid(self, amount: Decimal) -> int:
        """How many payouts of this amount were made or are on their way."""
        return sum(one.amount == amount and _is_paid(one) for one in self.transactions())

    def holds(self) -> list[str]:
        """The payouts that are still reserved."""
        return [one.id for one in self.transactions() if one.type == "payout" and str(one.status) == "created"]

    def orders(self) -> dict[int, Any]:
        """Every order that the exchange remembers of the account, by its number."""
        return dict(self._sandbox.world.exchange.orders._dealings[DESK_ACCOUNT].orders)

    def is_balanced(self) -> bool:
        """Whether the exchange's own double entries sum to zero."""
        return bool(self._sandbox.control("ledger")["balanced"])


def _effect_of(order: Any) -> Effect | None:
    if not order.filled and not order.is_active:
        return None
    return ("margin order" if order.margin else "order", order.terms.side, str(order.terms.quantity))


def _is_paid(one: Any) -> bool:
    return one.type == "payout" and str(one.status) in {"pending", "success"}
