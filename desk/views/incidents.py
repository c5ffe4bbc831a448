"""One incident: what happened, who works on it, what was done; and taking it on, handing it back, closing it."""

from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from desk import clock
from desk.incidents import decisions, kinds, states
from desk.incidents.models import Incident
from desk.models import Person
from desk.people import roles
from desk.views.rendering import show

PAGE = "desk/incident.html"
PARTS = {"incident": "desk/incident/_incident.html"}
_WORDS = {
    "opened": "Opened",
    "acknowledged": "Taken on",
    "handed_back": "Handed back",
    "cleared": "Resolved: its cause is gone",
    "closed": "Closed with a reason",
    "gone": "Its cause is gone as well",
}


class CloseForm(forms.Form):
    """Why it can be closed. Its limits are checked where it is stored, so that nothing typed is lost."""

    reason = forms.CharField(
        label="What you looked at, and what was done",
        help_text="It is not opened again for the same cause.",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 3}),
    )


@require_safe
def incident(request: HttpRequest, incident_id: int) -> HttpResponse:
    """The page, or the part that changes."""
    return _page(request, incident_id)


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
    """Close it with a reason."""
    form = CloseForm(request.POST)
    form.is_valid()
    return _decide(request, incident_id, decisions.close, form=form, reason=form.cleaned_data.get("reason", ""))


def _decide(
    request: HttpRequest, incident_id: int, act: Any, *, form: CloseForm | None = None, **words: str
) -> HttpResponse:
    _, person = _read(request, incident_id)
    session_key = request.session.session_key or ""
    try:
        act(incident_id=incident_id, person=person, now=clock.now(), session_key=session_key, **words)
    except decisions.CannotDecide as problem:
        if form is None:
            return _page(request, incident_id, status=422, problem=str(problem))
        form.add_error("reason", str(problem))
        return _page(request, incident_id, status=422, form=form)
    return redirect("incident", incident_id)


def _page(request: HttpRequest, incident_id: int, *, status: int = 200, **words: Any) -> HttpResponse:
    row, person = _read(request, incident_id)
    kind = kinds.by_name(row.kind)
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
        "events": [(event, _WORDS[event.event]) for event in row.events.select_related("actor").order_by("version")],
        "form": CloseForm(),
        **words,
    }
    return show(request, PAGE, context, parts=PARTS, status=status)


def _read(request: HttpRequest, incident_id: int) -> tuple[Incident, Person]:
    """The incident and the person who asks; a 404 where they may not see it."""
    person = request.user
    if not (isinstance(person, Person) and person.has_role(*roles.ALL)):
        raise PermissionDenied("Your roles don't allow this.")
    row = Incident.objects.select_related("taken_by").filter(pk=incident_id).first()
    if row is None or not kinds.by_name(row.kind).may_see(person, row.scope):
        raise Http404("There is no such incident.")
    return row, person
