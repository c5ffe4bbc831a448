"""When a mail leaves: at once, or together with others a minute after an earlier one (`digests`)."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Min

from desk.notifications.models import Delivery, Medium, Notification, Stage
from desk.staff import links

KIND: Final = "digest"
WINDOW: Final = timedelta(minutes=1)
AHEAD: Final = timedelta(seconds=6)  # how long before they leave mails are put into one: two rounds


def is_alone(row: Notification) -> bool:
    """Whether it leaves by itself and at once, whatever else leaves."""
    return (
        row.is_critical
        or row.stage in {Stage.EVERYBODY, Stage.TEST}
        or row.kind == KIND
        or row.subject.startswith(f"{links.SUBJECT}:")
    )


def since(row: Notification, people: Collection[int], *, now: datetime) -> dict[int, datetime]:
    """For each of these people who got a mail within the last minute: when the mails of that minute leave."""
    if is_alone(row):
        return {}
    mails = Delivery.objects.filter(medium=Medium.EMAIL, person__in=people, created_at__gt=now - WINDOW)
    firsts = mails.order_by().values_list("person").annotate(first=Min("created_at"))
    return {person: _leaves(first + WINDOW, now) for person, first in firsts}


def _leaves(end: datetime, now: datetime) -> datetime:
    """The end of the minute, or that of the next one where the mails of this one are being put together."""
    return end if end > now + AHEAD else end + WINDOW
