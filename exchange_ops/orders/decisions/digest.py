"""The digest of an order that waits for an approval: one code over exactly what was asked for.

It is made under a key that is not in the database, so that no changed content has one (`withdrawals.decisions.digest`).
"""

from datetime import datetime
from typing import Any

from exchange_ops.orders.models import Order
from exchange_ops.withdrawals.decisions import digest

_FORM = "countersign-order-1"


def compute(row: Order) -> str:
    """HMAC-SHA256 in hex over the order's content and the bounds it went beyond, by the newest key of the ring."""
    return digest.digests(_content(row))[0]


def matches(candidate: str, row: Order) -> bool:
    """Whether this is the digest of that content, under any key of the ring."""
    return candidate in digest.digests(_content(row))


def _content(row: Order) -> dict[str, Any]:
    signed = digest.signed_content(row)
    texts = {name: value.isoformat() for name, value in signed.items() if isinstance(value, datetime)}
    return signed | texts | {"form": _FORM}
