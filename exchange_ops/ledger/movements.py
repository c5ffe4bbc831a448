"""The kinds of movement that statements add up: each line of the ledger that succeeded is of exactly one.

A fee is a movement of its own beside its payout. Source: exchange REST, Transaction; supplement 1.6.
"""

from typing import Final

from django.db.models import Case, CharField, Q, Value, When

from exchange_ops.ledger import directions

DEPOSITS, PAYOUTS, CONVERSIONS, WALLETS = "deposits", "payouts", "conversions", "wallets"
SUBACCOUNTS, OTHER = "subaccounts", "other"
TRANSFERS, FEES = "transfers", "fees"
# What the filter of the ledger offers; transfers are those between wallets and those with sub-accounts.
LABELS: Final = {
    DEPOSITS: "Deposits",
    PAYOUTS: "Payouts",
    FEES: "Payout fees",
    CONVERSIONS: "Conversions",
    TRANSFERS: "Transfers",
    WALLETS: "Between bank and trading",
    SUBACCOUNTS: "With sub-accounts",
    OTHER: "Other",
}
SWAP: Final = "swap"
OF_SUBACCOUNTS: Final = ("to_subaccount", "from_subaccount")  # `transfers.states`: kinds of our requests

_IN = [type_ for type_, direction in directions.DIRECTIONS.items() if direction == directions.IN]
_OUT = [type_ for type_, direction in directions.DIRECTIONS.items() if direction == directions.OUT]
_MOVED = [type_ for type_, direction in directions.DIRECTIONS.items() if direction == directions.MOVED]
_INTERNAL = Q(transfer__kind__in=OF_SUBACCOUNTS)
# In this order: the first that holds decides.
_WHEN: Final = (
    (Q(type__in=_MOVED), WALLETS),
    (~Q(type__in=[*_IN, *_OUT]), OTHER),
    (Q(sub_type=SWAP), CONVERSIONS),
    (_INTERNAL, SUBACCOUNTS),
    (Q(type__in=_IN), DEPOSITS),
)


def kind() -> Case:
    """The kind of a line, for an annotation."""
    whens = [When(condition, then=Value(name)) for condition, name in _WHEN]
    return Case(*whens, default=Value(PAYOUTS), output_field=CharField())


def has_fee() -> Q:
    """Lines whose fee left the bank wallet: only payouts have fees of their own."""
    return Q(type__in=_OUT, fee__isnull=False) & ~Q(fee=0)
