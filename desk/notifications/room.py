"""What this room declares to the desk: its topics, its kind of incident, and which of its tables decide something."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from django.conf import settings
from django.db.models import Count, Max, Q

from desk import clock
from desk.incidents.kinds import Cause, Kind, Severity
from desk.notifications import channels, delivering, outgoing, states
from desk.notifications.models import Channel, Delivery, Medium, Notification
from desk.people import roles
from desk.rows import witnessed
from desk.rows.retention import Retention
from desk.web.context import Entry

if TYPE_CHECKING:
    from desk.models import Person

UNDELIVERED: Final = "undelivered"
LATE: Final = timedelta(minutes=2)
_DAY: Final = timedelta(days=1)


def _undelivered(now: datetime, key: str) -> Iterator[Cause]:
    old = clock.older("created_at", now - LATE, now=now)
    late = old & (Q(state__in=states.UNSENT, attempts__gt=0) | Q(state=states.QUEUED) & ~Q(last_problem=""))
    failed = Q(state=states.FAILED, updated_at__gt=now - _DAY)
    rows = Delivery.objects.filter(late | failed).filter(channel__ended_at=None).exclude(person__is_active=False)
    ways = rows.values("medium", "channel", "channel__name").annotate(count=Count("pk"), problem=Max("last_problem"))
    for way in ways.order_by("medium", "channel"):
        is_mail = way["medium"] == Medium.EMAIL
        name = "E-mail" if is_mail else f"Channel {way['channel__name']}"
        cause = way["medium"] if is_mail else f"channel:{way['channel']}"
        count = way["count"]
        messages = "1 message" if count == 1 else f"{count} messages"
        sentence = f"{name} is failing: {messages} not delivered. {way['problem']} "
        sentence += "An administrator should check Deliveries."
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

rewrap_all = channels.rewrap_all


def _may_follow_own(person: "Person", key: str) -> bool:
    return key == str(person.pk) and person.has_role(*roles.ALL)


def _may_follow_deliveries(person: "Person", key: str) -> bool:
    return not key and channels.may_read(person)


NAVIGATION: Final = (
    Entry(
        "Deliveries",
        "deliveries",
        "send",
        "Control",
        order=220,
        key="y",
        may_see=channels.may_read,
        also=("Webhooks", "E-mails"),
    ),
)
RETENTION: Final = (Retention(Notification, "ended_at", lambda: timedelta(days=settings.MESSAGES_KEPT_DAYS)),)
TOPICS: Final = {outgoing.TOPIC: _may_follow_own, delivering.TOPIC: _may_follow_deliveries}


def register() -> None:
    """Declare the tables; called once at the start."""
    witnessed.register(Channel)
    witnessed.decides_nothing(
        {
            "desk.notification": "what people are told; decisions are made on the page, never from the message",
            "desk.recipient": "who is told; roles determine who can decide",
            "desk.delivery": "what is sent and whether it arrived; no payout depends on it",
            "desk.preference": "which notifications a person wants",
            "desk.availability": "quiet hours; they affect no permissions",
        }
    )
