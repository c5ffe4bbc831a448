"""What a freeze covers. Every gate, every preview and every digest asks `covers`, so that none of them differs."""

from dataclasses import dataclass
from typing import Any, TypeVar

from django.db.models import QuerySet

from exchange_ops.market.models import Symbol
from exchange_ops.policy.models import Freeze

R = TypeVar("R", bound=Any)


@dataclass(frozen=True, slots=True)
class Movement:
    """What a freeze is compared with: the account of a request, and what it moves.

    `symbol` is that of an order or a margin action, which moves both of its currencies. `destination` is that of a
    payout, in the form of `addresses.destinations.identity`; empty where nothing is paid to an address.
    """

    account: int
    currencies: tuple[str, ...] = ()
    symbol: str = ""
    destination: str = ""


def covers(freeze: Freeze, movement: Movement) -> bool:
    """Whether the freeze stops this movement while it is active."""
    if freeze.kind == Freeze.ACCOUNT:
        return freeze.account_id == movement.account
    if freeze.kind == Freeze.DESTINATION:
        return bool(movement.destination) and freeze.destination == movement.destination
    if freeze.kind == Freeze.CURRENCY:
        return freeze.currency in movement.currencies or (bool(movement.symbol) and _trades(movement.symbol, freeze))
    return True


def covered(freeze: Freeze, rows: QuerySet[R]) -> list[R]:
    """Those of these rows, each with an `account` and a `movement`, that the freeze covers."""
    near = rows if freeze.account_id is None else rows.filter(account=freeze.account_id)
    return [row for row in near if covers(freeze, row.movement)]


def _trades(code: str, freeze: Freeze) -> bool:
    """Whether the currency is one of the symbol's; a symbol that is not known may be of any currency."""
    sides = Symbol.objects.filter(pk=code).values_list("base_currency", "quote_currency").first()
    return sides is None or freeze.currency in sides
