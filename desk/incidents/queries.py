"""Incidents as pages and the bar show them."""

from typing import TYPE_CHECKING

from django.db.models import Case, IntegerField, OuterRef, Q, QuerySet, Subquery, Value, When

from desk.incidents import kinds, states, votes
from desk.incidents.models import Incident, IncidentEvent

if TYPE_CHECKING:
    from desk.models import Person

_RANKS = [When(severity=each.value, then=Value(rank)) for rank, each in enumerate(kinds.Severity)]


def unresolved(person: "Person | None" = None) -> QuerySet[Incident]:
    """What is not over, the gravest and then the newest first; of those kinds that this person is shown."""
    rows = Incident.objects.filter(state__in=states.UNRESOLVED).select_related("taken_by")
    if person is not None:
        rows = rows.filter(kinds.seen_by(person))
    rank = Case(*_RANKS, default=Value(len(_RANKS)), output_field=IntegerField())
    return rows.annotate(rank=rank).order_by("rank", "-created_at", "-pk")


def critical(person: "Person") -> QuerySet[Incident]:
    """What every page says in a bar: all of the highest severity that is not over."""
    return unresolved(person).filter(severity=kinds.Severity.CRITICAL)


def of_scope(rows: QuerySet[Incident], *scopes: str) -> QuerySet[Incident]:
    """Of them what concerns these accounts, or the whole desk; all where none is named."""
    return rows.filter(scope__in=("", *scopes)) if any(scopes) else rows


def waiting_for(person: "Person") -> QuerySet[Incident]:
    """What this person may act on: not taken on by anybody, or by themselves, and not decided by them already."""
    rows = unresolved(person).filter(kinds.acted_on_by(person))
    by_two = votes.decided_by_two()
    voted = votes.by_person(rows.filter(kind__in=by_two)) if by_two else set()
    decided = [number for number, who in voted if who == person.pk]
    return rows.filter(Q(taken_by=None) | Q(taken_by=person)).exclude(pk__in=decided)


def resolved(person: "Person") -> QuerySet[Incident]:
    """What is over, the last one first; `closed_by` is the name of whoever closed it with a reason."""
    closed = IncidentEvent.objects.filter(incident=OuterRef("pk"), event="closed").order_by("-version")
    rows = Incident.objects.filter(kinds.seen_by(person), state=states.RESOLVED)
    rows = rows.annotate(closed_by=Subquery(closed.values("actor__username")[:1]))
    return rows.select_related("taken_by").order_by("-updated_at", "-pk")
