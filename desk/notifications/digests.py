"""Several mails to one person within a minute leave as one: the first at once, the others together a minute after it.

What can't wait is never among them: critical incidents, the last call of a decision, and an invitation's link.

A digest that could not leave is replaced by the next one, which has all of its lines and one line for each cause. So
a mail server that is down for an hour has one digest for each person behind it.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction
from django.db.models import F, QuerySet
from django.urls import reverse

from desk.notifications import messages, outgoing, states
from desk.notifications.audiences import Route
from desk.notifications.models import Delivery, Medium, Notification, Stage

if TYPE_CHECKING:
    from desk.models import Person

MOST: Final = 500
GATHERED: Final = "Sent in a digest."


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
    waiting = set(_unsent_digests().filter(person__in=by_person).values_list("person", flat=True))
    several = [each for person, each in by_person.items() if len(each) > 1 or person in waiting]
    for each in several:
        _send(each, now)
    return len(several)


def _unsent_digests() -> QuerySet[Delivery]:
    return Delivery.objects.filter(
        medium=Medium.EMAIL, state=states.QUEUED, notification__kind=outgoing.DIGEST, person__isnull=False
    )


def _send(rows: Sequence[Delivery], now: datetime) -> None:
    person = rows[0].person
    assert person is not None  # noqa: S101  # by the caller
    with transaction.atomic():
        replaced = _replace_unsent(person, now)
        lines = _lines([*replaced, *rows])
        notification = _notification(person, lines, now)
        unsent = Delivery.objects.filter(pk__in=[row.pk for row in rows], state=states.QUEUED)
        unsent.update(state=states.DROPPED, next_action_at=None, updated_at=now, last_problem=GATHERED)
        outgoing.post(notification, [Route(person, by_email=True, in_browser=False, not_before=now)], (), now=now)
        columns: dict[str, Any] = {"content": messages.digest(lines, person)}
        if replaced:
            # It counts as late since the first mail in it, so that a dead way stays noticed.
            columns["created_at"] = min(row.created_at for row in replaced)
        Delivery.objects.filter(notification=notification).update(**columns)


def _replace_unsent(person: "Person", now: datetime) -> list[Delivery]:
    """Drop the digests of the person that never left; the mails that were put into them, marked as put into this one.

    A digest that is being sent at this moment is no longer queued: it is neither dropped nor repeated.
    """
    dropped = [
        digest.notification.created_at
        for digest in _unsent_digests().select_related("notification").filter(person=person)
        if Delivery.objects.filter(pk=digest.pk, state=states.QUEUED).update(
            state=states.DROPPED, next_action_at=None, updated_at=now
        )
    ]
    gathered = Delivery.objects.filter(
        medium=Medium.EMAIL, person=person, state=states.DROPPED, last_problem=GATHERED, updated_at__in=dropped
    )
    rows = list(gathered.select_related("notification").order_by("pk"))
    Delivery.objects.filter(pk__in=[row.pk for row in rows]).update(updated_at=now)
    return rows


def _lines(rows: Sequence[Delivery]) -> list[Notification]:
    """One notification for each cause, the newest, in the order in which the causes came."""
    by_subject: dict[str, Notification] = {}
    for row in rows:
        by_subject[row.notification.subject] = row.notification
    return list(by_subject.values())


def _notification(person: "Person", lines: Sequence[Notification], now: datetime) -> Notification:
    return Notification(
        stage=Stage.NEWS,
        subject=f"{outgoing.DIGEST}:{person.pk}",
        phase=f"{now:%Y-%m-%dT%H:%M:%S.%f}",
        kind=outgoing.DIGEST,
        reference=str(len(lines)),
        title=f"{len(lines)} updates",
        sentence="",
        url=reverse("action"),
        created_at=now,
        ended_at=now,
    )
