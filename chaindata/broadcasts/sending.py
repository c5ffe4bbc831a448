"""What a worker does with a transaction to be sent: look for it, send it once, and find out the outcome.

Before anything leaves, the worker asks the network for the transaction by its id and stores that it is being sent. If
the answer is lost it looks for the id for two minutes, and never sends the transaction again.
"""

import hashlib
from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any, Final

from chaindata.broadcasts import machine, requests, states
from chaindata.broadcasts.models import ChainBroadcast
from chaindata.client import Absent, Busy, ChainClient, Declined
from chaindata.wire import hashing
from desk import clock
from desk.machines import calls
from desk.machines.queue import Queue
from desk.people import stepup
from desk.people.signing import signed_fields
from wire.errors import CallFailed, OutcomeUnknown, Unreachable

OpenClient = Callable[[], ChainClient]
WAITS_AT_MOST = timedelta(minutes=10)  # for a worker that reaches the service; a later payment may be a mistake
LEASE = timedelta(seconds=45)  # longer than a worker may live on one task
SEARCHED_FOR = timedelta(minutes=2)
SEARCH_AGAIN = timedelta(seconds=5)
TRY_AGAIN = timedelta(seconds=10)
MOST_AT_ONCE = 20
BEGINS_WITHIN = timedelta(seconds=8)  # of a task that is ended after 40 seconds; a step may take three calls
_LONGEST_PROBLEM = 300


# Steps ----------------------------------------------------------------------------------------------------------------


def _send(row: ChainBroadcast, *, now: datetime, open_client: OpenClient) -> None:
    """Look for it first; then claim it, send it once, and store the outcome."""
    if problem := _obstacle(row, now):
        _move(row, "stopped", states.NOT_SENT, now, problem=problem)
        return
    with closing(open_client()) as client:
        _search_and_send(row, now, client)


def _search_and_send(row: ChainBroadcast, now: datetime, client: ChainClient) -> None:
    try:
        if _is_on_network(row, client):
            _move(row, "found", states.ON_NETWORK, now, problem="")
            return
    except CallFailed as failure:
        problem = f"The network can't be checked at the moment: {failure}"[:_LONGEST_PROBLEM]
        machine.touch(row, next_action_at=now + TRY_AGAIN, last_problem=problem)
        return
    _claim(row, now)
    try:
        txid = client.send_raw_transaction(raw=row.raw)
    except Declined as refusal:
        _refuse(row, str(refusal), now, client)
    except (Unreachable, Busy) as failure:
        _move(row, "not_sent", states.NOT_SENT, now, problem=f"The service did not accept the transaction: {failure}")
    except OutcomeUnknown as failure:
        _lose_answer(row, f"Response lost: {failure.reason}", now)
    except CallFailed as failure:
        _lose_answer(row, f"The response is unreadable: {failure}", now)
    else:
        _accept(row, txid, now)


def _obstacle(row: ChainBroadcast, now: datetime) -> str:
    """Why it must not be sent any more; empty if it may."""
    if hashlib.sha256(bytes.fromhex(row.raw)).hexdigest() != row.digest:
        return "The stored transaction differs from the one that was confirmed."
    digests = signed_fields.countable(row.digest, requests.fields_of(row.reason))
    if not stepup.proves(row.confirmation, person_id=row.requested_by_id, purpose=requests.PURPOSE, digests=digests):
        return "This transaction has no valid second-factor confirmation."
    if clock.has_passed(WAITS_AT_MOST, since=row.created_at, now=now):
        return f"Not sent within {WAITS_AT_MOST.seconds // 60} minutes. {row.last_problem}".strip()
    return ""


def _claim(row: ChainBroadcast, now: datetime) -> None:
    """Commit that it is being sent before a byte leaves."""
    machine.move(
        row,
        event="claimed",
        to=states.SENDING,
        now=now,
        next_action_at=now + LEASE,
        lease_until=now + LEASE,
        sends=row.sends + 1,
        sent_at=now,
        last_problem="",
    )


def _accept(row: ChainBroadcast, txid: object, now: datetime) -> None:
    if txid != row.txid:
        _lose_answer(row, "The service returned an unexpected transaction ID.", now)
        return
    machine.move(
        row, event="accepted", to=states.SENT, now=now, answered_at=now, lease_until=None,
        evidence={"txid": row.txid},
    )  # fmt: skip


def _refuse(row: ChainBroadcast, problem: str, now: datetime, client: ChainClient) -> None:
    """Nodes also refuse what they have already, so it counts as refused only if the network does not have it."""
    try:
        on_network = _is_on_network(row, client)
    except CallFailed:
        on_network = False
    if on_network:
        _move(row, "found", states.ON_NETWORK, now, problem=problem, answered_at=now)
    else:
        _move(row, "refused", states.REFUSED, now, problem=problem, answered_at=now)


def _lose_answer(row: ChainBroadcast, problem: str, now: datetime) -> None:
    machine.move(
        row,
        event="answer_lost",
        to=states.UNKNOWN,
        now=now,
        next_action_at=now,
        lease_until=None,
        last_problem=problem[:_LONGEST_PROBLEM],
        evidence={"problem": problem[:_LONGEST_PROBLEM]},
    )


def _search(row: ChainBroadcast, *, now: datetime, open_client: OpenClient) -> None:
    """Look once for a transaction whose answer was lost."""
    try:
        with closing(open_client()) as client:
            on_network = _is_on_network(row, client)
    except CallFailed as failure:
        problem = f"The network can't be checked at the moment: {failure}"[:_LONGEST_PROBLEM]
        machine.touch(row, next_action_at=now + TRY_AGAIN, last_problem=problem)
        return
    if on_network:
        _move(row, "found", states.ON_NETWORK, now, problem=row.last_problem)
    elif row.sent_at is not None and now - row.sent_at > SEARCHED_FOR:
        _move(row, "not_seen", states.NOT_SEEN, now, problem=row.last_problem)
    else:
        machine.touch(row, looks=row.looks + 1, next_action_at=now + SEARCH_AGAIN)


def _is_on_network(row: ChainBroadcast, client: ChainClient) -> bool:
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
    machine.move(
        row, event=event, to=to, now=now, last_problem=sentence, lease_until=None, evidence=evidence, **changes
    )


# Whether the node took it is unknown until the network shows it.
_expire_lease = calls.lease_expired(machine.MACHINE, event="answer_lost", to=states.UNKNOWN)
QUEUE: Final = Queue(
    machine.MACHINE,
    {states.REQUESTED: _send, states.SENDING: _expire_lease, states.UNKNOWN: _search},
    after_failure=TRY_AGAIN,
    sweep_for=BEGINS_WITHIN,
    at_once=MOST_AT_ONCE,
)
advance, sweep, due = QUEUE.advance, QUEUE.sweep, QUEUE.due
