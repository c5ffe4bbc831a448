"""Whoever asked for something is told once how it ended, unless they ended it themselves.

They hear of it as the one who asked, never as somebody who could decide.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from desk.actions import entries
from desk.notifications import audiences, outgoing
from desk.notifications.models import Notification, Stage
from desk.people import scopes

if TYPE_CHECKING:
    from desk.actions.entries import Entry
    from desk.models import Person

KIND: Final = "requests"
LABEL: Final = "What you asked for has ended"
PHASE: Final = "asked"
SINCE: Final = timedelta(hours=1)


def tell(people: "Mapping[int, Person]", *, now: datetime) -> int:
    """Tell of every request that ended within the hour and was not told yet; how many notifications were made."""
    made = 0
    for found in (source.requests for source in entries.sources() if source.requests is not None):
        subjects = found.ended(now - SINCE)
        known = Notification.objects.filter(phase=PHASE, stage=Stage.ENDED, subject__in=subjects)
        untold = set(subjects).difference(known.values_list("subject", flat=True))
        for person_id, entry in found.entries(untold) if untold else ():
            if person_id in people and scopes.may_see(people[person_id], entry.scope):
                made += _tell(entry, people[person_id], now)
    return made


def _tell(entry: "Entry", person: "Person", now: datetime) -> int:
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
        created_at=now,
        ended_at=now,
    )
    return outgoing.post(row, [audiences.ways(row, person)], (), now=now)
