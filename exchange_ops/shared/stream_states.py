"""How each stream is doing: one row for each follower, which the system page and the readiness check read."""

from datetime import datetime

from django.db.models import F

from desk.live import announcements
from exchange_ops.shared.models import Account, FollowerState

LONGEST_PROBLEM = 300


def trading_name(account: Account) -> str:
    """The name of the account's trading stream among the followers."""
    return f"trading stream:{account.pk}"


def became_live(name: str, *, now: datetime, account: Account | None = None) -> None:
    """The stream tells everything from now on."""
    update(name, account=account, connected=True, connected_at=now, heard_at=now, beat_at=now, problem="")
    announcements.announce("system")


def heard(name: str, *, now: datetime, account: Account | None = None, **columns: object) -> None:
    """Something arrived, a pong for instance; `columns` say what is known of messages (`lags.Lag.columns`)."""
    update(name, account=account, heard_at=now, beat_at=now, **columns)


def ended(name: str, *, sentence: str, now: datetime, account: Account | None = None) -> None:
    """The session is over; the follower will try again."""
    problem = sentence[:LONGEST_PROBLEM]
    update(name, account=account, connected=False, beat_at=now, problem=problem, reconnects=F("reconnects") + 1)
    announcements.announce("system")


def stopped(name: str, *, now: datetime, account: Account | None = None) -> None:
    """The follower was told to stop, or another process took over."""
    problem = "The follower is not running here any more."
    update(name, account=account, connected=False, beat_at=now, problem=problem)
    announcements.announce("system")


def remark(name: str, *, sentence: str, account: Account | None = None) -> None:
    """Something about a stream that is live all the same: what it is not told."""
    update(name, account=account, problem=sentence[:LONGEST_PROBLEM])
    announcements.announce("system")


def closed_gaps(name: str, *, count: int, account: Account | None = None) -> None:
    """What was lost on the way was found and made good."""
    if count:
        update(name, account=account, gaps_closed=F("gaps_closed") + count)
        announcements.announce("system")


def update(name: str, *, account: Account | None = None, **columns: object) -> None:
    """Write these columns of the row, which is made when it is missing."""
    if not FollowerState.objects.filter(name=name).update(**columns):
        FollowerState.objects.get_or_create(name=name, defaults={"account": account})
        FollowerState.objects.filter(name=name).update(**columns)
