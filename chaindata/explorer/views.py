"""The pages of the chain: the first one, a block, a transaction, an address.

htmx asks for one part of a page by the id of its element.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from chaindata import rules
from chaindata.explorer import address, block, home, layers, token_history, transaction
from chaindata.shared import belongings
from chaindata.shared.access import number, readable, target
from chaindata.shared.addresses import NotAnAddress
from desk import clock
from desk.views.rendering import show
from desk.web.requests import DeskRequest

HOME_READERS: dict[str, Callable[..., Any]] = {
    "tip": home.tip,
    "blocks": home.blocks,
    "mempool": home.mempool,
    "branches": home.branches,
    "node": home.node,
    "layer": home.layer,
}
HOME_PARTS = {name: f"chaindata/home/_{name}.html" for name in HOME_READERS}
BLOCK_PARTS = {name: f"chaindata/block/_{name}.html" for name in ("facts", "members")}
ALL_SIDES = "all"
TRANSACTION_PARTS = {name: f"chaindata/transaction/_{name}.html" for name in ("facts", "layers", "sides", "raw")}
ADDRESS_PARTS = {
    name: f"chaindata/address/_{name}.html" for name in ("balance", "transactions", "unspent", "tokens", "history")
}


@require_safe
@readable
def home_page(request: DeskRequest) -> HttpResponse:
    """Tip, last blocks, mempool, branches, node, property layer. Each part is read, and refreshed, by itself."""
    now, part, below = clock.now(), target(request), number(request, "below")
    context: dict[str, Any] = {"now": now, "below": below}
    for name, read in HOME_READERS.items():
        if part not in HOME_READERS or name == part:
            context[name] = read(now=now, below=below) if name == "blocks" else read(now=now)
    return show(request, "chaindata/home.html", context, parts=HOME_PARTS)


@require_safe
@readable
def block_page(request: DeskRequest, named: str) -> HttpResponse:
    """The page, or one of its parts. A block that nobody has found has the status 404."""
    now, part = clock.now(), target(request)
    context: dict[str, Any] = {"now": now, "named": named}
    if part != "members":
        context["facts"] = block.block(named, now=now)
    if part != "facts":
        context["members"] = block.members(named, page=number(request, "page") or 1, now=now)
    is_missing = part not in BLOCK_PARTS and context["facts"].freshness.word == "missing"
    return show(request, "chaindata/block.html", context, parts=BLOCK_PARTS, status=404 if is_missing else 200)


@require_safe
@readable
def transaction_page(request: DeskRequest, txid: str) -> HttpResponse:
    """The page of a transaction, or one of its parts."""
    now, part = clock.now(), target(request)
    wants = {name for name in TRANSACTION_PARTS if part not in TRANSACTION_PARTS or name == part}
    context: dict[str, Any] = {"now": now, "txid": txid}
    if "facts" in wants:
        context["facts"] = transaction.facts(txid, now=now)
    if wants & {"layers", "sides"}:
        context["layers"] = layers.layers(txid, now=now)
    if "sides" in wants:
        context["sides"] = transaction.sides(txid, show_all=request.GET.get("sides") == ALL_SIDES, now=now)
        addresses = context["sides"].addresses
        context["belongs"] = belongings.collect(addresses=addresses, txids=[txid], person=request.user)
    if "raw" in wants:
        context["raw"] = transaction.raw(txid, now=now)
    is_missing = part not in TRANSACTION_PARTS and context["facts"].freshness.word == "missing"
    status = 404 if is_missing else 200
    return show(request, "chaindata/transaction.html", context, parts=TRANSACTION_PARTS, status=status)


@require_safe
@readable
def address_page(request: DeskRequest, text: str) -> HttpResponse:
    """The page, or one of its parts; a sentence if the text is no address of this chain."""
    now, part = clock.now(), target(request)
    try:
        spellings = address.spellings(text)
    except NotAnAddress as problem:
        context = {"now": now, "text": text, "problem": str(problem)}
        return show(request, "chaindata/no_address.html", context, status=404)
    belongs = belongings.collect(addresses=[spellings.printed], person=request.user)
    mine = belongs.get(spellings.printed, [])
    can_be_watched = rules.may_watch(request.user) and not any(each.watches for each in mine)
    context = {"now": now, "spellings": spellings, "belongs": mine, "may_watch": can_be_watched}
    context |= _address_parts(request, spellings.printed, part, now)
    return show(request, "chaindata/address.html", context, parts=ADDRESS_PARTS)


def _address_parts(request: DeskRequest, printed: str, part: str, now: datetime) -> dict[str, Any]:
    """The contexts of the requested parts."""
    page, unspent_page = max(1, number(request, "page") or 1), max(1, number(request, "unspent") or 1)
    readers: dict[str, Callable[[], Any]] = {
        "balance": lambda: address.balance(printed, now=now),
        "transactions": lambda: address.transactions(printed, page=page, now=now),
        "unspent": lambda: address.unspent(printed, page=unspent_page, now=now),
        "tokens": lambda: address.tokens(printed, now=now),
        "history": lambda: token_history.history(printed, now=now),
    }
    return {name: read() for name, read in readers.items() if part not in ADDRESS_PARTS or name == part}
