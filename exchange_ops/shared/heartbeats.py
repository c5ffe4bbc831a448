"""How the loops of the house are doing: each one leaves a row when it tried and when it succeeded.

`beat_at` is the last try, `heard_at` the last success, `problem` what was wrong with the last try. Whoever looks at the
system is told when a loop begins to fail or to succeed, or fails in another way; not of every round.
"""

from collections.abc import Sequence
from datetime import datetime

from desk.live import announcements
from exchange_ops.shared.models import Account, FollowerState

TOPIC = "system"
WORKER, SWEEPER, MARKET = "worker", "sweeper", "market"
RELEASES = "releases"  # the worker that does nothing but release
LONGEST_PROBLEM = 300


def ledger_of(account: Account) -> str:
    """The name of the loop that walks the account's ledger."""
    return f"ledger:{account.pk}"


def orders_of(account: Account) -> str:
    """The name of the loop that reads the account's orders."""
    return f"orders:{account.pk}"


def succeeded(name: str, *, now: datetime, remark: str = "", account: Account | None = None) -> None:
    """The loop did its round; `remark` says what it could not take in."""
    _write(name, account, True, remark, beat_at=now, heard_at=now)


def failed(name: str, *, now: datetime, problem: str, account: Account | None = None) -> None:
    """The loop could not do its round."""
    _write(name, account, False, problem, beat_at=now)


def state_of(name: str) -> FollowerState | None:
    """The row of a loop, or nothing before its first round."""
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
    """The first of these sentences, and how many there are besides, in what the row has room for."""
    more = f" And {len(problems) - 1} more." if len(problems) > 1 else ""
    return problems[0][: LONGEST_PROBLEM - len(more)] + more if problems else ""
