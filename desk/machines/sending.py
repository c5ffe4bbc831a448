"""The step that sends the call of a row: a client, the claim, one send behind a last look, and the move after it.

What speaks against it, what is sent and where an outcome leads is for the rooms to say; in which order it happens
stands here. The row of the call is committed with the claim, and each claim sends once at most. An unknown outcome is
found out by reading, never by sending again.
"""

from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import datetime
from typing import Any, Protocol, TypeVar

from desk.machines import calls
from desk.machines.calls import LastLook, OnOutcome, Reply
from desk.machines.mover import CannotMove, Machine
from desk.machines.rows import Call, Subject
from desk.machines.step_clock import Stopwatch


class NoClient(Exception):
    """Nothing can be sent to the outside for now; the text is the sentence for people."""


class Client(Protocol):
    """What sends; it is closed in every case."""

    def close(self) -> None:
        """Let go of the connections."""


K = TypeVar("K", bound=Client)
R = TypeVar("R", bound=Subject)
C = TypeVar("C")


def step(
    row: Subject,
    *,
    watch: Stopwatch,
    open_client: Callable[[], K],
    claim: Callable[[K], Call | None],
    send: Callable[[K, LastLook], Reply],
    on_outcome: OnOutcome,
    on_obstacle: Callable[[str], object],
    obstacle: Callable[[], str] = str,
    until: Callable[[], datetime] | None = None,
) -> None:
    """Claim the row, send its call once, and make the move that follows from the outcome.

    `on_obstacle` gets the sentence of `obstacle`, or of `NoClient` from `open_client`: nothing was claimed then.
    `claim` gives the row of the call (`calls.claim`); None says that it dealt with the row itself, and nothing is sent.
    `until` is asked after the claim: the last moment for the call, by our clock. Raises CannotMove when somebody was
    faster.
    """
    if problem := obstacle():
        on_obstacle(problem)
        return
    try:
        client = open_client()
    except NoClient as missing:
        on_obstacle(str(missing))
        return
    with closing(client):
        if (call := claim(client)) is None:
            return
        last_moment = None if until is None else until()
        reply = calls.make(call, row, watch=watch, until=last_moment, send=lambda look: send(client, look))
    on_outcome(row, reply, watch.now())


def claim_or_wait(machine: Machine[R], row: R, claim: Callable[[], C], *, until: datetime) -> C | None:
    """Claim the row; one that can't be claimed rests until then, unless somebody else moved it on meanwhile."""
    state = row.state
    try:
        return claim()
    except CannotMove as lost:
        current: Any = machine.model._default_manager.get(pk=row.pk)
        if current.state == state:
            machine.touch(current, next_action_at=until, last_problem=str(lost)[: calls.LONGEST_DETAIL])
        return None


def by_outcome(ends: Mapping[str, OnOutcome]) -> OnOutcome:
    """What follows, by a table from the outcome to the move."""
    return lambda row, reply, now: ends[reply.outcome](row, reply, now)
