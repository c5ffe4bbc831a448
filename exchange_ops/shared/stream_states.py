"""The state of each stream: one row for each follower, read by the system page and the readiness check."""

from datetime import datetime

from django.db.models import F

from desk.live import announcements
from exchange_ops.shared.models import Account, FollowerState

LONGEST_PROBLEM = 300


def trading_name(account: Account) -> str:
    """The name of the account's trading stream among the followers."""
    return f"trading stream:{account.pk}"


def became_live(name: str, *, now: datetime, account: Account | None = None) -> None:
    """The stream sends every change from now on."""
    update(name, account=account, connected=True, connected_at=now, heard_at=now, beat_at=now, problem="")
    announcements.announce("system")


def heard(name: str, *, now: datetime, account: Account | None = None, **columns: object) -> None:
    """Something arrived, for instance a pong; `columns` are those of messages (`lags.Lag.columns`)."""
    update(name, account=account, heard_at=now, beat_at=now, **columns)


def ended(name: str, *, sentence: str, now: datetime, account: Account | None = None) -> None:
    """The session is over; the follower will try again."""
    problem = sentence[:LONGEST_PROBLEM]
    update(name, account=account, connected=False, beat_at=now, problem=problem, reconnects=F("reconnects") + 1)
    announcements.announce("system")


def stopped(name: str, *, now: datetime, account: Account | None = None) -> None:
    """The follower was told to stop, or another process took over."""
    problem = "The stream follower has stopped."
    update(name, account=account, connected=False, beat_at=now, problem=problem)
    announcements.announce("system")


def remark(name: str, *, sentence: str, account: Account | None = None) -> None:
    """A remark about a live stream, for instance which changes it does not get."""
    update(name, account=account, problem=sentence[:LONGEST_PROBLEM])
    announcements.announce("system")


def closed_gaps(name: str, *, count: int, account: Account | None = None) -> None:
    """Count lost messages that were recovered."""
    if count:
        update(name, account=account, gaps_closed=F("gaps_closed") + count)
        announcements.announce("system")


def update(name: str, *, account: Account | None = None, **columns: object) -> None:
    """Write these columns of the row, and create it when it is missing."""
    if not FollowerState.objects.filter(name=name).update(**columns):
        FollowerState.objects.get_or_create(name=name, defaults={"account": account})
        FollowerState.objects.filter(name=name).update(**columns)
