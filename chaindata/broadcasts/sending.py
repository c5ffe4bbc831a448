"""What a worker does with a transaction that is to be sent: look for it, send it once, and find out what came of it.

Before anything leaves, the network is asked for the transaction by its id, and a row says that it is being sent. A lost
answer is looked for by the id, for two minutes, and never sent again.
"""

import hashlib
from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any, Final

from chaindata.broadcasts import machine, mover, requests
from chaindata.broadcasts.models import ChainBroadcast
from chaindata.client import Absent, Busy, ChainClient, Declined
from chaindata.wire import hashing
from desk.machines import calls
from desk.machines.queue import Queue
from desk.people import stepup
from wire.errors import CallFailed, OutcomeUnknown, Unreachable

OpenClient = Callable[[], ChainClient]
WAITS_AT_MOST = timedelta(minutes=10)  # for a worker and a service that answers; a later payment may be a mistake
LEASE = timedelta(seconds=45)  # longer than a worker may live on one task
LOOKED_FOR = timedelta(minutes=2)
LOOK_AGAIN = timedelta(seconds=5)
TRY_AGAIN = timedelta(seconds=10)
MOST_AT_ONCE = 20
BEGINS_WITHIN = timedelta(seconds=8)  # of a task that is ended after 40 seconds; a step may take three calls
_LONGEST_PROBLEM = 300


# Steps ----------------------------------------------------------------------------------------------------------------


def _send(row: ChainBroadcast, *, now: datetime, open_client: OpenClient) -> None:
    """Look first; then claim, send once, and keep what came of it."""
    if problem := _obstacle(row, now):
        _move(row, "stopped", machine.NOT_SENT, now, problem=problem)
        return
    with closing(open_client()) as client:
        _look_and_send(row, now, client)


def _look_and_send(row: ChainBroadcast, now: datetime, client: ChainClient) -> None:
    try:
        if _is_known(row, client):
            _move(row, "found", machine.FOUND, now, problem="")
            return
    except CallFailed as failure:
        problem = f"The network can't be asked at the moment: {failure}"[:_LONGEST_PROBLEM]
        mover.touch(row, next_action_at=now + TRY_AGAIN, last_problem=problem)
        return
    _claimed(row, now)
    try:
        named = client.send_raw_transaction(raw=row.raw)
    except Declined as refusal:
        _refused(row, str(refusal), now, client)
    except (Unreachable, Busy) as failure:
        _move(row, "not_sent", machine.NOT_SENT, now, problem=f"The service took nothing: {failure}")
    except OutcomeUnknown as failure:
        _lost(row, f"The answer was lost: {failure.reason}", now)
    except CallFailed as failure:
        _lost(row, f"The answer can't be read: {failure}", now)
    else:
        _took(row, named, now)


def _obstacle(row: ChainBroadcast, now: datetime) -> str:
    """Why it is not sent any more; empty when nothing stands against it."""
    if hashlib.sha256(bytes.fromhex(row.raw)).hexdigest() != row.digest:
        return "The bytes that are kept are not the ones that were signed."
    if not stepup.proves(
        row.confirmation, person_id=row.requested_by_id, purpose=requests.PURPOSE, digests={row.digest}
    ):
        return "Nobody provably confirmed these bytes with a second factor."
    if now - row.created_at > WAITS_AT_MOST:
        return f"It could not be sent within {WAITS_AT_MOST.seconds // 60} minutes. {row.last_problem}".strip()
    return ""


def _claimed(row: ChainBroadcast, now: datetime) -> None:
    """The row says that it is being sent, durably, before a byte leaves."""
    mover.move(
        row,
        event="claimed",
        to=machine.SENDING,
        now=now,
        next_action_at=now + LEASE,
        lease_until=now + LEASE,
        sends=row.sends + 1,
        sent_at=now,
        last_problem="",
    )


def _took(row: ChainBroadcast, named: object, now: datetime) -> None:
    if named != row.txid:
        _lost(row, "The service named another transaction than the one that was sent.", now)
        return
    mover.move(
        row, event="accepted", to=machine.SENT, now=now, answered_at=now, lease_until=None,
        evidence={"txid": row.txid},
    )  # fmt: skip


def _refused(row: ChainBroadcast, problem: str, now: datetime, client: ChainClient) -> None:
    """A node also refuses what it has already: only what the network does not know is refused."""
    try:
        known = _is_known(row, client)
    except CallFailed:
        known = False
    if known:
        _move(row, "found", machine.FOUND, now, problem=problem, answered_at=now)
    else:
        _move(row, "refused", machine.REFUSED, now, problem=problem, answered_at=now)


def _lost(row: ChainBroadcast, problem: str, now: datetime) -> None:
    mover.move(
        row,
        event="answer_lost",
        to=machine.UNKNOWN,
        now=now,
        next_action_at=now,
        lease_until=None,
        last_problem=problem[:_LONGEST_PROBLEM],
        evidence={"problem": problem[:_LONGEST_PROBLEM]},
    )


def _look(row: ChainBroadcast, *, now: datetime, open_client: OpenClient) -> None:
    """One look for a transaction whose answer was lost."""
    try:
        with closing(open_client()) as client:
            known = _is_known(row, client)
    except CallFailed as failure:
        problem = f"The network can't be asked at the moment: {failure}"[:_LONGEST_PROBLEM]
        mover.touch(row, next_action_at=now + TRY_AGAIN, last_problem=problem)
        return
    if known:
        _move(row, "found", machine.FOUND, now, problem=row.last_problem)
    elif row.sent_at is not None and now - row.sent_at > LOOKED_FOR:
        _move(row, "not_seen", machine.NOT_SEEN, now, problem=row.last_problem)
    else:
        mover.touch(row, looks=row.looks + 1, next_action_at=now + LOOK_AGAIN)


def _is_known(row: ChainBroadcast, client: ChainClient) -> bool:
    """Whether the network has these very bytes, in a block or waiting for one. Raises `CallFailed`."""
    try:
        raw = client.call("get_raw_transaction", txid=row.txid, verbose=False)
    except Absent:
        return False
    try:
        return isinstance(raw, str) and hashing.display_hex(hashing.double_sha256(bytes.fromhex(raw))) == row.txid
    except ValueError:
        return False


def _move(row: ChainBroadcast, event: str, to: str, now: datetime, *, problem: str, **changes: Any) -> None:
    sentence = problem[:_LONGEST_PROBLEM]
    evidence = {"problem": sentence} if sentence else {}
    mover.move(row, event=event, to=to, now=now, last_problem=sentence, lease_until=None, evidence=evidence, **changes)


# Whether the node took it is unknown until the network shows it.
_given_up = calls.lease_expired(mover.MACHINE, event="answer_lost", to=machine.UNKNOWN)
QUEUE: Final = Queue(
    mover.MACHINE,
    {machine.REQUESTED: _send, machine.SENDING: _given_up, machine.UNKNOWN: _look},
    after_failure=TRY_AGAIN,
    sweep_for=BEGINS_WITHIN,
    at_once=MOST_AT_ONCE,
)
advance, sweep, due = QUEUE.advance, QUEUE.sweep, QUEUE.due
