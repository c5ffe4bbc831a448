"""Other ways for messages about a deadline that can't be delivered in time: the next channel and the next person.

In time is within five minutes, and before the last twelve minutes in which everybody is notified. Nothing is
remembered: deliveries that are newer than their notification are those that were added here.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from django.db import IntegrityError, transaction
from django.db.models import Q

from desk import outbox
from desk.actions.entries import RANKS
from desk.incidents.kinds import Severity
from desk.live import announcements
from desk.models import Person
from desk.notifications import audiences, outgoing, states
from desk.notifications.audiences import Route
from desk.notifications.models import Channel, Delivery, Notification, Recipient, Stage

IN_TIME: Final = timedelta(minutes=5)


def reroute(people: Mapping[tuple[str, str], Sequence[Person]], *, now: datetime) -> int:
    """Notify other people and channels where a message about a deadline is late; how many notifications that was.

    `people` are those who can act now, by subject and phase.
    """
    late: dict[Notification, list[Delivery]] = {}
    for row in _late(now):
        late.setdefault(row.notification, []).append(row)
    return sum(_reroute(row, rows, people.get((row.subject, row.phase), ()), now) for row, rows in late.items())


def _late(now: datetime) -> list[Delivery]:
    open_ones = Q(notification__ended_at=None, notification__deadline__gt=now) & ~Q(notification__stage=Stage.ENDED)
    problems = Q(state=states.FAILED) | Q(state=states.QUEUED) & ~Q(last_problem="")
    rows = Delivery.objects.filter(open_ones, problems).select_related("notification").order_by("pk")
    return [row for row in rows if _is_late(row)]


def _is_late(row: Delivery) -> bool:
    if row.state == states.FAILED or row.next_action_at is None:
        return True
    begin, deadline = row.notification.created_at, row.notification.deadline
    assert deadline is not None  # noqa: S101  # by the query
    return row.next_action_at > min(begin + IN_TIME, deadline - audiences.LAST)


def _reroute(row: Notification, late: Sequence[Delivery], people: Sequence[Person], now: datetime) -> int:
    late_people = {each.person_id for each in late if each.person_id is not None}
    extra = [each for each in row.deliveries.all() if each.created_at > row.created_at]
    missing = len(late_people) - sum(each.person_id is not None for each in extra)
    added = _next_people(row, people, missing)
    channels = _next_channels(row)
    if not added and not channels and not row.recipients.filter(person__in=late_people, in_browser=False).exists():
        return 0
    try:
        with transaction.atomic():
            _add(row, added, channels, now)
            recipients = row.recipients.filter(person__in=late_people, in_browser=False)
            for each in recipients:
                announcements.announce(f"{outgoing.TOPIC}:{each.person_id}", id=row.pk)
            recipients.update(in_browser=True)
    except IntegrityError:
        return 0  # another process did so at the same time
    return 1


def _next_people(row: Notification, people: Sequence[Person], count: int) -> list[Route]:
    """So many of those who have not been notified, by their turns; only people who have e-mail and no quiet hours."""
    if count <= 0 or not audiences.email_is_on():
        return []
    notified = set(row.recipients.values_list("person_id", flat=True))
    others = [each for each in people if each.pk not in notified and each.email]
    every = [audiences.route(row, person) for person in sorted(others, key=audiences.turn_of)]
    return [each for each in every if audiences.is_in_time(row, each)][:count]


def _next_channels(row: Notification) -> list[Channel]:
    """Channels without this message that take grave incidents: a deadline that people don't hear of is one."""
    used = row.deliveries.filter(channel__isnull=False).values("channel")
    others = Channel.objects.filter(ended_at=None).exclude(pk__in=used).order_by("pk")
    return [each for each in others if each.decisions or RANKS[Severity.HIGH] <= RANKS[each.least]]


def _add(row: Notification, people: Sequence[Route], channels: Sequence[Channel], now: datetime) -> None:
    Recipient.objects.bulk_create(Recipient(notification=row, person=each.person, in_browser=True) for each in people)
    mails = [outgoing.mail_to(row, each, now=now) for each in people]
    posts = [outgoing.post_to(row, each, now=now) for each in channels]
    Delivery.objects.bulk_create([*mails, *posts])
    for each in people:
        announcements.announce(f"{outgoing.TOPIC}:{each.person.pk}", id=row.pk)
    if mails or posts:
        outbox.wake(outgoing.TASK, row.pk)
