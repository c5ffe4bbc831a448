"""Incidents as the desk knew them at a moment, from their events and the trail's entries for them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from desk import models
from desk.as_known.moments import Moment, ThenAndLater
from desk.as_known.rows import row_at
from desk.incidents import closings, kinds, states
from desk.incidents.models import Incident, IncidentEvent

if TYPE_CHECKING:
    from desk.models import AuditEvent, Person

NOT_RECORDED = "Later wordings of this text: it is updated while the cause goes on, and the first one is shown."


@dataclass(frozen=True, slots=True)
class KnownIncident:
    """One incident at a moment. `row` is an unsaved copy as it was then; None before it was opened.

    `findings` are the words of those who found that it can be closed, from the trail.
    """

    row: Incident | None
    events: ThenAndLater[IncidentEvent]
    findings: "ThenAndLater[AuditEvent]"


@dataclass(frozen=True, slots=True)
class IncidentHistory:
    """One incident about a page: as it is now, with its events then and later."""

    row: Incident
    events: ThenAndLater[IncidentEvent]

    @property
    def was_open(self) -> bool:
        """Whether it was open or assigned at the moment."""
        return bool(self.events.then) and self.events.then[-1].to_state in states.UNRESOLVED


def of(row: Incident, moment: Moment) -> KnownIncident:
    """The incident at a moment."""
    moves = row.events.select_related("actor").order_by("version")
    events = moment.split_series(moves, stored_at=lambda event: event.at)
    findings = moment.split(closings.recorded(row), stored_at=lambda event: event.at)
    return KnownIncident(_row(row, events.then) if events.then else None, events, findings)


def of_page(page: str, key: str, moment: Moment, *, reader: "Person") -> list[IncidentHistory]:
    """The incidents that point to a page and that the reader may see, the oldest first."""
    rows = list(Incident.objects.filter(kinds.seen_by(reader), page=page, page_key=key).order_by("pk"))
    events = defaultdict(list)
    for event in IncidentEvent.objects.filter(incident__in=rows).select_related("actor").order_by("version"):
        events[event.incident_id].append(event)
    return [IncidentHistory(row, moment.split_series(events[row.pk], stored_at=lambda event: event.at)) for row in rows]


def _row(row: Incident, events: Sequence[IncidentEvent]) -> Incident:
    """Its events name no columns; the trail's entries of the same moves do."""
    entries = models.AuditEvent.objects.filter(seq__in=[event.audit_number for event in events]).order_by("seq")
    past = row_at(row, (entry.after for entry in entries))
    past.last_problem = str(events[0].evidence.get("sentence", ""))
    past.updated_at = events[-1].at
    return past
