"""Watched addresses: the list, the page of one with its movements, and what people do there."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from chaindata import rules
from chaindata.shared import addresses
from chaindata.shared.access import allowed, number, readable
from chaindata.watching import pages, requests
from chaindata.watching.models import LONGEST_NOTE, LONGEST_REASON, LONGEST_TITLE, Purpose, WatchedAddress
from desk import clock
from desk.views.rendering import show
from desk.web.requests import DeskRequest, prefilled

LIST_PARTS = {"rows": "chaindata/watched/_rows.html"}
PARTS = {name: f"chaindata/watched/_{name}.html" for name in ("facts", "movements")}


class WatchForm(forms.Form):
    """An address to watch, in any form, with its name and purpose."""

    address = forms.CharField(
        label="Address",
        max_length=200,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "class": "mono"}),
        help_text="A cash, legacy or SLP address.",
    )
    title = forms.CharField(label="Name", max_length=LONGEST_TITLE, help_text="Shown in alerts, for example: Vault 2.")
    purpose = forms.ChoiceField(label="Purpose", choices=Purpose.choices)
    note = forms.CharField(
        label="Note", max_length=LONGEST_NOTE, required=False, widget=forms.Textarea(attrs={"rows": 2})
    )

    def clean_address(self) -> str:
        """The printed form of the address, or why the text is none."""
        try:
            return addresses.printed(self.cleaned_data["address"].strip())
        except addresses.NotAnAddress as problem:
            raise forms.ValidationError(str(problem), code="no-address") from None


class ReasonForm(forms.Form):
    """Why, for the audit trail."""

    reason = forms.CharField(label="Reason", max_length=LONGEST_REASON, widget=forms.Textarea(attrs={"rows": 2}))


class ReviewForm(ReasonForm):
    """Why a movement is in order; without its number, why all that only received are."""

    movement = forms.IntegerField(min_value=1, required=False, widget=forms.HiddenInput)

    def arguments(self) -> dict[str, Any]:
        """As `requests.review_movements` takes them."""
        return {"movement_id": self.cleaned_data["movement"], "reason": self.cleaned_data["reason"]}


@require_safe
@readable
def watched_list(request: DeskRequest) -> HttpResponse:
    """All addresses that are or were watched, and what waits for a review."""
    context = {"now": clock.now(), "rows": list(requests.listing()), "topic": requests.TOPIC}
    context["may_watch"] = rules.may_watch(request.user)
    return show(request, "chaindata/watched.html", context, parts=LIST_PARTS)


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(rules.may_watch, requests.ONLY_KEEPERS)
def new(request: DeskRequest) -> HttpResponse:
    """The form of one more address; an address in the query is filled in."""
    if request.method != "POST":
        return _form_page(request, WatchForm(initial=prefilled(request, "address", longest=200)))
    form = WatchForm(request.POST)
    if not form.is_valid():
        return _form_page(request, form, status=422)
    try:
        row = requests.watch(**form.cleaned_data, **_who(request))
    except requests.CannotWatch as problem:
        form.add_error(None, str(problem))
        return _form_page(request, form, status=409)
    messages.success(request, f"Watching {row.title} from block {row.from_height:,}.")
    return redirect("chain-watched-address", row.pk)


@require_safe
@readable
def watched(request: DeskRequest, watched_id: int) -> HttpResponse:
    """One address and its movements."""
    return _page(request, get_object_or_404(requests.listing(), pk=watched_id))


@require_POST
@allowed(rules.may_review, requests.ONLY_REVIEWERS)
def review(request: DeskRequest, watched_id: int) -> HttpResponse:
    """Review one movement, or all that only received."""
    row, form = get_object_or_404(requests.listing(), pk=watched_id), ReviewForm(request.POST)
    if not form.is_valid():
        return _page(request, row, problem=_first(form), status=422)
    try:
        count = requests.review_movements(watched_id=row.pk, **form.arguments(), **_who(request))
    except requests.CannotWatch as problem:
        return _page(request, row, problem=str(problem), status=409)
    moved = "movement" if count == 1 else "movements"
    messages.success(request, f"{row.title}: {count} {moved} marked as reviewed.")
    return redirect("chain-watched-address", row.pk)


@require_POST
@allowed(rules.may_watch, requests.ONLY_KEEPERS)
def stop(request: DeskRequest, watched_id: int) -> HttpResponse:
    """Stop watching an address."""
    row, form = get_object_or_404(requests.listing(), pk=watched_id), ReasonForm(request.POST)
    if not form.is_valid():
        return _page(request, row, problem=_first(form), status=422)
    try:
        requests.stop(watched_id=row.pk, reason=form.cleaned_data["reason"], **_who(request))
    except requests.CannotWatch as problem:
        return _page(request, row, problem=str(problem), status=409)
    messages.success(request, f"{row.title} is no longer watched.")
    return redirect("chain-watched")


def _form_page(request: DeskRequest, form: WatchForm, *, status: int = 200) -> HttpResponse:
    return show(request, "chaindata/watched_new.html", {"form": form}, status=status)


def _page(request: DeskRequest, row: WatchedAddress, *, problem: str = "", status: int = 200) -> HttpResponse:
    person = request.user
    context: dict[str, Any] = {"now": clock.now(), "row": row, "problem": problem, "form": ReasonForm()}
    context |= {"movements": pages.movements(row, page=number(request, "page") or 1), "topic": row.subject}
    context |= {"may_watch": rules.may_watch(person), "may_review": rules.may_review(person)}
    return show(request, "chaindata/watched_address.html", context, parts=PARTS, status=status)


def _first(form: ReasonForm) -> str:
    return " ".join(str(sentence) for each in form.errors.values() for sentence in each)


def _who(request: DeskRequest) -> dict[str, Any]:
    return {"person": request.user, "now": clock.now(), "session_key": request.session.session_key or ""}
