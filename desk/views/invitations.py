"""Inviting somebody, the page behind their one-time link, and the one where treasury confirms them."""

from datetime import datetime
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import SetPasswordForm
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from desk import clock
from desk.models import Person
from desk.people import factors, roles, scopes
from desk.people import invitations as first_links
from desk.people.stepup import CannotConfirm
from desk.staff import colleagues, invitations, notices, role_boxes, rules
from desk.staff.models import Invitation
from desk.staff.rules import CannotChange
from desk.views.people import keepers
from desk.views.people_forms import ConfirmForm, InviteForm
from desk.views.rendering import show
from desk.web.requests import DeskRequest

INVITE_PARTS = {"review": "desk/person/_invite_review.html"}
_BACKEND = "desk.people.accounts.PeopleBackend"


class InvitedForm(SetPasswordForm):  # type: ignore[type-arg]
    """A password, and the address that the link is bound to, which a person whom it was forwarded to does not know."""

    email = forms.CharField(
        label="The e-mail address you were invited with",
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )

    def __init__(self, row: Invitation, *arguments: Any, now: datetime) -> None:
        super().__init__(row.person, *arguments)
        self._row, self._now = row, now

    def clean_email(self) -> str:
        """Check the address; five wrong ones end the link."""
        typed = str(self.cleaned_data["email"])
        if not invitations.is_for(self._row, typed, now=self._now):
            raise forms.ValidationError(
                "This link is for a different e-mail address. It expires after five wrong entries."
            )
        return typed


@login_not_required
@never_cache
@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
def begin(request: Any) -> HttpResponse:
    """Choose a password. The code comes in the query, which is not logged, and then in the form."""
    code = (request.POST if request.method == "POST" else request.GET).get("code", "")
    now = clock.now()
    if (row := invitations.good_invitation(code, now=now)) is not None:
        return _invited(request, row, code, now)
    person = first_links.person_of(code)
    if person is None:
        return show(request, "account/begin.html", {"form": None}, status=404)
    form = SetPasswordForm(person, request.POST or None)
    if form.is_valid():
        with transaction.atomic():
            invitations.arrived(person, now=now)
            form.save()
        login(request, person, backend=_BACKEND)
        return redirect("mfa_index")
    return show(request, "account/begin.html", {"form": form, "code": code}, status=422 if form.errors else 200)


def _invited(request: Any, row: Invitation, code: str, now: datetime) -> HttpResponse:
    form = InvitedForm(row, request.POST or None, now=now)
    if not form.is_valid():
        return show(request, "account/begin.html", {"form": form, "code": code}, status=422 if form.errors else 200)
    with transaction.atomic():
        used = invitations.use(row, now=now)
        if used:
            form.save()
    if not used:
        return show(request, "account/begin.html", {"form": None}, status=404)
    login(request, row.person, backend=_BACKEND)
    return redirect("mfa_index")


@require_http_methods(["GET", "HEAD", "POST"])
def colleague(request: DeskRequest, person_id: int) -> HttpResponse:
    """Who arrived, and the second factor that lets their approvals count."""
    reader = request.user
    if not (reader.has_role(roles.TREASURY) or rules.may_keep(reader)):
        raise PermissionDenied("Only treasury can confirm a new colleague.")
    member = Person.objects.filter(pk=person_id, groups__name=roles.TREASURY).first()
    if member is None or not colleagues.may_see(reader, member):
        raise Http404("No treasurer found with this ID.")
    if request.method != "POST":
        return _colleague_page(request, member, ConfirmForm())
    form = ConfirmForm(request.POST)
    if not form.is_valid():
        return _colleague_page(request, member, form, status=422)
    try:
        colleagues.confirm(
            person_id=member.pk,
            actor=reader,
            digest=form.cleaned_data["digest"],
            answer=form.answer,
            session_key=request.session.session_key or "",
            now=clock.now(),
        )
    except (CannotChange, CannotConfirm) as problem:
        return _colleague_page(request, member, form, refusal=str(problem), status=409)
    messages.success(request, f"{member.get_username()} is confirmed. Their approvals now count.")
    return redirect("action")


def _colleague_page(
    request: DeskRequest, member: Person, form: ConfirmForm, *, refusal: str = "", status: int = 200
) -> HttpResponse:
    obstacle = colleagues.obstacle(member)
    if not obstacle and not colleagues.may_confirm(request.user, member):
        obstacle = f"This person must be confirmed by {colleagues.who_confirms(member)[1]}."
    context = {
        "now": clock.now(),
        "member": member,
        "roles": scopes.words(member.grants),
        "rests_until": factors.cooling_off_until(member, now=clock.now()),
        "obstacle": obstacle,
        "purpose": colleagues.PURPOSE,
        "digest": colleagues.digest_of(member),
        "refusal": refusal,
        "form": form,
    }
    return show(request, "desk/person_colleague.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@keepers
def invite(request: DeskRequest) -> HttpResponse:
    """Invite a person: the details, then a second factor for exactly these."""
    if request.method != "POST":
        return _invite_page(request, InviteForm())
    form = InviteForm(request.POST)
    is_part = bool(request.htmx)  # the review alone, read anew with each field
    if not form.is_valid():
        return _invite_page(request, form, status=200 if is_part else 422)
    if is_part or "digest" not in request.POST:
        return _invite_page(request, form, checked=ConfirmForm())
    confirmed = ConfirmForm(request.POST)
    if not confirmed.is_valid():
        return _invite_page(request, form, checked=confirmed, status=422)
    try:
        member = invitations.invite(
            **form.details(),
            actor=request.user,
            digest=confirmed.cleaned_data["digest"],
            answer=confirmed.answer,
            session_key=request.session.session_key or "",
            now=clock.now(),
        )
    except (CannotChange, CannotConfirm) as problem:
        return _invite_page(request, form, checked=confirmed, refusal=str(problem), status=409)
    sentence = "Another administrator must hand over the link from this page."
    if notices.goes_by_mail():
        sentence = f"The link will be e-mailed to {member.email}."
    messages.success(request, f"{member.get_username()} has been invited. {sentence}", extra_tags="invitation")
    return redirect("person", member.pk)


def _invite_page(
    request: DeskRequest,
    form: InviteForm,
    *,
    checked: ConfirmForm | None = None,
    refusal: str = "",
    status: int = 200,
) -> HttpResponse:
    details = form.details() if checked is not None else {}
    context = {
        "now": clock.now(),
        "form": form,
        "checked": checked,
        "details": details,
        "early_problems": form.early_problems() if request.htmx and not details else [],
        "roles_then": scopes.words(details.get("grants", ())),
        "boxes": role_boxes.boxes(form["roles"].value() or ()),
        "digest": invitations.digest_of(**details) if details else "",
        "purpose": invitations.PURPOSE,
        "alone": settings.DEMO,
        "by_mail": notices.goes_by_mail(),
        "refusal": refusal,
    }
    return show(request, "desk/person_invite.html", context, parts=INVITE_PARTS, status=status)
