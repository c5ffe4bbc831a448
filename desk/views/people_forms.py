"""Administrators' forms about people. Limits are checked where the text is stored, so that nothing typed is lost."""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django import forms
from django.http import HttpRequest

from desk.forms import SecondFactorForm
from desk.people import roles
from desk.staff import directory, invitations, role_boxes


class ListForm(forms.Form):
    """The filter of the list. Invalid values are ignored."""

    role = forms.ChoiceField(required=False, choices=[("", "Any"), *roles.LABELS.items()])
    state = forms.ChoiceField(required=False, choices=[("", "Any"), *directory.STATES.items()])
    q = forms.CharField(required=False, max_length=100)

    def wish(self) -> dict[str, str]:
        """What was chosen."""
        self.is_valid()
        chosen = self.cleaned_data
        return {"role": chosen.get("role", ""), "state": chosen.get("state", ""), "words": chosen.get("q", "")}


class InviteForm(forms.Form):
    """Whom the link is for."""

    email = forms.CharField(
        label="E-mail",
        help_text="The invitee must enter this address when they open the link.",
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "off", "autofocus": True}),
    )
    name = forms.CharField(
        label="Username",
        help_text="Used for signing in and never reused. Defaults to the part before @.",
        required=False,
        max_length=150,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "autocapitalize": "off"}),
    )
    roles = forms.MultipleChoiceField(
        label="Roles",
        required=False,
        choices=role_boxes.every_grant,
        widget=forms.CheckboxSelectMultiple,
        error_messages={"invalid_choice": "Unknown role or account."},
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors:
            cleaned["name"] = cleaned["name"] or invitations.name_of(cleaned["email"])
            for name, problem in invitations.problems(**self.details()).items():
                self.add_error(name, problem)
        return cleaned

    def early_problems(self) -> list[str]:
        """The problems of what was typed so far; empty fields are not reported yet."""
        typed = {name for name in self.fields if self[name].data}
        typed |= {"name"} if "email" in typed else set()
        return [str(sentence) for name, sentences in self.errors.items() if name in typed for sentence in sentences]

    def details(self) -> dict[str, Any]:
        """The details as arguments of the domain."""
        cleaned = self.cleaned_data
        return {"name": cleaned["name"], "email": cleaned["email"], "grants": sorted(cleaned["roles"])}


class ConfirmForm(SecondFactorForm):
    """A second factor for exactly what was shown."""

    digest = forms.RegexField(r"^[0-9a-f]{64}$", widget=forms.HiddenInput)


class PersonChangeForm(ConfirmForm):
    """The same, with the reason."""

    reason = forms.CharField(
        label="Reason",
        help_text="Recorded in the audit trail.",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 2}),
    )


class RejectForm(forms.Form):
    """Why not."""

    comment = forms.CharField(label="Reason", required=False, strip=False, widget=forms.Textarea(attrs={"rows": 2}))


@dataclass(frozen=True, slots=True)
class Chosen:
    """The grants that are to be given; `until` is their end, None for good; `problem` says why that is no moment."""

    grants: list[str] = field(default_factory=list)
    last_day: str = ""
    until: datetime | None = None
    problem: str = ""


def chosen_roles(request: HttpRequest) -> Chosen:
    """What the query or the form says of roles: those that exist, in their order, and the last day of new ones."""
    sent = {*request.GET.getlist("role"), *request.POST.getlist("role")}
    grants = [grant for grant, _ in role_boxes.every_grant() if grant in sent]
    last_day = (request.POST.get("last_day") or request.GET.get("last_day") or "").strip()
    if not last_day:
        return Chosen(grants)
    try:
        midnight = datetime.combine(date.fromisoformat(last_day), time(), UTC)
        return Chosen(grants, last_day, midnight + timedelta(days=1))
    except (ValueError, OverflowError):
        return Chosen(grants, last_day[:20], problem="Enter the last day in the form 2026-12-31.")
