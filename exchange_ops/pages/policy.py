"""The rules in force and their changes; and freezing, which one person can do and two have to end."""

from typing import Any

from django.contrib import messages
from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from desk import clock
from desk.models import Person
from desk.people.stepup import CannotConfirm
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.pages import freezing
from exchange_ops.pages.freezing import ThawForm
from exchange_ops.policy import freezes, quorum
from exchange_ops.policy.models import Freeze, PolicyVersion
from exchange_ops.policy_changes import rules as change_rules
from exchange_ops.policy_changes import states as change_states
from exchange_ops.policy_changes import workflow
from exchange_ops.policy_changes.models import PolicyChange
from exchange_ops.policy_changes.views import (
    approval_groups,
    named_limits,
    payout_rules_in_words,
    tiers_by_account,
)
from exchange_ops.shared import rules
from exchange_ops.shared.forms import ReasonForm
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import posted, requires

LAST_FREEZES, LAST_VERSIONS = 10, 20


@require_safe
@requires(rules.may_see)
def policy(request: DeskRequest) -> HttpResponse:
    """The rules in force, the open changes, and the freezes."""
    return _render_page(request)


@require_safe
@requires(rules.may_see)
def frozen_note(request: DeskRequest) -> HttpResponse:
    """The note on payment forms while payments are frozen; empty otherwise."""
    frozen = freezes.active_at(accounts.current(request))
    return show(request, "exchange_ops/policy/_frozen_note.html", {"frozen": frozen})


@posted(rules.may_freeze)
def freeze(request: DeskRequest) -> HttpResponse:
    """Stop all payments at once; one person is enough."""
    form = ReasonForm(request.POST)
    if not form.is_valid():
        return _render_page(request, freeze_form=form, status=422)
    account = accounts.required(request)
    try:
        freezes.freeze(
            person=request.user,
            reason=form.cleaned_data["reason"],
            account=account,
            now=clock.now(),
            session_key=request.session.session_key or "",
        )
    except freezes.CannotFreeze as problem:
        return _render_page(request, freeze_form=form, refusal=str(problem), status=409)
    sentence = "Account frozen. No payouts, transfers or orders; holds awaiting a decision will be released."
    messages.success(request, f"{account.name}: {sentence}")
    return redirect("policy")


@posted(rules.may_thaw)
def thaw(request: DeskRequest, freeze_id: int) -> HttpResponse:
    """One person's vote to end a freeze; the second vote ends it."""
    frozen, form = _of_account(freeze_id), ThawForm(request.POST)
    if not form.is_valid():
        return _render_page(request, thaw_form=form, status=422)
    try:
        after = freezing.lifted(request, frozen, form)
    except (freezes.CannotThaw, CannotConfirm) as problem:
        return _render_page(request, thaw_form=form, refusal=str(problem), status=409)
    messages.success(request, f"{frozen.account or frozen.covered}: {freezing.outcome(after)}")
    return redirect("policy")


def _of_account(number: int) -> Freeze:
    rows = Freeze.objects.select_related("account").filter(account__isnull=False)
    return get_object_or_404(rows, pk=number)


def _render_page(
    request: DeskRequest, *, status: int = 200, refusal: str = "", **forms: ReasonForm | ThawForm
) -> HttpResponse:
    account, current = accounts.current(request), quorum.current()
    active = freezes.active(account) if account else None
    may_stop = account is not None and active is None and rules.may_freeze(request.user)
    context = {
        "now": clock.now(),
        "policy": current,
        **_rules(request.user, here=account),
        **freezing.state_of(active, request.user),
        "refusal": refusal,
        "freeze_form": ReasonForm(),
        "past": Freeze.objects.filter(Q(account=account) | Q(account__isnull=True), thawed_at__isnull=False)
        .select_related("frozen_by")
        .order_by("-pk")[:LAST_FREEZES],
        "may_stop": may_stop,
        "releases": freezes.would_release(Freeze(account=account)) if may_stop else [],
        "stops": freezes.would_stop(Freeze(account=account)) if may_stop else [],
        "preview_url": reverse("policy"),
        "across": freezes.across_accounts(),
        "may_order": rules.may_order_freeze(request.user),
        **forms,
    }
    return show(
        request,
        "exchange_ops/policy.html",
        context,
        parts={name: f"exchange_ops/policy/_{name}.html" for name in ("freezes", "changes", "releases")},
        status=status,
    )


def _rules(person: Person, *, here: Account | None) -> dict[str, Any]:
    """The rules in force, their past versions, and the open changes."""
    ruleset = workflow.in_force()
    waiting = PolicyChange.objects.filter(state__in=(change_states.PROPOSED, change_states.AGREED))
    return {
        "rules": ruleset,
        "groups": tiers_by_account(ruleset, person, here=here.pk if here else None),
        "limits": named_limits(ruleset, person),
        "payout_rules": payout_rules_in_words(ruleset, person),
        "approval_groups": approval_groups(ruleset),
        "may_change": change_rules.may_keep(person),
        "open_changes": waiting.order_by("-pk"),
        "versions": PolicyVersion.objects.order_by("-number")[:LAST_VERSIONS],
    }
