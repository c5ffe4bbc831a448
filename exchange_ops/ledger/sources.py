"""The source of the figures of the ledger and of both wallets."""

from datetime import datetime

from exchange_ops.ledger import stream
from exchange_ops.shared import heartbeats
from exchange_ops.shared.models import Account
from exchange_ops.shared.views.sources import Source, source_of


def of_ledger(account: Account | None, now: datetime) -> Source | None:
    """The source of the ledger and both wallets; None without an account."""
    if account is None:
        return None
    return source_of(stream.name_of(account), heartbeats.ledger_of(account), now)
