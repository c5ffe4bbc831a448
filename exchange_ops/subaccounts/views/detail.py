"""One sub-account: requested and observed status, what it holds, its settings, and every action on it."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_safe

from desk import clock
from desk.people import roles
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.shared import rules
from exchange_ops.shared.forms import fresh_key
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import posted, requires
from exchange_ops.subaccounts import account_status, readings, states, workflow
from exchange_ops.subaccounts.forms import SubAccountAddressForm, SubAccountSettingsForm
from exchange_ops.subaccounts.models import SubAccount, SubAccountAction, SubAccountBalance

PAGE = "exchange_ops/subaccount.html"
PARTS = {name: f"exchange_ops/subaccount/_{name}.html" for name in ("facts", "decide", "story")}
LAST_ACTIONS = 25


@require_safe
@requires(rules.may_see)
def subaccount(request: DeskRequest, exchange_id: int) -> HttpResponse:
    """The page, or one of its three parts."""
    return subaccount_page(request, exchange_id)


@posted(rules.may_keep_subaccounts)
def settings(request: DeskRequest, exchange_id: int) -> HttpResponse:
    """Ask for other payout settings."""
    form = SubAccountSettingsForm(request.POST)
    if not form.is_valid():
        return subaccount_page(request, exchange_id, status=422, settings_form=form)
    cleaned = form.cleaned_data
    try:
        workflow.ask_settings(
            account=_sub(request, exchange_id).account,
            exchange_id=exchange_id,
            payout_enabled=cleaned["payouts"] == "on",
            description=cleaned["description"],
            person=request.user,
            reason=cleaned["reason"],
            digest=cleaned["digest"],
            request_key=str(cleaned["request_key"]),
            session_key=request.session.session_key or "",
            now=clock.now(),
        )
    except workflow.CannotAsk as problem:
        form.refuse(problem.problems)
        refusal = " ".join(["No changes requested.", *problem.problems.values()])
        return subaccount_page(request, exchange_id, status=409, settings_form=form, refusal=refusal)
    sentence = f"Sub-account {exchange_id}: change requested. The settings update once the exchange confirms it."
    messages.success(request, sentence, extra_tags=f"subaccounts-{cleaned['digest'][:16]}")
    return redirect("subaccount", exchange_id)


@posted(rules.may_reread_subaccounts)
def address(request: DeskRequest, exchange_id: int) -> HttpResponse:
    """Have the deposit address of one currency read."""
    sub, form = _sub(request, exchange_id), SubAccountAddressForm(request.POST)
    if not form.is_valid():
        return subaccount_page(request, exchange_id, status=422, address_form=form)
    currency = form.cleaned_data["currency"]
    readings.ask_address(sub=sub, currency=currency, person=request.user, now=clock.now())
    return redirect("subaccount", exchange_id)


@posted(rules.may_keep_subaccounts)
def take_back(request: DeskRequest, exchange_id: int, action_id: int) -> HttpResponse:
    """Cancel an action before the exchange was asked."""
    action = get_object_or_404(SubAccountAction, pk=action_id, sub_account=_sub(request, exchange_id))
    session_key = request.session.session_key or ""
    try:
        workflow.take_back(action_id=action.pk, person=request.user, now=clock.now(), session_key=session_key)
    except workflow.CannotAsk as problem:
        return subaccount_page(request, exchange_id, status=409, refusal=str(problem))
    messages.success(request, f"Sub-account {exchange_id}: request withdrawn. Nothing was sent.")
    return redirect("subaccount", exchange_id)


def subaccount_page(request: DeskRequest, exchange_id: int, *, status: int = 200, **forms: Any) -> HttpResponse:
    """The page with the forms that were refused, so that nothing typed is lost."""
    sub = _sub(request, exchange_id)
    context: dict[str, Any] = {
        **_context(sub),
        "sub": sub,
        "now": clock.now(),
        "wallets": _wallets(sub),
        "addresses": list(sub.addresses.order_by("currency")),
        "may_act": rules.may_keep_subaccounts(request.user),
        "may_reread": rules.may_reread_subaccounts(request.user),
        "may_transfer": rules.may_request(request.user),
        "may_audit": request.user.has_role(roles.AUDITOR, roles.ADMIN, scope=""),
        "settings_form": _settings_form(sub),
        "settings_digest": account_status.digest_of(states.SETTINGS, [sub]),
        "address_form": SubAccountAddressForm(),
    }
    return show(request, PAGE, context | forms, parts=PARTS, status=status)


def _context(sub: SubAccount) -> dict[str, Any]:
    """What is requested, what is observed, and what may be requested now."""
    latest = sub.actions.select_related("requested_by", "confirmation").prefetch_related("events__actor", "calls")
    actions = list(latest.order_by("-pk")[:LAST_ACTIONS])
    under_way = [action for action in actions if action.state in states.OPEN_STATES]
    open_kinds = {action.kind for action in under_way}
    obstacles = {kind: account_status.obstacle(kind, sub) for kind in states.KINDS}
    return {
        "status_now": account_status.status_of(sub),
        "difference": account_status.difference(sub, under_way),
        "settings_differ": account_status.settings_differ(sub),
        "actions": actions,
        "open_kinds": open_kinds,
        "obstacles": obstacles,
        "settings_offered": states.SETTINGS not in open_kinds and not obstacles[states.SETTINGS] and sub.settings_shown,
        "transfer_obstacle": account_status.subaccount_problem(sub.account, sub.exchange_id),
        "drawn_for": f"{account_status.digest_of('page', [sub])[:16]}:{len(under_way)}:{len(actions)}",
    }


def _sub(request: DeskRequest, exchange_id: int) -> SubAccount:
    rows = SubAccount.objects.select_related("account").filter(account__in=accounts.in_view(request))
    subs = list(rows.filter(exchange_id=exchange_id))
    if len(subs) > 1:
        raise accounts.ChooseAccount
    return get_object_or_404(rows, pk=subs[0].pk if subs else None)


def _settings_form(sub: SubAccount) -> SubAccountSettingsForm:
    return SubAccountSettingsForm(
        initial={
            "payouts": "on" if sub.payout_enabled else "off",
            "description": sub.description,
            "request_key": fresh_key(),
        }
    )


def _wallets(sub: SubAccount) -> list[dict[str, Any]]:
    """Both wallets side by side, a line for each currency that either holds."""
    lines: dict[str, dict[str, Any]] = {}
    for row in sub.balances.order_by("currency"):
        line = lines.setdefault(row.currency, {"currency": row.currency, "main": None, "trading": None, "reserved": 0})
        line["main" if row.wallet == SubAccountBalance.MAIN else "trading"] = row.available
        line["reserved"] += row.reserved
    return list(lines.values())
