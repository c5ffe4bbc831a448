"""Stores a notification in one transaction, with its recipients and deliveries."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from django.db import IntegrityError, transaction

from desk import outbox
from desk.live import announcements
from desk.notifications import states, waits
from desk.notifications.audiences import Route
from desk.notifications.models import Channel, Delivery, Medium, Notification, Recipient

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
            mails = [
                _delivery(row, Medium.EMAIL, now=now, due=_due(each, later), person=each.person)
                for each in audience
                if each.by_email
            ]
            posts = [_delivery(row, channel.kind, now=now, due=now, channel=channel) for channel in channels]
            Delivery.objects.bulk_create([*mails, *posts])
            for each in audience:
                announcements.announce(f"{TOPIC}:{each.person.pk}", id=row.pk)
            if mails or posts:
                outbox.wake(TASK, row.pk)
    except IntegrityError:
        return 0
    return 1


def _due(route: Route, later: Mapping[int, datetime]) -> datetime:
    return max(route.not_before, later.get(route.person.pk, route.not_before))


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
