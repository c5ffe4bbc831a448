"""A call to the outside that changes something: its row first, then a last check, one send, one outcome.

The row of a call is made in the transaction of the claim. Right before it sends, the worker checks that its claim still
holds and, by its clocks, that it was not held up.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.conf import settings
from django.db import transaction

from desk import clock, rooms
from desk.machines.mover import CannotMove, Machine, texts
from desk.machines.rows import CALL_OUTCOMES, Call, Subject
from desk.machines.step_clock import Stopwatch

R = TypeVar("R", bound=Subject)
C = TypeVar("C")
PREPARED, SENT, ACCEPTED, REFUSED, NOT_SENT, UNKNOWN, FOUND, ABSENT = CALL_OUTCOMES
LONGEST_DETAIL = 500
GIVEN_UP = "The worker that sent this request did not report a response."
TAKEN_OVER = "Not sent by this worker: another worker had taken over."


@dataclass(frozen=True, slots=True)
class Reply:
    """The outcome of one call, with the value of an accepted one or a sentence about any other."""

    outcome: str
    value: Any = None
    code: int | None = None
    problem: str = ""
    http_status: int | None = None

    @property
    def accepted(self) -> bool:
        """Whether the other side answered and did not refuse."""
        return self.outcome == ACCEPTED

    @property
    def facts(self) -> dict[str, Any]:
        """What the move that follows records as its evidence."""
        return {"outcome": self.outcome, "code": self.code, "problem": self.problem}


LastLook = Callable[[], str]
"""Asked right before the first byte of a call; a sentence stops the call, an empty text lets it go."""

OnOutcome = Callable[[Any, Reply, datetime], None]
"""Makes the move that follows from one outcome of a call; called with the row, the reply and the time."""


def lease(now: datetime) -> datetime:
    """When a claim made now ends: later than any task can live. Until then other workers keep away."""
    return now + timedelta(seconds=settings.LEASE_SECONDS)


def fingerprint(kind: str, content: dict[str, Any]) -> str:
    """A hash of what is sent, by which two calls can be compared without storing addresses twice."""
    text = json.dumps(texts(content), sort_keys=True)
    return hashlib.sha256(f"{kind}|{text}".encode()).hexdigest()


def too_late(watch: Stopwatch, until: datetime | None) -> str:
    """Why it is too late to send, or an empty text; `until` is by our clock."""
    if until is not None and watch.now() >= until:
        return "Not sent: the deadline for this request had passed."
    return watch.too_late_to_send()


def claim(
    machine: Machine[R],
    row: R,
    *,
    event: str,
    to: str,
    now: datetime,
    prepare: Callable[[], C],
    obstacle: Callable[[], str] = str,
    moves_money: bool = True,
    **columns: Any,
) -> C:
    """Claim the row for this worker and write the row of its call; both are committed before anything is sent.

    `obstacle` is asked once the row is locked, so that a decision made just before counts. A call that only gives money
    back, or withdraws what could move it, is sent whatever the rooms say (`moves_money` is False). Raises CannotMove
    when there is an obstacle or somebody was faster.
    """
    if moves_money and (problem := rooms.why_nothing_leaves()):
        raise CannotMove(problem)
    until = lease(now)
    columns |= {"lease_until": until, "next_action_at": until}
    with transaction.atomic(durable=True):
        current = row if machine.locked_with is None else machine.lock(row.pk)
        if problem := obstacle():
            raise CannotMove(problem)
        if hasattr(current, "lease_epoch"):
            columns["lease_epoch"] = current.lease_epoch + 1
        machine.move(row, event=event, to=to, now=now, **columns)
        call = prepare()
    if moves_money:
        rooms.before_sending()
    return call


def is_leased(machine: Machine[R], row: R, now: datetime) -> bool:
    """Whether another worker's claim still holds. Then the row becomes due again when that claim ends.

    A claim that lasts longer than any can was made before the clock fell back, and is over.
    """
    if row.lease_until is None or now >= row.lease_until or clock.is_future(row.lease_until, lease(now)):
        return False
    machine.touch(row, next_action_at=row.lease_until)
    return True


def lease_expired(
    machine: Machine[Any], *, event: str, to: str, stamped: tuple[str, ...] = (), **columns: Any
) -> Callable[..., None]:
    """The step of a row whose worker is gone: when its lease has expired, the outcome is unknown.

    The columns in `stamped` are set to the time of the move.
    """

    def step(row: Any, *, now: datetime, **_: Any) -> None:
        """Record that the outcome of the call has to be found out."""
        if not is_leased(machine, row, now):
            changes: dict[str, Any] = columns | dict.fromkeys(stamped, now)
            changes |= {"last_problem": GIVEN_UP, "lease_until": None, "evidence": {"problem": GIVEN_UP}}
            machine.move(row, event=event, to=to, now=now, **changes)

    return step


def on_outcome(
    machine: Machine[Any], event: str, to: str, *, again: Callable[[Any], timedelta] | None = None
) -> OnOutcome:
    """The move that follows from an outcome, with the reply as its evidence; `again` gives the pause after it."""

    def move(row: Any, reply: Reply, now: datetime) -> None:
        columns: dict[str, Any] = {} if again is None else {"next_action_at": now + again(row)}
        machine.move(
            row,
            event=event,
            to=to,
            now=now,
            evidence=reply.facts,
            last_problem=reply.problem[:LONGEST_DETAIL],
            lease_until=None,
            **columns,
        )

    return move


def make(
    call: Call,
    row: Subject,
    *,
    watch: Stopwatch,
    send: Callable[[LastLook], Reply],
    until: datetime | None = None,
) -> Reply:
    """Send once, if the claim still holds and it is not too late, and store the outcome; `until` is by our clock.

    `send` is given the last check: after the client has waited for its turn, it asks the clocks again before the first
    byte.
    """
    if problem := _mark_sent(call, row, watch) or too_late(watch, until):
        return close(call, Reply(NOT_SENT, problem=problem), watch)
    return close(call, send(lambda: too_late(watch, until)), watch)


def make_unclaimed(call: Call, *, watch: Stopwatch, send: Callable[[], Reply]) -> Reply:
    """Send a call that needs no claim because it can only release money, and store its outcome."""
    type(call)._default_manager.filter(pk=call.pk).update(outcome=SENT, sent_at=watch.now())
    return close(call, send(), watch)


def close(call: Call, reply: Reply, watch: Stopwatch) -> Reply:
    """Store the outcome of a call."""
    columns: dict[str, Any] = {
        "outcome": reply.outcome,
        "answered_at": watch.now(),
        "error_code": reply.code,
        "detail": reply.problem[:LONGEST_DETAIL],
    }
    if reply.http_status is not None:
        columns["http_status"] = reply.http_status
    if reply.accepted:
        columns |= call.answer_columns(reply.value)
    type(call)._default_manager.filter(pk=call.pk).update(**columns)
    return reply


def _mark_sent(call: Call, row: Subject, watch: Stopwatch) -> str:
    """Mark the call as sent if the row still carries this worker's claim; else why nothing may be sent."""
    claim = {f"{call.owner}__version": row.version, f"{call.owner}__state": row.state}
    if hasattr(call, "epoch"):
        claim[f"{call.owner}__lease_epoch"] = call.epoch
    with transaction.atomic(durable=True):
        prepared = type(call)._default_manager.filter(pk=call.pk, outcome=PREPARED, **claim)
        marked = prepared.update(outcome=SENT, sent_at=watch.now())
    return "" if marked else TAKEN_OVER
