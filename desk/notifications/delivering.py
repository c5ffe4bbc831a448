"""Deliveries as a queue: each is sent at least once, always with the same id, with growing pauses between attempts.

While a medium or channel is down, one message in each round finds that out and the others wait with it: a dead mail
server is asked once a minute, however many messages there are.
"""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction
from django.db.models import Q

from desk.audit import trail
from desk.machines.calls import is_leased, lease
from desk.machines.mover import Unrecorded
from desk.machines.queue import Queue
from desk.machines.rows import Event
from desk.notifications import messages, states
from desk.notifications.models import Delivery
from desk.notifications.outgoing import TASK
from desk.notifications.sending import Outcome, Senders

if TYPE_CHECKING:
    from desk.models import Person

TOPIC: Final = "deliveries"
FIRST_REST: Final = timedelta(seconds=30)
LONGEST_REST: Final = timedelta(hours=1)
REFUSED_REST: Final = timedelta(minutes=15)  # a server that refuses the desk's settings; sign-ins are not hammered
MOST_ATTEMPTS: Final = 30  # about a day
AT_ONCE: Final = 500
MACHINE: Final = Unrecorded(
    model=Delivery,
    events=Event,  # type: ignore[type-abstract]  # nothing is written to it
    task=TASK,
    lists=(TOPIC,),
    locked_with=None,
)


def sweep(*, now: datetime) -> int:
    """Send what is due, the gravest first; the number of steps."""
    senders = Senders()
    try:
        return QUEUE.sweep(now=now, senders=senders)
    finally:
        senders.close()


@transaction.atomic
def again(row: Delivery, *, actor: "Person", session_key: str, now: datetime) -> None:
    """Send a failed or delivered message once more, with the same id; the audit trail records who did so.

    Raises CannotMove while it is being sent.
    """
    MACHINE.move(row, event="sent_again", to=states.QUEUED, now=now, attempts=0, sent_at=None, next_action_at=now)
    trail.record(
        actor=actor,
        action="delivery.sent_again",
        subject=row.subject,
        before={},
        after={"notification": str(row.notification.uid), "medium": row.medium},
        now=now,
        session_key=session_key,
    )


def _send(row: Delivery, *, now: datetime, senders: Senders) -> None:
    if row.way in senders.down:
        return
    until = lease(now)
    MACHINE.move(
        row,
        event="began",
        to=states.SENDING,
        now=now,
        attempts=row.attempts + 1,
        content=row.content or messages.content(row.notification, row.medium, row.person),
        lease_until=until,
        next_action_at=until,
    )
    outcome = senders.send(row)
    if not outcome.problem:
        MACHINE.move(row, event="delivered", to=states.DELIVERED, now=now, sent_at=now, last_problem="")
        return
    _put_off(row, outcome, now)


def _put_off(row: Delivery, outcome: Outcome, now: datetime) -> None:
    columns: dict[str, Any] = {"last_problem": outcome.problem[:500], "lease_until": None}
    is_lost = outcome.is_final and not outcome.way_is_down
    if is_lost or row.attempts >= MOST_ATTEMPTS:
        MACHINE.move(row, event="gave_up", to=states.FAILED, now=now, **columns)
        return
    due = now + _pause(row, outcome)
    MACHINE.move(row, event="put_off", to=states.QUEUED, now=now, next_action_at=due, **columns)
    if outcome.way_is_down:
        same = Delivery.objects.filter(medium=row.medium, channel=row.channel_id, state=states.QUEUED)
        same.filter(next_action_at__lt=due).update(next_action_at=due, last_problem=columns["last_problem"])


def _give_back(row: Delivery, *, now: datetime, senders: Senders) -> None:
    """The worker that sent it did not come back. Whether it arrived isn't known, so it is sent again."""
    if not is_leased(MACHINE, row, now):
        MACHINE.move(row, event="put_off", to=states.QUEUED, now=now, lease_until=None, next_action_at=now)


def _pause(row: Delivery, outcome: Outcome) -> timedelta:
    if outcome.is_final:
        return REFUSED_REST
    return min(max(rest(row.attempts), outcome.retry_after or timedelta(0)), LONGEST_REST)


def rest(attempts: int) -> timedelta:
    """The pause after so many attempts: half a minute, doubled each time, an hour at most."""
    return min(FIRST_REST * (1 << min(max(attempts - 1, 0), 20)), LONGEST_REST)


QUEUE: Final = Queue(
    machine=MACHINE,
    steps={states.QUEUED: _send, states.SENDING: _give_back},
    urgency=(Q(notification__severity="critical"), Q(notification__severity="", notification__stage="everybody")),
    read_with=("notification", "person", "channel"),
    at_once=AT_ONCE,
)
