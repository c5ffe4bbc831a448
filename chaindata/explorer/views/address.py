"""One address, in whichever form it was written."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from chaindata import rules
from chaindata.explorer import address as pages_address
from chaindata.explorer import token_history
from chaindata.shared import belongings
from chaindata.shared.access import number, readable, target
from chaindata.shared.addresses import NotAnAddress
from desk import clock
from desk.views.rendering import show
from desk.web.requests import DeskRequest

PARTS = {
    name: f"chaindata/address/_{name}.html" for name in ("balance", "transactions", "unspent", "tokens", "history")
}


@require_safe
@readable
def address(request: DeskRequest, text: str) -> HttpResponse:
    """The page, or one of its parts; what is no address here is said so."""
    now, wanted = clock.now(), target(request)
    try:
        spelled = pages_address.spellings(text)
    except NotAnAddress as problem:
        context = {"now": now, "text": text, "problem": str(problem)}
        return show(request, "chaindata/no_address.html", context, status=404)
    belongs = belongings.of(addresses=[spelled.printed], person=request.user)
    mine = belongs.get(spelled.printed, [])
    offered = rules.may_watch(request.user) and not any(each.watches for each in mine)
    context = {"now": now, "spelled": spelled, "belongs": mine, "may_watch": offered} | _parts(
        request, spelled.printed, wanted, now
    )
    return show(request, "chaindata/address.html", context, parts=PARTS)


def _parts(request: DeskRequest, printed: str, wanted: str, now: datetime) -> dict[str, Any]:
    """What the parts show that were asked for."""
    page, unspent_page = max(1, number(request, "page") or 1), max(1, number(request, "unspent") or 1)
    readers: dict[str, Callable[[], Any]] = {
        "balance": lambda: pages_address.balance(printed, now=now),
        "transactions": lambda: pages_address.transactions(printed, page=page, now=now),
        "unspent": lambda: pages_address.unspent(printed, page=unspent_page, now=now),
        "tokens": lambda: pages_address.tokens(printed, now=now),
        "history": lambda: token_history.history(printed, now=now),
    }
    return {name: read() for name, read in readers.items() if wanted not in PARTS or name == wanted}
