"""Freezing and activating, each with a page before it that says what it will do, as far as that is known."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from desk import clock
from desk.people.stepup import CannotConfirm
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.shared import rules
from exchange_ops.shared.forms import fresh_key
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import requires
from exchange_ops.subaccounts import account_status, states, workflow
from exchange_ops.subaccounts.forms import SubAccountDecisionForm, read_ids
from exchange_ops.subaccounts.models import SubAccount

PAGES = {
    states.FREEZE: "exchange_ops/subaccount_freeze.html",
    states.ACTIVATE: "exchange_ops/subaccount_activate.html",
}
_SENTENCES = {
    states.FREEZE: "Freeze requested. The status updates once the exchange confirms it.",
    states.ACTIVATE: "Activation requested. The status updates once the exchange confirms it.",
}


@require_http_methods(["GET", "HEAD", "POST"])
@requires(rules.may_keep_subaccounts)
def freeze(request: DeskRequest) -> HttpResponse:
    """What a freeze of these sub-accounts does, and its confirmation."""
    return _decided(request, states.FREEZE)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(rules.may_keep_subaccounts)
def activate(request: DeskRequest) -> HttpResponse:
    """What activating these sub-accounts does, and its confirmation."""
    return _decided(request, states.ACTIVATE)


def _decided(request: DeskRequest, kind: str) -> HttpResponse:
    if request.method != "POST":
        numbers = read_ids(request.GET.getlist("ids"))
        if not numbers:
            messages.warning(request, "Choose at least one sub-account. Nothing was sent.")
            return redirect("subaccounts")
        return _page(request, kind, numbers)
    form = SubAccountDecisionForm(request.POST)
    if not form.is_valid():
        return _page(request, kind, read_ids(request.POST.getlist("ids")), status=422, form=form)
    return _confirmed(request, kind, form)


def _confirmed(request: DeskRequest, kind: str, form: SubAccountDecisionForm) -> HttpResponse:
    cleaned = form.cleaned_data
    try:
        actions = workflow.ask_status(
            kind=kind,
            account=accounts.required(request),
            exchange_ids=cleaned["ids"],
            person=request.user,
            reason=cleaned["comment"],
            digest=cleaned["digest"],
            answer=form.answer,
            request_key=str(cleaned["request_key"]),
            session_key=request.session.session_key or "",
            now=clock.now(),
        )
    except (workflow.CannotAsk, CannotConfirm) as problem:
        return _page(request, kind, cleaned["ids"], status=409, form=form, refusal=str(problem))
    numbers = ", ".join(str(number) for number in cleaned["ids"])
    sentence = f"Sub-account{'s' if len(cleaned['ids']) > 1 else ''} {numbers}: {_SENTENCES[kind]}"
    messages.success(request, sentence, extra_tags=f"subaccounts-{cleaned['digest'][:16]}")
    return redirect("subaccount", cleaned["ids"][0]) if len(actions) == 1 else redirect("subaccounts")


def _page(request: DeskRequest, kind: str, numbers: list[int], *, status: int = 200, **more: Any) -> HttpResponse:
    rows = SubAccount.objects.filter(account=accounts.current(request), exchange_id__in=numbers)
    subs = list(rows.order_by("exchange_id"))
    trading = workflow.figures(subs)
    obstacles = {sub.exchange_id: account_status.obstacle(kind, sub) for sub in subs}
    unknown = sorted(set(numbers) - set(obstacles))
    context: dict[str, Any] = {
        "now": clock.now(),
        "shown": [{"sub": sub, "trading": trading[sub.pk], "obstacle": obstacles[sub.exchange_id]} for sub in subs],
        "unknown": unknown,
        "possible": bool(subs) and not unknown and not any(obstacles.values()),
        "purpose": workflow.PURPOSES[kind],
        "digest": account_status.digest_of(kind, subs),
        "refusal": "",
        "form": SubAccountDecisionForm(initial={"ids": numbers, "request_key": fresh_key()}),
    }
    return show(request, PAGES[kind], context | more, status=status)
