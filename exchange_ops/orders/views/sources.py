"""What the figures of orders, trades and margin rest on."""

from datetime import datetime

from exchange_ops.orders import stream, workflow
from exchange_ops.shared.models import Account
from exchange_ops.shared.views.sources import Source, source_of


def of_orders(account: Account | None, now: datetime) -> Source | None:
    """Orders, trades and margin; nothing without an account."""
    if account is None:
        return None
    return source_of(stream.name_of(account), workflow.name_of(account), now)
