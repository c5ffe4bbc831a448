"""People: the list, changes with a second administrator, and deactivation."""

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from desk import clock, rooms
from desk.models import ApiToken, Person
from desk.people import factors, own_sessions, roles, scopes, tokens
from desk.people.stepup import CannotConfirm
from desk.staff import (
    changes,
    deactivation,
    directory,
    invitations,
    notices,
    role_boxes,
    rules,
    states,
)
from desk.staff.models import Invitation, PersonChange
from desk.staff.rules import CannotChange
from desk.views import trail
from desk.views.people_forms import (
    Chosen,
    ConfirmForm,
    ListForm,
    PersonChangeForm,
    RejectForm,
    chosen_roles,
)
from desk.views.rendering import show
from wire.values import Secret

LAST_EVENTS = 30
LAST_CHANGES = 10
DOES = {
    states.ROLES: "Change roles",
    states.FACTORS: "Reset second factors",
    states.ACCESS: "Reset password and second factors",
    states.REACTIVATE: "Reactivate account",
    states.DEACTIVATE: "Deactivate account",
    invitations.LINK: "Create link",
}
PURPOSES = {states.DEACTIVATE: deactivation.PURPOSE, invitations.LINK: invitations.LINK_PURPOSE}
# On the page of the person, as soon as something was chosen there.
CHANGE_PARTS = {"review": "desk/person/_roles_review.html"}
View = Callable[..., HttpResponse]


def _for(rule: Callable[[Person], bool], sentence: str) -> Callable[[View], View]:
    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponse:
            if not (isinstance(request.user, Person) and rule(request.user)):
                raise PermissionDenied(sentence)
            return view(request, *arguments, **named)

        return guarded

    return decorate


readers = _for(rules.may_read, "Only administrators and auditors can see people.")
keepers = _for(rules.may_keep, "Only administrators can invite and manage people.")


@require_safe
@readers
def people(request: HttpRequest) -> HttpResponse:
    """Everybody, or those of one role or state."""
    form = ListForm(request.GET)
    wish = form.wish()
    context = {
        "now": clock.now(),
        "lines": directory.everybody(reader=_reader(request), now=clock.now(), **wish),
        "wish": wish,
        "roles": roles.LABELS.items(),
        "states": directory.STATES.items(),
        "may_keep": rules.may_keep(_reader(request)),
    }
    return show(request, "desk/people.html", context, parts={"people": "desk/people/_list.html"})


@require_safe
@readers
def person(request: HttpRequest, person_id: int) -> HttpResponse:
    """One person: roles, factors, sessions, tokens, what waits and what happened."""
    return _page(request, person_id)


@require_http_methods(["GET", "HEAD", "POST"])
@keepers
def change(request: HttpRequest, person_id: int, kind: str) -> HttpResponse:
    """Request a change: what it does, the reason, and the second factor for it."""
    if kind not in DOES:
        raise Http404("Change not found.")
    member, chosen = _person(person_id), chosen_roles(request) if kind == states.ROLES else Chosen()
    if request.method != "POST":
        return _change_page(request, member, kind, chosen, PersonChangeForm())
    form = PersonChangeForm(request.POST)
    if not form.is_valid():
        return _change_page(request, member, kind, chosen, form, status=422)
    try:
        if kind == invitations.LINK:
            return _link(request, *invitations.make_link(**_details(request, member, form)))
        sentence = _changed(request, member, kind, chosen, form)
    except (CannotChange, CannotConfirm) as problem:
        return _change_page(request, member, kind, chosen, form, refusal=str(problem), status=409)
    messages.success(request, sentence)
    return redirect("person", person_id)


@require_POST
@keepers
def confirm(request: HttpRequest, change_id: int) -> HttpResponse:
    """Confirm a change as the second administrator."""
    row, form = _change(change_id), ConfirmForm(request.POST)
    if not form.is_valid():
        return _page(request, row.person_id, status=422, confirm_form=form)
    try:
        changes.confirm(
            change_id=change_id,
            actor=_reader(request),
            digest=form.cleaned_data["digest"],
            answer=form.answer,
            session_key=request.session.session_key or "",
            now=clock.now(),
        )
    except (CannotChange, CannotConfirm) as problem:
        return _page(request, row.person_id, status=409, confirm_form=form, refusal=str(problem))
    messages.success(request, f"{row.person.username}: changed and signed out everywhere.")
    return redirect("person", row.person_id)


@require_POST
@keepers
def reject(request: HttpRequest, change_id: int) -> HttpResponse:
    """Reject a change or, as its requester, withdraw it."""
    row, form = _change(change_id), RejectForm(request.POST)
    form.is_valid()
    comment, session_key = form.cleaned_data.get("comment", ""), request.session.session_key or ""
    try:
        changes.reject(
            change_id=change_id, actor=_reader(request), comment=comment, session_key=session_key, now=clock.now()
        )
    except CannotChange as problem:
        form.add_error("comment", str(problem))
        return _page(request, row.person_id, status=422, reject_form=form)
    messages.success(request, f"{row.person.username}: change rejected. No changes made.")
    return redirect("person", row.person_id)


@require_POST
@keepers
def end_session(request: HttpRequest, person_id: int) -> HttpResponse:
    """End one session of somebody else."""
    ended = own_sessions.end_session(
        person := _person(person_id),
        handle=request.POST.get("session", ""),
        session_key=request.session.session_key or "",
        now=clock.now(),
        actor=_reader(request),
    )
    name = person.get_username()
    messages.success(request, f"{name}: session ended." if ended else f"{name}: this session had already ended.")
    return redirect("person", person_id)


@require_POST
@keepers
def revoke_token(request: HttpRequest, person_id: int, token_id: int) -> HttpResponse:
    """End one token of somebody else, at once."""
    row = ApiToken.objects.filter(pk=token_id, person_id=person_id).first()
    if row is None:
        raise Http404("Token not found.")
    ended = tokens.revoke(token_id=row.pk, now=clock.now(), actor=_reader(request))
    messages.success(request, f"Token {row.name}: revoked." if ended else f"Token {row.name}: already revoked.")
    return redirect("person", person_id)


def _details(request: HttpRequest, member: Person, form: PersonChangeForm) -> dict[str, Any]:
    return {
        "person_id": member.pk,
        "reason": form.cleaned_data["reason"],
        "actor": _reader(request),
        "digest": form.cleaned_data["digest"],
        "answer": form.answer,
        "session_key": request.session.session_key or "",
        "now": clock.now(),
    }


def _changed(request: HttpRequest, member: Person, kind: str, chosen: Chosen, form: PersonChangeForm) -> str:
    details = _details(request, member, form)
    if kind == states.DEACTIVATE:
        if (request_row := deactivation.deactivate(**details)) is not None:
            return request_row.sentence
        return "Account deactivated. All sessions and connections were ended, all tokens and links revoked."
    if chosen.problem:
        raise CannotChange(f"No changes made. {chosen.problem}")
    row = changes.request(kind=kind, grants=chosen.grants, until=chosen.until, **details)
    return row.sentence


def _change_page(
    request: HttpRequest,
    member: Person,
    kind: str,
    chosen: Chosen,
    form: PersonChangeForm,
    *,
    refusal: str = "",
    status: int = 200,
) -> HttpResponse:
    voids = kind in {states.DEACTIVATE, states.ROLES}
    context = {
        "now": clock.now(),
        "member": member,
        "kind": kind,
        "title": DOES[kind],
        "chosen": chosen,
        "roles_now": scopes.words(member.grants),
        "roles_then": scopes.words(chosen.grants),
        **role_boxes.differences(member, chosen.grants),
        "obstacle": _obstacle(request, member, kind, chosen),
        "words": deactivation.open_words(member) if voids else [],
        "work": rooms.open_work(member) if voids else [],
        "purpose": PURPOSES.get(kind, changes.ASK),
        "digest": changes.digest_of(member, kind, chosen.grants, chosen.until),
        **_by_whom(member, kind),
        "refusal": refusal,
        "form": form,
    }
    return show(request, "desk/person_change.html", context, parts=CHANGE_PARTS, status=status)


def _by_whom(member: Person, kind: str) -> dict[str, Any]:
    """Whether one administrator is enough and, for a deactivation, why not."""
    if kind == states.DEACTIVATE:
        why_two = deactivation.why_two(member)
        return {"why_two": why_two, "alone": not why_two}
    by_mail = {"by_mail": notices.goes_by_mail()}
    return by_mail | {"alone": kind == invitations.LINK or changes.is_alone(member, kind, now=clock.now())}


def _obstacle(request: HttpRequest, member: Person, kind: str, chosen: Chosen) -> str:
    """Why this can't be requested now, before anything is filled in."""
    if _reader(request).pk == member.pk:
        return "You can't change your own roles, factors or account. Ask another administrator."
    if kind == states.DEACTIVATE:
        if not member.is_active:
            return "This account is already deactivated."
        waiting = PersonChange.objects.filter(person=member, state=states.REQUESTED, kind=kind)
        return "A second administrator must confirm this change." if waiting.exists() else ""
    if kind == invitations.LINK:
        return invitations.link_obstacle(member, _reader(request))
    if PersonChange.objects.filter(person=member, state=states.REQUESTED).exists():
        return "Another change for this person is pending and must be decided first."
    return chosen.problem or rules.obstacle(kind, member, chosen.grants, until=chosen.until, now=clock.now())


def _page(request: HttpRequest, person_id: int, *, status: int = 200, refusal: str = "", **forms: Any) -> HttpResponse:
    member, reader, now = _person(person_id), _reader(request), clock.now()
    rows = PersonChange.objects.filter(person=member).select_related("requested_by", "decided_by")
    waiting = rows.filter(state=states.REQUESTED).first()
    context = {
        "now": now,
        "member": member,
        "state": directory.state_of(member),
        "state_label": directory.STATES[directory.state_of(member)],
        "email": directory.shown_email(member, reader),
        "held": scopes.words(member.grants),
        "until": None if member.is_past_grants else member.grants_until,
        "roles_then": scopes.words(member.grants_after or ()),
        "boxes": role_boxes.boxes(member.grants),
        "factors": _factors(member),
        "sessions": own_sessions.sessions(member, session_key=request.session.session_key or "", now=now),
        "tokens": ApiToken.objects.filter(person=member).order_by("-pk")[:20],
        **_arrival(member, reader),
        "waiting": waiting,
        "past": rows.exclude(state=states.REQUESTED).order_by("-updated_at", "-pk")[:LAST_CHANGES],
        "trail": trail.newest_of(f"person:{member.pk}", most=LAST_EVENTS),
        "may_keep": rules.may_keep(reader),
        "is_self": reader.pk == member.pk,
        "may_confirm": waiting is not None and rules.may_keep(reader) and reader.pk != waiting.requested_by_id,
        "purpose": changes.CONFIRM,
        "refusal": refusal,
        "confirm_form": ConfirmForm(),
        "reject_form": RejectForm(),
        **forms,
    }
    return show(request, "desk/person.html", context, parts={"person": "desk/person/_person.html"}, status=status)


def _arrival(member: Person, reader: Person) -> dict[str, Any]:
    """The person's link, and whether treasury has confirmed who came by it."""
    return {
        "link_obstacle": invitations.link_obstacle(member, reader),
        "by_mail": notices.goes_by_mail(),
        "is_new_colleague": member.unconfirmed_since is not None and roles.TREASURY in member.roles,
        "link": Invitation.objects.filter(person=member, used_at=None, ended_at=None).first(),
    }


def _factors(member: Person) -> list[str]:
    names = {"totp": "authenticator app", "webauthn": "passkey", "recovery_codes": "recovery codes"}
    return sorted(names.get(kind, kind) for kind in factors.by_number(member).values())


def _link(request: HttpRequest, row: Invitation, code: Secret | None) -> HttpResponse:
    """The link, once, for the administrator who hands it over; or that it left by mail."""
    if code is None:
        messages.success(request, f"The link will be e-mailed to {row.email}. Older links are no longer valid.")
        return redirect("person", row.person_id)
    address = invitations.shown_once(code, address=request.build_absolute_uri(reverse("begin")))
    return show(request, "desk/person_link.html", {"now": clock.now(), "row": row, "address": address})


def _reader(request: HttpRequest) -> Person:
    return cast(Person, request.user)


def _person(person_id: int) -> Person:
    row = Person.objects.filter(pk=person_id).first()
    if row is None:
        raise Http404("Person not found.")
    return row


def _change(change_id: int) -> PersonChange:
    row = PersonChange.objects.filter(pk=change_id).first()
    if row is None:
        raise Http404("Change not found.")
    return row
