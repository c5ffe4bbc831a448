"""Notifies people once of how their own requests ended, unless they ended them themselves.

They are notified as the one who asked, never as somebody who could decide.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from desk.actions import entries
from desk.notifications import audiences, facts, outgoing
from desk.notifications.models import Notification, Stage
from desk.people import scopes

if TYPE_CHECKING:
    from desk.actions.entries import Entry
    from desk.models import Person

KIND: Final = "requests"
LABEL: Final = "Your request has ended"
PHASE: Final = "asked"
SINCE: Final = timedelta(hours=1)


def notify(people: "Mapping[int, Person]", *, now: datetime) -> int:
    """Notify of every request that ended within the last hour, once; the number of notifications made."""
    count = 0
    for ended_requests in (source.requests for source in entries.sources() if source.requests is not None):
        subjects = ended_requests.ended(now - SINCE)
        existing = Notification.objects.filter(phase=PHASE, stage=Stage.ENDED, subject__in=subjects)
        new_subjects = set(subjects).difference(existing.values_list("subject", flat=True))
        for person_id, entry in ended_requests.entries(new_subjects) if new_subjects else ():
            if person_id in people and scopes.may_see(people[person_id], entry.scope):
                count += _notify(entry, people[person_id], now)
    return count


def _notify(entry: "Entry", person: "Person", now: datetime) -> int:
    row = Notification(
        stage=Stage.ENDED,
        subject=entry.subject,
        phase=PHASE,
        kind=KIND,
        reference=entry.reference,
        title=entry.title[:200],
        sentence=entry.sentence[:600],
        outcome=entry.outcome[:80],
        url=entry.url,
        facts=facts.of(entry),
        created_at=now,
        ended_at=now,
    )
    return outgoing.post(row, [audiences.route(row, person)], (), now=now)
