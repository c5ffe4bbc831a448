"""The incidents about one page as the desk knew them at a moment."""

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from desk.as_known.moments import Known, Moment
from desk.incidents import kinds, states
from desk.incidents.models import Incident, IncidentEvent

if TYPE_CHECKING:
    from desk.models import Person


@dataclass(frozen=True, slots=True)
class KnownIncident:
    """One incident, its events then and later."""

    row: Incident
    events: Known[IncidentEvent]

    @property
    def was_open(self) -> bool:
        """Whether it was open or assigned at the moment."""
        return bool(self.events.then) and self.events.then[-1].to_state in states.UNRESOLVED


def of_page(page: str, key: str, moment: Moment, *, reader: "Person") -> list[KnownIncident]:
    """The incidents that point to a page and that the reader may see, the oldest first."""
    rows = list(Incident.objects.filter(kinds.seen_by(reader), page=page, page_key=key).order_by("pk"))
    events = defaultdict(list)
    for event in IncidentEvent.objects.filter(incident__in=rows).select_related("actor").order_by("version"):
        events[event.incident_id].append(event)
    return [KnownIncident(row, moment.split_series(events[row.pk], stored_at=lambda event: event.at)) for row in rows]
