"""Channels: where the desk posts what happens, for administrators."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods, require_safe

from desk import clock
from desk.forms import SecondFactorForm
from desk.incidents.kinds import Severity
from desk.models import Person
from desk.notifications import channels
from desk.notifications.channels import CannotChange
from desk.notifications.models import Channel, Medium
from desk.people.stepup import CannotConfirm
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from wire.values import Secret

TURNED, ENDED = "turned", "ended"
DOES = {
    TURNED: (
        "New secret",
        "Create new secret",
        "For two more days, messages will also be signed with the current secret.",
    ),
    ENDED: (
        "Remove channel",
        "Remove channel",
        "No more messages will be posted to this channel. Past deliveries stay listed.",
    ),
}


class ChannelForm(forms.Form):
    """Where a channel posts and what it receives."""

    kind = forms.ChoiceField(label="Kind", choices=((Medium.WEBHOOK, "Signed webhook"), (Medium.CHAT, "Chat")))
    name = forms.CharField(label="Name", max_length=60)
    address = forms.CharField(
        label="Address",
        max_length=channels.LONGEST_ADDRESS,
        help_text="A public https:// address. It is stored encrypted and never shown again.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "inputmode": "url"}),
    )
    least = forms.ChoiceField(
        label="Incidents",
        choices=((Severity.MEDIUM, "All"), (Severity.HIGH, "High and critical"), (Severity.CRITICAL, "Critical only")),
    )
    decisions = forms.BooleanField(label="Also requests that need a decision", required=False, initial=True)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors:
            for name, problem in channels.problems(**{key: cleaned[key] for key in _JUDGED}).items():
                self.add_error(name, problem)
        return cleaned


_JUDGED = ("kind", "name", "address", "least")


class ConfirmForm(SecondFactorForm):
    """The second factor for what was reviewed."""


@require_safe
def listed(request: DeskRequest) -> HttpResponse:
    """Every channel that is in use."""
    return _list(request)


@require_http_methods(["GET", "HEAD", "POST"])
def add(request: DeskRequest) -> HttpResponse:
    """Add a channel: its details, then a second factor for exactly these, then the secret of a webhook, once."""
    person = _keeper(request)
    if request.method != "POST":
        return _add_page(request, ChannelForm())
    form = ChannelForm(request.POST)
    if not form.is_valid():
        return _add_page(request, form, status=422)
    if "confirmed" not in request.POST:
        return _add_page(request, form, checked=ConfirmForm())
    checked = ConfirmForm(request.POST)
    if not checked.is_valid():
        return _add_page(request, form, checked=checked, status=422)
    try:
        row, secret = channels.add(**form.cleaned_data, **_signed(request, person, checked))
    except (CannotChange, CannotConfirm) as problem:
        return _add_page(request, form, checked=checked, refusal=str(problem), status=409)
    return _list(request, made=row, secret=_shown_once(secret))


@require_http_methods(["GET", "HEAD", "POST"])
def change(request: DeskRequest, channel_id: int, action: str) -> HttpResponse:
    """Renew the secret of a channel or remove it, with a second factor."""
    person, row = _keeper(request), get_object_or_404(Channel, pk=channel_id, ended_at=None)
    if request.method != "POST":
        return _change_page(request, row, action, ConfirmForm())
    form = ConfirmForm(request.POST)
    if not form.is_valid():
        return _change_page(request, row, action, form, status=422)
    signed = {"channel_id": row.pk, **_signed(request, person, form)}
    try:
        if action == ENDED:
            channels.remove(**signed)
            messages.success(request, f"Channel {row.name} removed. No more messages will be posted to it.")
            return redirect("channels")
        row, secret = channels.turn_secret(**signed)
    except (CannotChange, CannotConfirm) as problem:
        return _change_page(request, row, action, form, refusal=str(problem), status=409)
    return _list(request, made=row, secret=_shown_once(secret))


def _signed(request: DeskRequest, person: Person, form: SecondFactorForm) -> dict[str, Any]:
    key = request.session.session_key or ""
    return {"actor": person, "answer": form.answer, "session_key": key, "now": clock.now()}


def _shown_once(secret: Secret | None) -> str:
    return channels.shown_once(secret) if secret is not None else ""


def _list(request: DeskRequest, **words: Any) -> HttpResponse:
    person = _reader(request)
    context = {
        "now": clock.now(),
        "channels": Channel.objects.filter(ended_at=None).select_related("made_by").order_by("name"),
        "may_keep": channels.may_keep(person),
        "made": None,
        **words,
    }
    return show(request, "desk/channels.html", context)


def _add_page(
    request: DeskRequest,
    form: ChannelForm,
    *,
    checked: ConfirmForm | None = None,
    refusal: str = "",
    status: int = 200,
) -> HttpResponse:
    details = form.cleaned_data if checked is not None else {}
    context = {
        "form": form,
        "checked": checked,
        "details": details,
        "host": channels.target_of(details["address"]).host if details else "",
        "kind_label": dict(form.fields["kind"].choices).get(details.get("kind", "")),  # type: ignore[attr-defined]
        "least_label": dict(form.fields["least"].choices).get(details.get("least", "")),  # type: ignore[attr-defined]
        "digest": channels.digest_of_new(**details) if details else "",
        "purpose": channels.PURPOSE,
        "refusal": refusal,
    }
    return show(request, "desk/channel_add.html", context, status=status)


def _change_page(
    request: DeskRequest, row: Channel, action: str, form: ConfirmForm, *, refusal: str = "", status: int = 200
) -> HttpResponse:
    title, button, effect = DOES[action]
    context = {
        "row": row,
        "title": title,
        "button": button,
        "effect": effect,
        "form": form,
        "digest": channels.digest_of_change(row, action),
        "purpose": channels.PURPOSE,
        "refusal": refusal,
    }
    return show(request, "desk/channel_change.html", context, status=status)


def _reader(request: DeskRequest) -> Person:
    person = request.user
    if not channels.may_read(person):
        raise PermissionDenied("Only administrators and auditors can see channels.")
    return person


def _keeper(request: DeskRequest) -> Person:
    person = request.user
    if not channels.may_keep(person):
        raise PermissionDenied("Only administrators can manage channels.")
    return person
