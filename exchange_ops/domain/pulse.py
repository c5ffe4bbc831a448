"""How the loops of the house are doing: each one leaves a row when it tried and when it succeeded.

`beat_at` is the last try, `heard_at` the last success, `problem` what was wrong with the last try.
"""

from datetime import datetime

from exchange_ops.models import Account, FollowerState

WORKER, SWEEPER, MARKET = "worker", "sweeper", "market"
LONGEST_PROBLEM = 300


def ledger_of(account: Account) -> str:
    """The name of the loop that walks the account's ledger."""
    return f"ledger:{account.pk}"


def succeeded(name: str, *, now: datetime, remark: str = "", account: Account | None = None) -> None:
    """The loop did its round; `remark` says what it could not take in."""
    _write(name, account, beat_at=now, heard_at=now, connected=True, problem=remark[:LONGEST_PROBLEM])


def failed(name: str, *, now: datetime, problem: str, account: Account | None = None) -> None:
    """The loop could not do its round."""
    _write(name, account, beat_at=now, connected=False, problem=problem[:LONGEST_PROBLEM])


def of(name: str) -> FollowerState | None:
    """The row of a loop, or nothing before its first round."""
    return FollowerState.objects.filter(name=name).first()


def _write(name: str, account: Account | None, **columns: object) -> None:
    if not FollowerState.objects.filter(name=name).update(**columns):
        FollowerState.objects.get_or_create(name=name, defaults={"account": account, **columns})
