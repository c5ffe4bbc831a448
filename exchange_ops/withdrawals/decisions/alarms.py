"""When the exchange did something that nobody approved: the row moves and the account is frozen, in one transaction."""

from datetime import datetime
from typing import Any

from django.db import transaction

from exchange_ops.policy import freezes
from exchange_ops.policy.models import Freeze
from exchange_ops.withdrawals import machine
from exchange_ops.withdrawals.models import Withdrawal


def move_and_freeze(row: Withdrawal, *, event: str, to: str, now: datetime, reason: str, **changes: Any) -> None:
    """Move the row and freeze its account with `reason`. Rows are locked first, as for every freeze."""
    with transaction.atomic():
        freezes.lock_open(Freeze(account=row.account))
        machine.move(row, event=event, to=to, now=now, last_problem=reason[:500], **changes)
        freezes.freeze(person=None, reason=f"{row.reference}: {reason}", account=row.account, now=now)
