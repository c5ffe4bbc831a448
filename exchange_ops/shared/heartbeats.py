"""The state of the desk's loops: each one updates its row when it tried and when it succeeded.

`beat_at` is the last try, `heard_at` the last success, `problem` what was wrong with the last try. The system page gets
a hint when a loop starts to fail, starts to succeed or fails in another way, but not in every round.
"""

from collections.abc import Sequence
from datetime import datetime

from desk.live import announcements
from desk.machines.lanes import LANES
from exchange_ops.shared.models import Account, FollowerState

TOPIC = "system"
WORKER, SWEEPER, MARKET = "worker", "sweeper", "market"
RELEASES = "releases"  # the worker that does nothing but release
JOBS = "jobs"  # written only while a job of a worker runs longer than any may
LONGEST_PROBLEM = 300


def ledger_of(account: Account) -> str:
    """The name of the loop that walks the account's ledger."""
    return f"ledger:{account.pk}"


def orders_of(account: Account) -> str:
    """The name of the loop that reads the account's orders."""
    return f"orders:{account.pk}"


def succeeded(name: str, *, now: datetime, remark: str = "", account: Account | None = None) -> None:
    """The loop finished its round; `remark` says what it could not process."""
    _write(name, account, True, remark, beat_at=now, heard_at=now)


def failed(name: str, *, now: datetime, problem: str, account: Account | None = None) -> None:
    """The loop failed to finish its round."""
    _write(name, account, False, problem, beat_at=now)


def report_overdue_jobs(*, now: datetime) -> None:
    """Report the jobs of this process that run longer than any may; nothing where there are none."""
    if overdue := LANES.overdue():
        failed(JOBS, now=now, problem=remark_of([f"A job is overdue: {name}." for name in overdue]))


def state_of(name: str) -> FollowerState | None:
    """The row of a loop; None before its first round."""
    return FollowerState.objects.filter(name=name).first()


def _write(name: str, account: Account | None, works: bool, problem: str, **columns: datetime) -> None:
    text = problem[:LONGEST_PROBLEM]
    rows, changes = FollowerState.objects.filter(name=name), {"connected": works, "problem": text}
    before = rows.values_list("connected", "problem").first()
    if not rows.update(**changes, **columns):
        FollowerState.objects.get_or_create(name=name, defaults={"account": account, **changes, **columns})
    if before != (works, text):
        announcements.announce(TOPIC)


def remark_of(problems: Sequence[str]) -> str:
    """The first of these sentences and the number of the others, cut to the length of the column."""
    more = f" And {len(problems) - 1} more." if len(problems) > 1 else ""
    return problems[0][: LONGEST_PROBLEM - len(more)] + more if problems else ""
