"""One incident: what happened, who works on it, what was done; and taking it on, handing it back, closing it."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from desk import clock
from desk.actions import threads
from desk.as_known.moments import Moment, MomentForm
from desk.forms import SecondFactorForm
from desk.incidents import as_known as known_incidents
from desk.incidents import closings, decisions, kinds, states
from desk.incidents.models import Incident, IncidentEvent
from desk.models import Person
from desk.people import roles
from desk.people.stepup import CannotConfirm
from desk.views.rendering import show

PAGE = "desk/incident.html"
PARTS = {"incident": "desk/incident/_incident.html"}
_WORDS = {
    "opened": "Opened",
    "acknowledged": "Assigned",
    "handed_back": "Unassigned",
    "cleared": "Resolved automatically",
    "closed": "Closed with a reason",
    "gone": "Cause resolved as well",
}


def _reason() -> forms.CharField:
    """Its limits are checked where it is stored, so that nothing typed is lost."""
    return forms.CharField(
        label="What did you check and do?",
        help_text="Closing mutes further alerts for this cause.",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 3}),
    )


class CloseForm(forms.Form):
    """Why it can be closed."""

    reason = _reason()
    answer: Mapping[str, Any] = MappingProxyType({})


class FactorForm(SecondFactorForm):
    """The same for an incident that is critical or about money, with a second factor."""

    field_order = ("reason", "code")
    reason = _reason()
    digest = forms.RegexField(r"^[0-9a-f]{64}$", widget=forms.HiddenInput)


def _form_of(row: Incident) -> type[CloseForm] | type[FactorForm]:
    return FactorForm if closings.needs_factor(row) else CloseForm


@require_safe
def incident(request: HttpRequest, incident_id: int) -> HttpResponse:
    """The page, or the part that changes."""
    return _page(request, incident_id)


@require_safe
def as_known(request: HttpRequest, incident_id: int) -> HttpResponse:
    """An incident as the desk knew it at a moment; without one, the form that asks for it."""
    row, _ = _read(request, incident_id)
    form = MomentForm(request.GET, now=clock.now())
    context: dict[str, Any] = {"incident": row, "form": form, "moment": form.moment()}
    if moment := form.moment():
        past = known_incidents.of(row, moment)
        comments = moment.split(threads.comments(row.subject), stored_at=lambda comment: comment.at)
        context |= {
            "known": past,
            "row": past.row,
            "events": _in_words(past.events.then),
            "later_events": _in_words(past.events.later),
            "comments": comments,
            "gaps": [known_incidents.NOT_RECORDED],
        }
    return show(request, "desk/incident_as_known.html", context, status=200 if moment or not form.is_bound else 422)


@require_POST
def acknowledge(request: HttpRequest, incident_id: int) -> HttpResponse:
    """Take it on."""
    return _decide(request, incident_id, decisions.acknowledge)


@require_POST
def hand_back(request: HttpRequest, incident_id: int) -> HttpResponse:
    """Nobody works on it any more."""
    return _decide(request, incident_id, decisions.hand_back)


@require_POST
def close(request: HttpRequest, incident_id: int) -> HttpResponse:
    """Close it with a reason and, where it is critical or about money, a second factor."""
    row, _ = _read(request, incident_id)
    form = _form_of(row)(request.POST)
    if not form.is_valid():
        return _page(request, incident_id, status=422, form=form)
    words = {name: form.cleaned_data.get(name, "") for name in ("reason", "digest")}
    return _decide(request, incident_id, decisions.close, form=form, answer=form.answer, **words)


def _decide(
    request: HttpRequest, incident_id: int, act: Any, *, form: forms.Form | None = None, **words: Any
) -> HttpResponse:
    _, person = _read(request, incident_id)
    session_key = request.session.session_key or ""
    try:
        act(incident_id=incident_id, person=person, now=clock.now(), session_key=session_key, **words)
    except (decisions.CannotDecide, CannotConfirm) as problem:
        if form is None:
            return _page(request, incident_id, status=422, problem=str(problem))
        form.add_error("code" if isinstance(problem, CannotConfirm) else "reason", str(problem))
        return _page(request, incident_id, status=422, form=form)
    return redirect("incident", incident_id)


def _page(request: HttpRequest, incident_id: int, *, status: int = 200, **words: Any) -> HttpResponse:
    row, person = _read(request, incident_id)
    kind, first = kinds.by_name(row.kind), closings.first_of(row)
    context = {
        "now": clock.now(),
        "row": row,
        "kind": kind,
        "acts": " or ".join(kind.acts),
        "severity_tone": {"critical": "bad", "high": "warn"}.get(row.severity, "active"),
        "may_open": kind.may_open(person, row.scope),
        "may_act": decisions.may_act(person, row),
        "is_open": row.state == states.OPEN,
        "is_over": row.state == states.RESOLVED,
        "events": _in_words(row.events.select_related("actor").order_by("version")),
        "needs_factor": closings.needs_factor(row),
        "needs_two": closings.needs_two(row),
        "first": first,
        "is_first": first is not None and first.person.pk == person.pk,
        "purpose": closings.PURPOSE,
        "digest": closings.digest_of(row),
        "form": _form_of(row)(),
        **words,
    }
    return show(request, PAGE, context, parts=PARTS, status=status)


def _in_words(events: Iterable[IncidentEvent]) -> list[tuple[IncidentEvent, str, str]]:
    """Each event with its words, and the query of the page that shows what was known then."""
    return [(event, _WORDS[event.event], Moment(event.at).query) for event in events]


def _read(request: HttpRequest, incident_id: int) -> tuple[Incident, Person]:
    """The incident and the person who asks; a 404 where they may not see it."""
    person = request.user
    if not (isinstance(person, Person) and person.has_role(*roles.ALL)):
        raise PermissionDenied("Your roles don't allow this.")
    row = Incident.objects.select_related("taken_by").filter(pk=incident_id).first()
    if row is None or not kinds.by_name(row.kind).may_see(person, row.scope):
        raise Http404("Incident not found.")
    return row, person
