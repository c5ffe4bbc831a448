"""What a browser may follow about the exchange account, and who may. Hints everywhere; values of public markets only.

Everybody with a role may read everything here; a person without one, and anything that is not a number, is refused.
"""

from typing import TYPE_CHECKING

from exchange_ops.shared import rules

if TYPE_CHECKING:
    from desk.models import Person

# With a key: the number of a row. Without: one topic for the whole desk.
KEYED = (
    "withdrawal",
    "ledger",
    "balances",
    "addresscheck",
    "addresses",
    "feeestimate",
    "subaccount",
    "transfer",
    "order",
    "marginaction",
    "policychange",
    "consolecall",
    "portfolio",
)
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


def _may_follow_row(person: "Person", key: str) -> bool:
    return key.isascii() and key.isdigit() and rules.may_see(person)


def _may_follow_symbol(person: "Person", key: str) -> bool:
    return bool(key) and rules.may_see(person)


def _may_follow(person: "Person", key: str) -> bool:
    return not key and rules.may_see(person)


def _may_follow_keys(person: "Person", key: str) -> bool:
    return not key and rules.may_see_keys(person)


TOPICS = {
    **dict.fromkeys(KEYED, _may_follow_row),
    **dict.fromkeys(PLAIN, _may_follow),
    **dict.fromkeys((*MARKET, HISTORY), _may_follow_symbol),
    "keys": _may_follow_keys,
}
