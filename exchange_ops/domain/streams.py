"""What the account stream tells, taken into the same rows as the walk over REST, and how the stream is doing."""

from datetime import datetime

import structlog
from django.db.models import F

from desk import live
from exchange_ops.client import Aside
from exchange_ops.domain import balances, ledger
from exchange_ops.models import Account, Balance, FollowerState
from exchange_ops.wire import session
from exchange_ops.wire.session import Origin

_log = structlog.get_logger(__name__)


def name_of(account: Account) -> str:
    """The name of the account's stream among the followers."""
    return f"stream:{account.pk}"


def take(*, account: Account, event: session.Event, now: datetime) -> None:
    """Store what an event of the session brought. Nothing that the exchange tells makes this fail."""
    match event:
        case session.Transactions():
            _take_transactions(account, event, now)
        case session.Balances():
            problems = balances.store(account=account, wallet=Balance.BANK, entries=event.records, now=now, full=False)
            problems += [f"A balance could not be read: {unread.reason}" for unread in event.unread]
            for problem in problems:
                _log.warning("streams.balance_left_out", account=account.pk, reason=problem)
        case session.BecameLive():
            became_live(account=account, now=now)
        case session.Odd():
            _log.warning("streams.odd", account=account.pk, reason=event.sentence)
        case session.Ended():
            ended(account=account, sentence=event.sentence, now=now)


def became_live(*, account: Account, now: datetime) -> None:
    """The stream tells everything from now on."""
    _update(account, connected=True, connected_at=now, heard_at=now, beat_at=now, problem="")
    live.announce("system")


def heard(*, account: Account, now: datetime) -> None:
    """Something arrived, a pong for instance."""
    _update(account, heard_at=now, beat_at=now)


def ended(*, account: Account, sentence: str, now: datetime) -> None:
    """The session is over; the follower will try again."""
    _update(account, connected=False, beat_at=now, problem=sentence[:300], reconnects=F("reconnects") + 1)
    live.announce("system")


def stopped(*, account: Account, now: datetime) -> None:
    """The follower was told to stop, or another process took over."""
    _update(account, connected=False, beat_at=now, problem="The follower is not running here any more.")


def _take_transactions(account: Account, event: session.Transactions, now: datetime) -> None:
    asides = [Aside(unread.content, unread.reason) for unread in event.unread]
    done = ledger.apply(account=account, found=event.records, asides=asides, source=ledger.STREAM, now=now)
    if event.origin is Origin.GAP and done.new_versions:
        _update(account, gaps_closed=F("gaps_closed") + done.new_versions)
        _log.info("streams.gap_closed", account=account.pk, transactions=done.new_versions)


def _row(account: Account) -> FollowerState:
    row, _ = FollowerState.objects.get_or_create(name=name_of(account), defaults={"account": account})
    return row


def _update(account: Account, **columns: object) -> None:
    FollowerState.objects.filter(pk=_row(account).pk).update(**columns)
