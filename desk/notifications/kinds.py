"""What about telling people a person has to look at: a way by which nothing arrives."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Count, Max, Q

from desk.incidents.kinds import Cause, Kind, Severity
from desk.notifications import states
from desk.notifications.models import Delivery, Medium
from desk.people import roles

UNDELIVERED: Final = "undelivered"
LATE: Final = timedelta(minutes=2)
_DAY: Final = timedelta(days=1)


def _undelivered(now: datetime, key: str) -> Iterator[Cause]:
    late = Q(state__in=states.UNSENT, attempts__gt=0, created_at__lt=now - LATE)
    late |= Q(state=states.QUEUED, created_at__lt=now - LATE) & ~Q(last_problem="")
    failed = Q(state=states.FAILED, updated_at__gt=now - _DAY)
    rows = Delivery.objects.filter(late | failed).filter(channel__ended_at=None).exclude(person__is_active=False)
    ways = rows.values("medium", "channel", "channel__name").annotate(count=Count("pk"), problem=Max("last_problem"))
    for way in ways.order_by("medium", "channel"):
        is_mail = way["medium"] == Medium.EMAIL
        name = "E-mail" if is_mail else f"The channel {way['channel__name']}"
        cause = way["medium"] if is_mail else f"channel:{way['channel']}"
        count = way["count"]
        messages = "1 message was" if count == 1 else f"{count} messages were"
        sentence = (
            f"{name} does not arrive: {messages} not delivered. {way['problem']} An admin looks at the deliveries."
        )
        yield Cause(cause, sentence, "deliveries")


KINDS: Final[tuple[Kind, ...]] = (
    Kind(
        UNDELIVERED,
        "Notifications not delivered",
        Severity.HIGH,
        (roles.ADMIN,),
        _undelivered,
        opens=(roles.ADMIN, roles.AUDITOR),
    ),
)
