"""Stores a notification in one transaction, with its recipients and deliveries.

A person's mail leaves at once, or together with others a minute after an earlier one (`digests`).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from django.db import IntegrityError, transaction
from django.db.models import Min

from desk import clock, outbox
from desk.live import announcements
from desk.notifications import states
from desk.notifications.audiences import Route
from desk.notifications.models import Channel, Delivery, Medium, Notification, Recipient, Stage
from desk.staff import links

TASK: Final = "exchange_ops.deliver"
TOPIC: Final = "notifications"
DIGEST: Final = "digest"
WINDOW: Final = timedelta(minutes=1)
AHEAD: Final = timedelta(seconds=6)  # how long before they leave mails are put into one: two rounds


def post(row: Notification, audience: Sequence[Route], channels: Iterable[Channel], *, now: datetime) -> int:
    """Store the notification with its recipients and deliveries; 0 where another process did so at the same time."""
    try:
        with transaction.atomic():
            row.save(force_insert=True)
            Recipient.objects.bulk_create(
                Recipient(notification=row, person=each.person, in_browser=each.in_browser) for each in audience
            )
            later = _later(row, [each.person.pk for each in audience], now=now)
            deliveries = [
                *(mail_to(row, each, now=now, later=later) for each in audience if each.by_email),
                *(post_to(row, channel, now=now) for channel in channels),
            ]
            if row.stage != Stage.TEST and row.kind != DIGEST:
                _replace_unsent(row, deliveries, now=now)
            Delivery.objects.bulk_create(deliveries)
            for each in audience:
                announcements.announce(f"{TOPIC}:{each.person.pk}", id=row.pk)
            if deliveries:
                outbox.wake(TASK, row.pk)
    except IntegrityError:
        return 0
    return 1


def mail_to(row: Notification, route: Route, *, now: datetime, later: Mapping[int, datetime] | None = None) -> Delivery:
    """The mail of a notification to a person, not stored yet; `later` says when mails of their minute leave."""
    due = max(route.not_before, (later or {}).get(route.person.pk, route.not_before))
    return _delivery(row, Medium.EMAIL, now=now, due=due, person=route.person)


def is_alone(row: Notification) -> bool:
    """Whether it leaves by itself and at once, whatever else leaves."""
    return (
        row.is_critical
        or row.stage in {Stage.EVERYBODY, Stage.TEST}
        or row.kind == DIGEST
        or row.subject.startswith(f"{links.SUBJECT}:")
    )


def post_to(row: Notification, channel: Channel, *, now: datetime) -> Delivery:
    """The message of a notification to a channel, not stored yet."""
    return _delivery(row, channel.kind, now=now, due=now, channel=channel)


def _replace_unsent(row: Notification, deliveries: Sequence[Delivery], *, now: datetime) -> None:
    """Drop earlier messages about the same subject that never left: one waits for each person and channel.

    The new one counts as late since the first of them, so that a dead way stays noticed.
    """
    unsent = Delivery.objects.filter(notification__subject=row.subject, state=states.QUEUED).exclude(notification=row)
    earlier: dict[tuple[int | None, int | None], list[Delivery]] = {}
    for each in unsent.order_by("pk"):
        earlier.setdefault((each.person_id, each.channel_id), []).append(each)
    for each in deliveries:
        replaced = earlier.get((each.person_id, each.channel_id), [])
        dropped = Delivery.objects.filter(pk__in=[one.pk for one in replaced], state=states.QUEUED)
        if replaced and dropped.update(state=states.DROPPED, next_action_at=None, updated_at=now):
            each.created_at = replaced[0].created_at
            each.last_problem = replaced[-1].last_problem


def _delivery(row: Notification, medium: str, *, now: datetime, due: datetime, **to: object) -> Delivery:
    return Delivery(
        notification=row,
        medium=medium,
        state=states.QUEUED,
        created_at=now,
        updated_at=now,
        next_action_at=due,
        **to,
    )


def _later(row: Notification, people: Collection[int], *, now: datetime) -> dict[int, datetime]:
    """For each of these people who got a mail within the last minute: when the mails of that minute leave."""
    if is_alone(row):
        return {}
    recent = clock.recent("created_at", now - WINDOW, now=now)
    mails = Delivery.objects.filter(recent, medium=Medium.EMAIL, person__in=people)
    firsts = mails.order_by().values_list("person").annotate(first=Min("created_at"))
    return {person: _leaves(first + WINDOW, now) for person, first in firsts}


def _leaves(end: datetime, now: datetime) -> datetime:
    """The end of the minute, or that of the next one where the mails of this one are being put together."""
    return end if end > now + AHEAD else end + WINDOW
