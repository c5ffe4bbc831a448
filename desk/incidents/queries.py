"""Incidents as pages and the bar show them."""

from typing import TYPE_CHECKING

from django.db.models import Case, IntegerField, OuterRef, Q, QuerySet, Subquery, Value, When

from desk.incidents import kinds, states, votes
from desk.incidents.models import Incident, IncidentEvent

if TYPE_CHECKING:
    from desk.models import Person

_RANKS = [When(severity=each.value, then=Value(rank)) for rank, each in enumerate(kinds.Severity)]


def unresolved(person: "Person | None" = None) -> QuerySet[Incident]:
    """The open incidents that this person may see, the gravest and then the newest first."""
    rows = Incident.objects.filter(state__in=states.UNRESOLVED).select_related("taken_by")
    if person is not None:
        rows = rows.filter(kinds.seen_by(person))
    rank = Case(*_RANKS, default=Value(len(_RANKS)), output_field=IntegerField())
    return rows.annotate(rank=rank).order_by("rank", "-created_at", "-pk")


def critical(person: "Person") -> QuerySet[Incident]:
    """The open incidents of the highest severity, which every page shows in a bar."""
    return unresolved(person).filter(severity=kinds.Severity.CRITICAL)


def of_scope(rows: QuerySet[Incident], *scopes: str) -> QuerySet[Incident]:
    """Those of the rows that concern these accounts or the whole desk; all of them where no account is named."""
    return rows.filter(scope__in=("", *scopes)) if any(scopes) else rows


def waiting_for(person: "Person") -> QuerySet[Incident]:
    """The incidents that this person may act on, which nobody else has taken on and on which they have not voted."""
    rows = unresolved(person).filter(kinds.acted_on_by(person))
    by_two = votes.decided_by_two()
    voted = votes.by_person(rows.filter(kind__in=by_two)) if by_two else set()
    decided = [number for number, who in voted if who == person.pk]
    return rows.filter(Q(taken_by=None) | Q(taken_by=person)).exclude(pk__in=decided)


def resolved(person: "Person") -> QuerySet[Incident]:
    """The resolved incidents, the latest first; `closed_by` is the name of the person who closed it with a reason."""
    closed = IncidentEvent.objects.filter(incident=OuterRef("pk"), event="closed").order_by("-version")
    rows = Incident.objects.filter(kinds.seen_by(person), state=states.RESOLVED)
    rows = rows.annotate(closed_by=Subquery(closed.values("actor__username")[:1]))
    return rows.select_related("taken_by").order_by("-updated_at", "-pk")
