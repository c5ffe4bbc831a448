"""The exchange's hour for a hold, the deadlines inside it, and the pauses between two tries.

All five instants are in the exchange's time (`clocks.exchange_now`). The hour counts from the moment before the call
that asked for the hold, or from the ledger's own createdAt where that is earlier (exchange REST, Limits: commit
window).
"""

from datetime import datetime, timedelta
from typing import Any

from exchange_ops.withdrawals.models import Withdrawal

HOUR = timedelta(minutes=60)
APPROVALS_CLOSE = timedelta(minutes=7)
ROLLBACK_BEFORE = timedelta(minutes=5)
LAST_PUT_BEFORE = timedelta(seconds=30)
VERDICT_AFTER = timedelta(minutes=2)
ESCALATE_AFTER = timedelta(minutes=10)

COMMIT_PAUSES_S = (1, 2, 4, 8, 15)
RELEASE_PAUSES_S = (1, 2, 4, 8, 15, 30, 60)


def deadlines(window_from: datetime) -> dict[str, Any]:
    """The columns of a withdrawal whose hold was asked for at `window_from`."""
    closes_at = window_from + HOUR
    return {
        "window_from": window_from,
        "closes_at": closes_at,
        "approve_until": closes_at - APPROVALS_CLOSE,
        "rollback_at": closes_at - ROLLBACK_BEFORE,
        "put_stop_at": closes_at - LAST_PUT_BEFORE,
    }


def with_earlier(withdrawal: Withdrawal, created_at: datetime) -> dict[str, Any]:
    """The deadlines again, where the ledger shows that the hold is older than we thought; else no change."""
    if withdrawal.window_from is not None and withdrawal.window_from <= created_at:
        return {}
    return deadlines(created_at)


def verdict_is_due(withdrawal: Withdrawal, exchange_now: datetime) -> bool:
    """Whether the hour has been over for long enough that a hold which the ledger does not show does not exist."""
    return withdrawal.closes_at is not None and exchange_now >= withdrawal.closes_at + VERDICT_AFTER


def escalation_is_due(withdrawal: Withdrawal, exchange_now: datetime) -> bool:
    """Whether people have to decide, because the outcome is still unclear ten minutes after the hour."""
    return withdrawal.closes_at is not None and exchange_now >= withdrawal.closes_at + ESCALATE_AFTER
