"""One block, by hash or height."""

from typing import Any

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from chaindata.explorer import block as pages_block
from chaindata.shared.access import number, readable, target
from desk import clock
from desk.views.rendering import show
from desk.web.requests import DeskRequest

PARTS = {name: f"chaindata/block/_{name}.html" for name in ("facts", "members")}


@require_safe
@readable
def block(request: DeskRequest, named: str) -> HttpResponse:
    """The page, or one of its parts. What nobody has found is said so, with the status of a page that is not there."""
    now, wanted = clock.now(), target(request)
    context: dict[str, Any] = {"now": now, "named": named}
    if wanted != "members":
        context["facts"] = pages_block.block(named, now=now)
    if wanted != "facts":
        context["members"] = pages_block.members(named, page=number(request, "page") or 1, now=now)
    is_missing = wanted not in PARTS and context["facts"].freshness.word == "missing"
    return show(request, "chaindata/block.html", context, parts=PARTS, status=404 if is_missing else 200)
