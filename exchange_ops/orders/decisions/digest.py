"""The digest of an order that waits for an approval: one code over exactly what was asked for, its bracket included.

It is made under a key that is not in the database, so that no changed content has one (`withdrawals.decisions.digest`).
"""

from datetime import datetime
from decimal import Decimal
from typing import Any

from exchange_ops.orders.models import Order
from exchange_ops.withdrawals.decisions import digest

_FORM = "countersign-order-1"
ExitPrices = tuple[Decimal, Decimal]  # stop and take profit, in the quote currency


def compute(row: Order, *, exits: ExitPrices | None) -> str:
    """HMAC-SHA256 in hex over the order's content, the bounds it went beyond and the exits that are placed with it, by
    the newest key of the ring."""
    return digest.digests(_content(row, exits))[0]


def matches(candidate: str, row: Order) -> bool:
    """Whether this is the digest of that content, with the bracket that guards it now, under any key of the ring."""
    return candidate in digest.digests(_content(row, _exits(row)))


def is_of_older_form(candidate: str, row: Order) -> bool:
    """Whether this is the digest of the order alone, as versions before 0.8.0 made it where a bracket was placed with
    it: an approval of it does not cover the stop and the take profit."""
    return _exits(row) is not None and candidate in digest.digests(_content(row, None))


def _content(row: Order, exits: ExitPrices | None) -> dict[str, Any]:
    signed = digest.signed_content(row)
    texts = {name: value.isoformat() for name, value in signed.items() if isinstance(value, datetime)}
    guarded = {} if exits is None else {"exits": [digest.json_value(price) for price in exits]}
    return signed | texts | guarded | {"form": _FORM}


def _exits(row: Order) -> ExitPrices | None:
    bracket = getattr(row, "bracket", None)
    return None if bracket is None or not bracket.is_open else (bracket.stop_price, bracket.take_price)
