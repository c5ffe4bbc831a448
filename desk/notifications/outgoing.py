"""Stores a notification in one transaction, with its recipients and deliveries."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from django.db import IntegrityError, transaction

from desk import outbox
from desk.live import announcements
from desk.notifications import states, waits
from desk.notifications.audiences import Route
from desk.notifications.models import Channel, Delivery, Medium, Notification, Recipient, Stage

TASK: Final = "exchange_ops.deliver"
TOPIC: Final = "notifications"


def post(row: Notification, audience: Sequence[Route], channels: Iterable[Channel], *, now: datetime) -> int:
    """Store the notification with its recipients and deliveries; 0 where another process did so at the same time."""
    try:
        with transaction.atomic():
            row.save(force_insert=True)
            Recipient.objects.bulk_create(
                Recipient(notification=row, person=each.person, in_browser=each.in_browser) for each in audience
            )
            later = waits.since(row, [each.person.pk for each in audience], now=now)
            deliveries = [
                *(mail_to(row, each, now=now, later=later) for each in audience if each.by_email),
                *(post_to(row, channel, now=now) for channel in channels),
            ]
            if row.stage != Stage.TEST:
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
