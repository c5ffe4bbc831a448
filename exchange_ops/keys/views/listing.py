"""Pages with the keys of the exchange accounts: their rights and their status, never their secrets."""

from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_safe

from desk import clock
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.keys import changes, probing
from exchange_ops.keys import status as key_status
from exchange_ops.keys.models import ApiKey
from exchange_ops.shared import places, rules
from exchange_ops.shared.forms import DecisionForm
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import posted, requires

KEEPERS_ONLY = "No changes made: only administrators can manage keys."


@require_safe
@requires(rules.may_see_keys, "Only administrators and auditors can see keys.")
def keys(request: DeskRequest) -> HttpResponse:
    """Every account with its keys, those in use first."""
    now = clock.now()
    views = [key_status.view_of(key, now=now) for key in ApiKey.objects.listed()]
    context = {
        "now": now,
        "accounts": [
            {
                "account": account,
                "exchange": places.view_of(account),
                "keys": [one for one in views if one.key.account_id == account.pk],
            }
            for account in accounts.in_view(request)
        ],
        "may_keep": rules.may_keep_keys(request.user),
    }
    return show(request, "exchange_ops/keys.html", context, parts={"keys": "exchange_ops/keys/_list.html"})


@require_safe
@requires(rules.may_see_keys, "Only administrators and auditors can see keys.")
def key(request: DeskRequest, key_id: int) -> HttpResponse:
    """One key, its rights, and what can be done with it now."""
    return key_page(request, get_object_or_404(ApiKey.objects.listed(), pk=key_id))


@posted(rules.may_keep_keys, KEEPERS_ONLY)
def probe(request: DeskRequest, key_id: int) -> HttpResponse:
    """Have a worker ask the exchange again."""
    row = get_object_or_404(ApiKey, pk=key_id)
    try:
        probing.ask(key_id=row.pk, person=request.user, now=clock.now())
    except probing.CannotProbeKey as problem:
        return key_page(request, row, refusal=str(problem), status=409)
    messages.success(request, f"{row}: checking the key with the exchange. The check changes nothing.")
    return redirect("key", row.pk)


def key_page(
    request: DeskRequest, row: ApiKey, *, refusal: str = "", form: DecisionForm | None = None, status: int = 200
) -> HttpResponse:
    """The page of a key, with the refusal of a change."""
    now, may_keep = clock.now(), rules.may_keep_keys(request.user)
    rotation = _rotation(row, now)
    context: dict[str, Any] = {
        "now": now,
        "drawn_for": f"{row.active}:{row.retired_at}:{rotation.get('digest', '')[:16]}:{rotation.get('why_not', '')}",
        "view": key_status.view_of(row, now=now),
        "exchange": places.view_of(row.account),
        "refusal": refusal,
        "may_keep": may_keep,
        "form": form or DecisionForm(),
        "why_not_disable": changes.why_not_disable(row),
        **rotation,
    }
    return show(request, "exchange_ops/key.html", context, parts={"key": "exchange_ops/keys/_key.html"}, status=status)


def _rotation(row: ApiKey, now: datetime) -> dict[str, Any]:
    """The rotation under way for the key: its successor, the next step, and what prevents that step."""
    successor = changes.successor_of(row)
    if successor is None:
        return {"successor": None}
    purpose = changes.SWITCH if successor.is_waiting else changes.FINISH
    waits = successor.is_waiting
    return {
        "successor": key_status.view_of(successor, now=now),
        "waits": waits,
        "why_not": changes.why_not_switch(row, successor) if waits else changes.why_not_finish(row, now),
        "purpose": purpose,
        "digest": changes.digest_of(purpose, row),
    }
