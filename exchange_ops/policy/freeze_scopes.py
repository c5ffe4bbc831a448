"""What a freeze covers. Every gate, every preview and every digest asks `covers`, so that none of them differs."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from exchange_ops.market.models import Symbol
from exchange_ops.policy.models import Freeze


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


def covered(freeze: Freeze, rows: Iterable[Any]) -> list[Any]:
    """Those of these rows, each with a `movement`, that the freeze covers."""
    return [row for row in rows if covers(freeze, row.movement)]


def _trades(code: str, freeze: Freeze) -> bool:
    """Whether the currency is one of the symbol's; a symbol that is not known may be of any currency."""
    sides = Symbol.objects.filter(pk=code).values_list("base_currency", "quote_currency").first()
    return sides is None or freeze.currency in sides
