"""The tokens: three lists, and the page of one token, by the kind of its id."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.http import Http404, HttpResponse
from django.views.decorators.http import require_safe

from chaindata.shared.access import number, readable, target
from chaindata.tokens import collectible, property, simple_ledger, tokens
from desk import clock
from desk.views.rendering import show
from desk.web.requests import DeskRequest

LIST_PARTS = {"rows": "chaindata/tokens/_rows.html"}
LISTS = {tokens.SIMPLE: "simple", tokens.PROPERTY: "property", tokens.COLLECTIBLE: "collectible"}
PARTS = {
    tokens.SIMPLE: ("facts", "genesis", "baton", "supply", "holders"),
    tokens.PROPERTY: ("facts", "crowdsale", "grants", "holders", "digest"),
    tokens.COLLECTIBLE: ("facts", "collectibles"),
}


@require_safe
@readable
def token_list(request: DeskRequest) -> HttpResponse:
    """One of the three lists."""
    now, page = clock.now(), number(request, "page") or 1
    kind = request.GET.get("kind", "")
    kind = kind if kind in tokens.KINDS else tokens.SIMPLE
    readers: dict[str, Callable[[], tokens.ListPart]] = {
        tokens.SIMPLE: lambda: tokens.simple_list(page=page, now=now),
        tokens.PROPERTY: lambda: tokens.property_list(page=page, now=now),
        tokens.COLLECTIBLE: lambda: tokens.collectible_list(now=now),
    }
    context = {"now": now, "kind": kind, "kinds": tokens.KINDS, "listed": readers[kind]()}
    context["table"] = f"chaindata/tokens/_{LISTS[kind]}.html"
    return show(request, "chaindata/tokens.html", context, parts=LIST_PARTS)


@require_safe
@readable
def token(request: DeskRequest, token_id: str) -> HttpResponse:
    """The page of one token, or one of its parts."""
    kind = tokens.kind_of(token_id.lower())
    if not kind:
        raise Http404("This is not a token ID.")
    now, part, folder = clock.now(), target(request), LISTS[kind]
    parts = {name: f"chaindata/token_{folder}/_{name}.html" for name in PARTS[kind]}
    read = _READERS[kind](token_id.lower(), now, number(request, "page") or 1)
    context: dict[str, Any] = {"now": now, "token_id": token_id.lower(), "kinds": tokens.KINDS}
    context |= {name: read[name]() for name in parts if part not in parts or name == part}
    is_missing = part not in parts and context["facts"].is_unknown
    return show(request, f"chaindata/token_{folder}.html", context, parts=parts, status=404 if is_missing else 200)


def _simple(token_id: str, now: datetime, page: int) -> dict[str, Callable[[], Any]]:
    return {
        "facts": lambda: simple_ledger.token(token_id=token_id, now=now),
        "genesis": lambda: simple_ledger.genesis(token_id=token_id, now=now),
        "baton": lambda: simple_ledger.baton(token_id=token_id, now=now),
        "supply": lambda: simple_ledger.supply_history(token_id=token_id, now=now),
        "holders": lambda: simple_ledger.holders(token_id=token_id, page=page, now=now),
    }


def _property(token_id: str, now: datetime, page: int) -> dict[str, Callable[[], Any]]:
    property_id = int(token_id)
    return {
        "facts": lambda: property.token(property_id=property_id, now=now),
        "crowdsale": lambda: property.crowdsale(property_id=property_id, page=1, now=now),
        "grants": lambda: property.grants(property_id=property_id, page=1, now=now),
        "holders": lambda: property.holders(property_id=property_id, page=page, now=now),
        "digest": lambda: property.balances_hash(property_id=property_id, now=now),
    }


def _collectible(token_id: str, now: datetime, page: int) -> dict[str, Callable[[], Any]]:
    property_id = collectible.number_of(token_id)
    return {
        "facts": lambda: collectible.family(property_id=property_id, now=now),
        "collectibles": lambda: collectible.collectibles(property_id=property_id, page=page, now=now),
    }


_READERS = {tokens.SIMPLE: _simple, tokens.PROPERTY: _property, tokens.COLLECTIBLE: _collectible}
