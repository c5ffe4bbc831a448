"""What this room declares to the desk: its topics, its kind of incident, and which of its tables decide something."""

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from django.conf import settings

from desk.notifications import channels, delivering, kinds, outgoing
from desk.notifications.models import Channel, Notification
from desk.people import roles
from desk.rows import witnessed
from desk.rows.retention import Retention
from desk.web.context import Entry

if TYPE_CHECKING:
    from desk.models import Person

KINDS: Final = kinds.KINDS
rewrap_all = channels.rewrap_all


def _may_follow_own(person: "Person", key: str) -> bool:
    return key == str(person.pk) and person.has_role(*roles.ALL)


def _may_follow_deliveries(person: "Person", key: str) -> bool:
    return not key and channels.may_read(person)


NAVIGATION: Final = (
    Entry("Deliveries", "deliveries", "send", "Control", order=220, key="y", may_see=channels.may_read),
)
RETENTION: Final = (Retention(Notification, "ended_at", lambda: timedelta(days=settings.MESSAGES_KEPT_DAYS)),)
TOPICS: Final = {outgoing.TOPIC: _may_follow_own, delivering.TOPIC: _may_follow_deliveries}


def register() -> None:
    """Declare the tables; called once at the start."""
    witnessed.register(Channel)
    witnessed.decides_nothing(
        {
            "desk.notification": "what people are told; whoever decides reads the page, never the message",
            "desk.recipient": "who is told; who may decide is read from roles",
            "desk.delivery": "what is sent and whether it arrived; money waits for none of it",
            "desk.preference": "what somebody wants to be told",
            "desk.availability": "when somebody wants quiet; it neither gives nor takes a right",
        }
    )
