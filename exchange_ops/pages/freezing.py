"""Freezes that hold at every account: of a currency, of a destination, of everything. One person orders, two lift."""

from typing import Any, Final
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods, require_safe

from desk import clock
from desk.models import Person
from desk.people.stepup import CannotConfirm
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.addresses import destinations
from exchange_ops.market.models import Currency
from exchange_ops.payees import states as payee_states
from exchange_ops.payees.models import Payee
from exchange_ops.policy import freezes
from exchange_ops.policy.models import Freeze
from exchange_ops.shared import rules
from exchange_ops.shared.forms import LONGEST_REASON, DecisionForm, ReasonForm
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import posted, requires

ONLY: Final = "Only treasury and administrators for all accounts can order this freeze."
PARTS: Final = {"releases": "exchange_ops/policy/_releases.html"}


class ThawForm(DecisionForm):
    """One person's agreement to let money leave again."""

    comment = forms.CharField(
        label="Reason",
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        error_messages={"required": "Enter a reason for lifting the freeze."},
    )


class ScopeForm(forms.Form):
    """What is to be frozen at every account."""

    KINDS: Final = (
        (Freeze.CURRENCY, "A currency"),
        (Freeze.DESTINATION, "A destination"),
        (Freeze.EVERYTHING, "Everything"),
    )

    kind = forms.ChoiceField(
        label="Freeze",
        choices=KINDS,
        error_messages={"required": "Choose what to freeze.", "invalid_choice": "Choose what to freeze."},
    )
    currency = forms.ChoiceField(label="Currency", required=False)
    payee = forms.ModelChoiceField(
        label="Payee", required=False, queryset=Payee.objects.none(), empty_label="Enter an address"
    )
    address = forms.CharField(label="Address", required=False, max_length=destinations.LONGEST_ADDRESS)

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        codes = Currency.objects.order_by("code").values_list("code", flat=True)
        self.fields["currency"].choices = [("", "Choose a currency"), *((code, code) for code in codes)]  # type: ignore[attr-defined]
        payees = self.fields["payee"]
        payees.queryset = Payee.objects.filter(state__in=payee_states.TABLE.open).order_by("title", "pk")  # type: ignore[attr-defined]
        payees.label_from_instance = _payee_label  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Each kind with what it is of, and with nothing else."""
        cleaned = super().clean() or {}
        kind, payee, address = cleaned.get("kind"), cleaned.get("payee"), (cleaned.get("address") or "").strip()
        if kind == Freeze.CURRENCY and not cleaned.get("currency") and "currency" not in self.errors:
            self.add_error("currency", "Choose the currency to freeze.")
        if kind == Freeze.DESTINATION and "payee" not in self.errors and "address" not in self.errors:
            self._check_destination(payee, address)
        return cleaned

    def freeze(self) -> Freeze:
        """The unsaved freeze, from a valid form."""
        cleaned = self.cleaned_data
        freeze = Freeze(kind=cleaned["kind"])
        if freeze.kind == Freeze.CURRENCY:
            freeze.currency = cleaned["currency"]
        elif freeze.kind == Freeze.DESTINATION:
            freeze.address = cleaned["payee"].address if cleaned["payee"] else cleaned["address"].strip()
            freeze.destination = destinations.identity(freeze.address)
        return freeze

    def _check_destination(self, payee: Payee | None, address: str) -> None:
        if payee is None and not address:
            self.add_error("address", "Choose a payee or enter the address to freeze.")
        elif payee is not None and address and destinations.identity(address) != destinations.identity(payee.address):
            self.add_error("address", "This is not the address of the chosen payee. Choose one of the two.")
        elif any(not "!" <= letter <= "~" for letter in address):
            self.add_error(
                "address", "An address has plain letters, digits and signs only. Copy it again from the source."
            )


@require_http_methods(["GET", "HEAD", "POST"])
@requires(rules.may_order_freeze, ONLY)
def new(request: DeskRequest) -> HttpResponse:
    """The form and, once it says what to freeze, what that stops and releases; sent, it begins the freeze."""
    if request.method != "POST":
        if accounts.number(request) is not None:  # its links lead to rows of every account
            return redirect(f"{request.path_info}?{request.GET.urlencode()}")
        return _render_form(request, ScopeForm(request.GET) if "kind" in request.GET else ScopeForm())
    form, reason = ScopeForm(request.POST), ReasonForm(request.POST)
    if not (form.is_valid() and reason.is_valid()):
        return _render_form(request, form, reason, status=422)
    key = request.session.session_key or ""
    words = {"reason": reason.cleaned_data["reason"], "now": clock.now(), "session_key": key}
    try:
        row = freezes.begin(form.freeze(), person=request.user, **words)
    except freezes.CannotFreeze as problem:
        return _render_form(request, form, reason, refusal=str(problem), status=409)
    messages.success(request, f"{row.title}: {row.stops}. Holds awaiting a decision will be released.")
    return redirect("wide-freeze", row.pk)


@require_safe
@requires(rules.may_see)
def freeze(request: DeskRequest, wide_freeze_id: int) -> HttpResponse:
    """One freeze that holds at every account, and its end."""
    return _render_page(request, _row(wide_freeze_id))


@posted(rules.may_thaw)
def lift(request: DeskRequest, wide_freeze_id: int) -> HttpResponse:
    """One person's vote to end it; the second vote ends it."""
    row, form = _row(wide_freeze_id), ThawForm(request.POST)
    if not form.is_valid():
        return _render_page(request, row, form, status=422)
    try:
        after = lifted(request, row, form)
    except (freezes.CannotThaw, CannotConfirm) as problem:
        return _render_page(request, _row(row.pk), form, refusal=str(problem), status=409)
    messages.success(request, f"{row.covered[:1].upper()}{row.covered[1:]}: {outcome(after)}")
    return redirect("wide-freeze", row.pk)


def lifted(request: DeskRequest, row: Freeze, form: ThawForm) -> Freeze:
    """Record this person's vote to end the freeze. Raises CannotThaw, CannotConfirm."""
    return freezes.thaw(
        freeze_id=row.pk,
        person=request.user,
        answer=form.answer,
        reason=form.cleaned_data["comment"],
        session_key=request.session.session_key or "",
        now=clock.now(),
    )


def outcome(after: Freeze) -> str:
    """What a vote to end a freeze led to."""
    if after.thawed_at is None:
        return "Approval recorded. A second treasurer must also approve."
    return "Freeze lifted. Payouts are possible again."


def state_of(active: Freeze | None, person: Person) -> dict[str, Any]:
    """The active freeze, if any, the votes to end it, and whether this person may vote."""
    votes = list(active.votes.select_related("person").order_by("at")) if active else []
    voted = any(vote.person_id == person.pk for vote in votes)
    digest = freezes.digest_of(active) if active else ""
    return {
        "frozen": active,
        "votes": votes,
        "voted": voted,
        "may_agree": active is not None and not voted and rules.may_lift_freeze(person, active.scope),
        "purpose": freezes.PURPOSE,
        "digest": digest,
        "drawn_for": digest[:16] or "open",
        "thaw_form": ThawForm(),
    }


def _row(number: int) -> Freeze:
    return get_object_or_404(Freeze.objects.select_related("frozen_by"), pk=number, account__isnull=True)


def _payee_label(row: Payee) -> str:
    return f"{row.title}, {row.currency} {row.address}"


def _render_form(
    request: DeskRequest, form: ScopeForm, reason: ReasonForm | None = None, *, refusal: str = "", status: int = 200
) -> HttpResponse:
    new = form.freeze() if form.is_bound and form.is_valid() else None
    context: dict[str, Any] = {"form": form, "reason_form": reason or ReasonForm(), "refusal": refusal, "new": new}
    if new is not None:
        fields = {name: form[name].value() or "" for name in form.fields}
        context |= {
            "already": freezes.same(new),
            "releases": freezes.would_release(new),
            "stops": freezes.would_stop(new),
            "preview_url": f"{request.path}?{urlencode(fields)}",
            "scope_fields": list(fields.items()),
        }
    return show(request, "exchange_ops/freeze_new.html", context, parts=PARTS, status=status)


def _render_page(
    request: DeskRequest, row: Freeze, form: ThawForm | None = None, *, refusal: str = "", status: int = 200
) -> HttpResponse:
    active = row if row.thawed_at is None else None
    context = {"now": clock.now(), "row": row, "refusal": refusal, **state_of(active, request.user)}
    if form is not None:
        context["thaw_form"] = form
    parts = {"freezes": "exchange_ops/policy/_wide.html"}
    return show(request, "exchange_ops/freeze.html", context, parts=parts, status=status)
