"""The page about going live: what holds, why it matters, and what to do about the rest."""

import uuid

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from desk import clock
from desk.models import Person
from desk.notifications import outgoing
from desk.notifications.audiences import Route
from desk.notifications.models import Notification, Stage
from desk.people import roles, stepup
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.going_live import answers, confirmations, items, trial, verdicts
from exchange_ops.going_live.confirmations import CannotConfirm
from exchange_ops.shared.views.access import posted, requires

ONLY = "Only administrators, treasury and auditors can see this page."
KEEPERS = "Only administrators can do this."


class ConfirmForm(forms.Form):
    """The comment of a confirmation: where and how it was done."""

    comment = forms.CharField(
        label="Where and how",
        max_length=confirmations.LONGEST_COMMENT,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


def may_see(person: Person) -> bool:
    """Administrators, treasury and auditors."""
    return person.has_role(roles.ADMIN, roles.TREASURY, roles.AUDITOR, scope="")


@require_safe
@requires(may_see, ONLY)
def page(request: DeskRequest) -> HttpResponse:
    """Every item as it is now."""
    return _page(request)


@posted(confirmations.may_confirm, KEEPERS)
def confirm(request: DeskRequest, name: str) -> HttpResponse:
    """Confirm an item that only a person can know."""
    form = ConfirmForm(request.POST)
    if not form.is_valid():
        return _page(request, name=name, form=form, status=422)
    try:
        confirmations.confirm(
            name,
            actor=request.user,
            comment=form.cleaned_data["comment"],
            session_key=request.session.session_key or "",
            now=clock.now(),
        )
    except CannotConfirm as problem:
        item = confirmations.SAYS.get(name, "Going live")
        messages.error(request, f"{item}: not confirmed. {problem}")
    else:
        messages.success(request, f"{confirmations.SAYS[name]}: confirmed and recorded in the audit trail.")
    return redirect("going-live")


@posted(confirmations.may_confirm, KEEPERS)
def test_mail(request: DeskRequest) -> HttpResponse:
    """Send a test mail to the reader, on the same path as every other mail."""
    person, now = request.user, clock.now()
    if not person.email or not settings.EMAIL_HOST:
        messages.warning(request, "No e-mail sent. Set up a mail server (EMAIL_URL) and add your e-mail address first.")
        return redirect("going-live")
    row = Notification(
        stage=Stage.TEST,
        subject=f"test-mail:{uuid.uuid4()}",
        kind="test",
        reference="test",
        title="Test e-mail",
        sentence="E-mail delivery works. No action needed.",
        url=request.path_info.removesuffix("test-mail/"),
        created_at=now,
        ended_at=now,
    )
    outgoing.post(row, [Route(person, by_email=True, in_browser=False, not_before=now)], (), now=now)
    sentence = f"Test e-mail to {person.email} queued. The Deliveries page shows whether the mail server accepted it."
    messages.success(request, sentence)
    return redirect("going-live")


@posted(trial.may_sign, "Only treasury can make trial signatures.")
def trial_signature(request: DeskRequest) -> HttpResponse:
    """Verify one trial signature by passkey, as an approval's is verified."""
    name = request.user.get_username()
    try:
        trial.sign(
            actor=request.user,
            credential=request.POST.get("passkey", ""),
            session_key=request.session.session_key or "",
            now=clock.now(),
        )
    except (trial.CannotSign, stepup.CannotConfirm) as problem:
        messages.error(request, f"{name}: {problem}")
    else:
        messages.success(request, f"Trial signature verified: this passkey of {name} can approve payouts here.")
    return redirect("going-live")


def _page(request: DeskRequest, *, name: str = "", form: ConfirmForm | None = None, status: int = 200) -> HttpResponse:
    now = clock.now()
    visit = verdicts.Visit(is_secure=request.is_secure(), host=request.get_host(), now=now)
    all_items = items.all_items(visit)
    context = {
        "now": now,
        "items": all_items,
        "answers": answers.all_answers(),
        "met": sum(item.verdict.holds for item in all_items),
        "may_confirm": confirmations.may_confirm(request.user),
        "trial": {"purpose": trial.PURPOSE, "digest": trial.digest_of(request.user)}
        if trial.may_sign(request.user)
        else None,
        "says": confirmations.SAYS,
        "refused": name,
        "form": form or ConfirmForm(),
        "fresh": ConfirmForm(),
    }
    return show(request, "exchange_ops/going_live.html", context, status=status)
