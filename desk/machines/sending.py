"""The step that sends the call of a row: a client, the claim, one send behind a last look, and the move after it.

The rooms say what stands against it, what is sent and where each outcome leads; this module says in which order it
happens. The row of the call is committed with the claim, and a claim sends at most once. An unknown outcome is cleared
up by reading, never by sending again.
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

    `on_obstacle` gets the sentence of `obstacle`, or that of `NoClient` from `open_client`; then nothing is claimed.
    `claim` returns the row of the call (`calls.claim`), or None where it has dealt with the row itself and nothing is
    to be sent. `until`, asked after the claim, gives the last moment for the call by our clock. Raises CannotMove when
    somebody was faster.
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
    """Claim the row. Where that fails it is due again at `until`, unless somebody has moved it meanwhile."""
    state = row.state
    try:
        return claim()
    except CannotMove as lost:
        current: Any = machine.model._default_manager.get(pk=row.pk)
        if current.state == state:
            machine.touch(current, next_action_at=until, last_problem=str(lost)[: calls.LONGEST_DETAIL])
        return None


def by_outcome(ends: Mapping[str, OnOutcome]) -> OnOutcome:
    """The move that follows, looked up by the outcome."""
    return lambda row, reply, now: ends[reply.outcome](row, reply, now)
