"""Several mails to one person within a minute leave as one: the first at once, the others together a minute after it.

What can't wait is never among them: critical incidents, the last call of a decision, and an invitation's link.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from django.db import transaction
from django.db.models import F
from django.urls import reverse

from desk.notifications import messages, outgoing, states
from desk.notifications.audiences import Route
from desk.notifications.models import Delivery, Medium, Notification, Stage

MOST: Final = 500


def gather(*, now: datetime) -> int:
    """Put the mails of each person that are about to leave into one; the number of digests."""
    rows = Delivery.objects.filter(medium=Medium.EMAIL, state=states.QUEUED, attempts=0, content="")
    # What leaves at once is no part of it: only what waits for the end of a minute, or of somebody's quiet hours.
    rows = rows.filter(next_action_at__lte=now + outgoing.AHEAD, next_action_at__gt=F("created_at"))
    rows = rows.select_related("notification", "person__personal")
    by_person: dict[int, list[Delivery]] = defaultdict(list)
    for row in rows.order_by("pk")[:MOST]:
        if not outgoing.is_alone(row.notification) and row.person_id is not None:
            by_person[row.person_id].append(row)
    several = [each for each in by_person.values() if len(each) > 1]
    for each in several:
        _send(each, now)
    return len(several)


def _send(rows: Sequence[Delivery], now: datetime) -> None:
    person = rows[0].person
    assert person is not None  # noqa: S101  # by the caller
    notification = Notification(
        stage=Stage.NEWS,
        subject=f"{outgoing.DIGEST}:{person.pk}",
        phase=f"{now:%Y-%m-%dT%H:%M:%S.%f}",
        kind=outgoing.DIGEST,
        reference=str(len(rows)),
        title=f"{len(rows)} updates",
        sentence="",
        url=reverse("action"),
        created_at=now,
        ended_at=now,
    )
    with transaction.atomic():
        unsent = Delivery.objects.filter(pk__in=[row.pk for row in rows], state=states.QUEUED)
        columns = {"next_action_at": None, "updated_at": now, "last_problem": "Sent in a digest."}
        unsent.update(state=states.DROPPED, **columns)
        outgoing.post(notification, [Route(person, by_email=True, in_browser=False, not_before=now)], (), now=now)
        text = messages.digest([row.notification for row in rows], person)
        Delivery.objects.filter(notification=notification).update(content=text)
