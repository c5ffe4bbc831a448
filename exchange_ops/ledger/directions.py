"""Which way each line of the exchange's ledger moved money, and what lines add up to.

Payins and deposits come in, payouts and withdrawals go out; transfers between the bank account and the trading account
move inside the account. Lines of an unknown type have no sign. Each line is also of one kind of movement, by which
statements add up; a fee is a movement of its own beside its payout. Source: exchange REST, Transaction; supplement 1.6.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Final

from django.db.models import Case, CharField, Q, Value, When

IN, OUT, MOVED, OTHER = "in", "out", "moved", "other"
DIRECTIONS: Final = {
    "payin": IN,
    "deposit": IN,
    "payout": OUT,
    "withdraw": OUT,
    "bankToExchange": MOVED,
    "exchangeToBank": MOVED,
}
SUCCESS: Final = "success"
UNDER_WAY: Final = ("created", "pending")
PENDING, FEES, NET = "pending", "fees", "net"
FIGURES: Final = (IN, OUT, MOVED, OTHER, FEES, NET, PENDING)
ZERO: Final = Decimal(0)
# Kinds of movement.
DEPOSITS, PAYOUTS, CONVERSIONS, WALLETS = "deposits", "payouts", "conversions", "wallets"
SUBACCOUNTS, TRANSFERS = "subaccounts", "transfers"
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

_IN = [type_ for type_, direction in DIRECTIONS.items() if direction == IN]
_OUT = [type_ for type_, direction in DIRECTIONS.items() if direction == OUT]
_MOVED = [type_ for type_, direction in DIRECTIONS.items() if direction == MOVED]
_INTERNAL = Q(transfer__kind__in=OF_SUBACCOUNTS)
# In this order: the first that holds decides.
_WHEN: Final = (
    (Q(type__in=_MOVED), WALLETS),
    (~Q(type__in=[*_IN, *_OUT]), OTHER),
    (Q(sub_type=SWAP), CONVERSIONS),
    (_INTERNAL, SUBACCOUNTS),
    (Q(type__in=_IN), DEPOSITS),
)


def of(type: str) -> str:
    """The direction of a line of this type."""
    return DIRECTIONS.get(type, OTHER)


def signed(type: str, *, amount: Decimal) -> Decimal:
    """The amount as it changes the account: what goes out is negative. What moves inside keeps its amount."""
    return -amount if of(type) == OUT else amount


def change(type: str, *, status: str, amount: Decimal, fee: Decimal | None) -> Decimal:
    """How the line changed what the account holds, its fee included; zero until it is successful."""
    if status != SUCCESS or of(type) == OTHER:
        return ZERO
    return (ZERO if of(type) == MOVED else signed(type, amount=amount)) - (fee or ZERO)


def sums(groups: Iterable[tuple[tuple[str, str], Mapping[str, Decimal]]]) -> dict[str, Decimal]:
    """The figures of lines in one currency, from their sums of `amount` and `fee` by (type, status).

    `in`, `out`, `moved` and `other` count successful lines without fees; `net` is `in` less `out` and `fees`. `pending`
    is the change, with its sign, that lines under way will make. What failed counts nowhere.
    """
    figures = dict.fromkeys(FIGURES, ZERO)
    for (type_, status), totals in groups:
        amount, fee = totals["amount"], totals["fee"]
        if status == SUCCESS:
            figures[of(type_)] += amount
            figures[FEES] += fee
            figures[NET] += change(type_, status=status, amount=amount, fee=fee)
        elif status in UNDER_WAY:
            figures[PENDING] += change(type_, status=SUCCESS, amount=amount, fee=fee)
    return figures


def kind() -> Case:
    """The kind of a line, for an annotation."""
    whens = [When(condition, then=Value(name)) for condition, name in _WHEN]
    return Case(*whens, default=Value(PAYOUTS), output_field=CharField())


def has_fee() -> Q:
    """Lines whose fee left the bank wallet: only payouts have fees of their own."""
    return Q(type__in=_OUT, fee__isnull=False) & ~Q(fee=0)
