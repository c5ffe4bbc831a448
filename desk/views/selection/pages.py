"""Chosen requests: the page that shows each whole, their decisions under one second factor, and what came of each."""

from typing import Any, Final

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from desk import clock
from desk.actions import selection, upcoming
from desk.actions.selection import CannotDecide, Card
from desk.machines.decisions import Act
from desk.people import roles, stepup
from desk.people.signing import signed_lists
from desk.views.rendering import show
from desk.views.selection.forms import SelectionForm, untouched
from desk.web.requests import DeskRequest, scope_of

OUTCOMES: Final = "selection"


@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_variables()
def review(request: DeskRequest) -> HttpResponse:
    """Each chosen request whole; posted, the decisions on those that are ticked."""
    _require_treasury(request)
    if request.method != "POST":
        return _review(request, request.GET.getlist("of"))
    form = SelectionForm(request.POST)
    if not form.is_valid():
        return _review(request, form.subjects, form=form, status=422)
    act = Act(request.user, clock.now(), request.session.session_key or "", answer=form.answer)
    try:
        outcomes = selection.decide(
            form.decisions(request.user), act=act, mark=form.cleaned_data["mark"], clock=clock.now
        )
    except CannotDecide as problem:
        return _review(request, form.subjects, form=form, refusal=str(problem), status=409)
    except stepup.CannotConfirm as problem:
        return _review(request, form.subjects, form=form, refusal=f"No decisions recorded. {problem}", status=409)
    request.session[OUTCOMES] = [[each.subject, each.reference, each.is_done, each.sentence] for each in outcomes]
    return redirect("selection-done")


@never_cache
@require_POST
@sensitive_variables()
def challenge(request: DeskRequest) -> JsonResponse:
    """The review's form in, the argument of `navigator.credentials.get` for its exact list out."""
    _require_treasury(request)
    form = SelectionForm(request.POST)
    try:
        text = selection.checked(request.user, form.decisions(request.user), mark=request.POST.get("mark", ""))
        options = stepup.challenge(
            person=request.user,
            purpose=signed_lists.PURPOSE,
            digest=signed_lists.digest_of(text),
            session_key=request.session.session_key or "",
            now=clock.now(),
        )
    except (CannotDecide, stepup.CannotConfirm) as problem:
        return JsonResponse({"problem": str(problem)}, status=409)
    return JsonResponse(options)


@require_safe
def done(request: DeskRequest) -> HttpResponse:
    """What came of each decision of the last selection."""
    _require_treasury(request)
    names = ("subject", "reference", "is_done", "sentence")
    outcomes = [dict(zip(names, each, strict=True)) for each in request.session.get(OUTCOMES, [])]
    subjects = [each["subject"] for each in outcomes]
    cards = selection.cards(request.user, subjects, now=clock.now(), scope=scope_of(request))
    pages = {card.row.subject: card for card in cards}
    context = {
        "outcomes": [{**each, "card": pages.get(each["subject"])} for each in outcomes],
        "done": sum(each["is_done"] for each in outcomes),
        "upcoming": upcoming.upcoming(request.user, scope_of(request)),
    }
    return show(request, "desk/selection_done.html", context)


def _review(
    request: DeskRequest,
    subjects: list[str],
    *,
    form: SelectionForm | None = None,
    refusal: str = "",
    status: int = 200,
) -> HttpResponse:
    now, cards = clock.now(), list[Card]()
    try:
        cards = selection.cards(request.user, subjects, now=now, scope=scope_of(request))
    except CannotDecide as problem:
        refusal, status = str(problem), 409
    context: dict[str, Any] = {
        "now": now,
        "form": form or SelectionForm(),
        "items": [form.item(card) if form else untouched(card) for card in cards],
        "mark": selection.mark_of(request.user, cards),
        "refusal": refusal,
        "upcoming": None if cards else upcoming.upcoming(request.user, scope_of(request)),
    }
    return show(request, "desk/selection.html", context, status=status)


def _require_treasury(request: DeskRequest) -> None:
    if not request.user.has_role(roles.TREASURY):
        raise PermissionDenied("Only treasury can decide on requests.")
