"""The scheduled checks: the reconciliation of each account every hour, the audit trail every day.

A check's findings are stored in its row. A failure stays until a later run succeeds; a run without an answer leaves the
earlier answer, and the check is late in the end. The row says whether a check is due, so that restarts don't delay it.
An account whose ledger is still being read is reconciled once it is read.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import structlog
from django.db import transaction

from desk import audit_check, clock
from desk.incidents import review
from desk.live import announcements
from desk.machines.step_clock import Stopwatch
from exchange_ops.keys import clients, store
from exchange_ops.keys.clients import ClientFor
from exchange_ops.ledger import walks
from exchange_ops.shared import alarms, heartbeats, leases
from exchange_ops.shared.models import Account, CheckRun
from exchange_ops.wire.catalogue import Right
from exchange_ops.withdrawals.evidence import reconciliation
from wire.errors import CallFailed

AUDIT = "audit trail"
RECONCILE_EVERY, AUDIT_EVERY = timedelta(hours=1), timedelta(days=1)
TRIED_AGAIN_AFTER = timedelta(minutes=5)  # a check that came to no answer
LATE_AFTER = 3  # rounds without an answer
LEASE, LEASE_LASTS = "scheduled checks", timedelta(minutes=15)
MOST_FINDINGS, LONGEST_FINDING = 20, 500
_log = structlog.get_logger(__name__)


def name_of(account: Account) -> str:
    """The name of the account's reconciliation among the checks."""
    return f"reconciliation:{account.pk}"


def every(name: str) -> timedelta:
    """How often a check runs."""
    return AUDIT_EVERY if name == AUDIT else RECONCILE_EVERY


def run_due(*, now: datetime, client_for: ClientFor) -> int:
    """Run the checks that are due, in one process at a time; returns how many came to an answer."""
    holder = leases.name_of_this_process()
    if not leases.hold(name=LEASE, holder=holder, now=now, lasts=LEASE_LASTS):
        return 0
    try:
        jobs: list[tuple[str, Callable[[], list[str]]]] = [
            (name_of(account), partial(_reconcile, account, client_for, now))
            for account in Account.objects.order_by("pk")
            if not waits(account, now)
        ]
        jobs.append((AUDIT, partial(audit_check.verify, replay=True)))
        return sum(_run(name, job, now) for name, job in jobs if _is_due(name, now))
    finally:
        leases.release(name=LEASE, holder=holder)


def waits(account: Account, now: datetime) -> bool:
    """Whether the account's reconciliation waits until its ledger is read to the end, for the first time or again.

    Another check reports a ledger that nobody reads, so waiting hides nothing.
    """
    return walks.is_incomplete(account=account, now=now)


def is_late(row: CheckRun, *, now: datetime) -> bool:
    """Whether the check came to no answer for several of its rounds."""
    since = row.ran_at or row.tried_at
    return since is not None and clock.has_passed(LATE_AFTER * every(row.name), since=since, now=now)


def _is_due(name: str, now: datetime) -> bool:
    ran = clock.recent("ran_at", now - every(name), now=now)
    fresh = ran | clock.recent("tried_at", now - TRIED_AGAIN_AFTER, now=now)
    return not CheckRun.objects.filter(fresh, name=name).exists()


def _run(name: str, job: Callable[[], list[str]], now: datetime) -> bool:
    """Run one check. An error is stored as the reason why it came to no answer."""
    watch = Stopwatch(now)
    columns: dict[str, Any] = {"tried_at": now}
    try:
        findings = job()
    except reconciliation.LedgerIsBeingRead:
        return False  # it began since, and this is no try
    except (CallFailed, store.NoUsableKey, reconciliation.CannotReconcile) as problem:
        columns["problem"] = str(problem)[:300]
    except Exception as problem:
        _log.exception("scheduled_checks.failed", check=name)
        columns["problem"] = f"The check failed ({type(problem).__name__})."
    else:
        texts = [finding[:LONGEST_FINDING] for finding in findings[:MOST_FINDINGS]]
        took_ms = watch.passed() // timedelta(milliseconds=1)
        columns |= {"ran_at": now, "held": not findings, "findings": texts, "took_ms": took_ms, "problem": ""}
    with transaction.atomic():
        CheckRun.objects.update_or_create(name=name, defaults=columns)
        review.review_now(alarms.AUDIT if name == AUDIT else alarms.RECONCILIATION, now=now)
    announcements.announce(heartbeats.TOPIC)
    return "ran_at" in columns


def _reconcile(account: Account, client_for: ClientFor, now: datetime) -> list[str]:
    with clients.client(client_for, account=account, right=Right.PAYMENTS) as client:
        findings = reconciliation.reconcile(account=account, client=client, now=now)
    return [f"{finding.about}: {finding.sentence}" for finding in findings if not finding.agrees]
