"""Storing the account stream in the same rows as the walk over REST, and the state of the stream."""

from datetime import datetime

import structlog

from exchange_ops.client import aside_of
from exchange_ops.ledger import balances, continuity, sync
from exchange_ops.ledger.models import Balance
from exchange_ops.shared import heartbeats, stream_states
from exchange_ops.shared.models import Account
from exchange_ops.wire import session
from exchange_ops.wire.session import Origin

_log = structlog.get_logger(__name__)


def name_of(account: Account) -> str:
    """The name of the account's stream among the followers."""
    return f"stream:{account.pk}"


def store(*, account: Account, event: session.Event, now: datetime) -> None:
    """Store an event of the session. No message of the exchange makes this fail."""
    match event:
        case session.Transactions():
            _store_transactions(account, event, now)
        case session.Balances():
            problems = balances.store(
                account=account, wallet=Balance.BANK, entries=event.records, now=now, full=event.is_complete
            )
            problems += [f"Unreadable balance: {unread.reason}" for unread in event.unread]
            for problem in problems:
                _log.warning("streams.balance_left_out", account=account.pk, reason=problem)
        case session.BecameLive():
            became_live(account=account, now=now)
        case session.Odd():
            _log.warning("streams.odd", account=account.pk, reason=event.sentence)
        case session.Ended():
            ended(account=account, sentence=event.sentence, now=now)


def became_live(*, account: Account, now: datetime) -> None:
    """The stream reports everything from now on."""
    stream_states.became_live(name_of(account), now=now, account=account)


def heard(*, account: Account, now: datetime) -> None:
    """Something arrived, a pong for instance."""
    stream_states.heard(name_of(account), now=now, account=account)


def ended(*, account: Account, sentence: str, now: datetime) -> None:
    """The session is over; the follower will try again."""
    stream_states.ended(name_of(account), sentence=sentence, now=now, account=account)


def stopped(*, account: Account, now: datetime) -> None:
    """The follower was told to stop, or another process took over."""
    stream_states.stopped(name_of(account), now=now, account=account)


def _store_transactions(account: Account, event: session.Transactions, now: datetime) -> None:
    try:
        continuity.require_same(account=account, transactions=event.records)
    except continuity.LedgerBroke as broke:
        # All of it waits aside, in sight. The next reading asks for the newest known transactions and may freeze.
        _log.error("streams.another_ledger", account=account.pk, reason=str(broke))
        heartbeats.failed(heartbeats.ledger_of(account), now=now, problem=str(broke), account=account)
        sync.put_aside(account=account, transactions=event.records, reason=str(broke), source=sync.STREAM, now=now)
        return
    asides = [aside_of(unread.content.encode(), unread.reason) for unread in event.unread]
    outcome = sync.apply(account=account, transactions=event.records, asides=asides, source=sync.STREAM, now=now)
    if event.loaded_from is not None:
        sync.settle(account=account, loaded_from=event.loaded_from, transactions=event.records, now=now)
    if event.origin is Origin.GAP and outcome.new_versions:
        stream_states.closed_gaps(name_of(account), count=outcome.new_versions, account=account)
        _log.info("streams.gap_closed", account=account.pk, transactions=outcome.new_versions)
