"""The first page of the chain. htmx asks for one part of it by the id of its element."""

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from chaindata.explorer import home as pages_home
from chaindata.explorer import token_layer
from chaindata.shared.access import number, readable, target
from desk import clock
from desk.views.rendering import show
from desk.web.requests import DeskRequest

READERS: dict[str, Callable[..., Any]] = {
    "tip": pages_home.tip,
    "blocks": pages_home.blocks,
    "mempool": pages_home.mempool,
    "branches": pages_home.branches,
    "node": pages_home.node,
    "layer": token_layer.layer,
}
PARTS = {name: f"chaindata/home/_{name}.html" for name in READERS}


@require_safe
@readable
def home(request: DeskRequest) -> HttpResponse:
    """Tip, last blocks, mempool, branches, node; each part is read, and read again, by itself."""
    now, wanted, below = clock.now(), target(request), number(request, "below")
    context: dict[str, Any] = {"now": now, "below": below}
    for name, read in READERS.items():
        if wanted not in READERS or name == wanted:
            context[name] = read(now=now, below=below) if name == "blocks" else read(now=now)
    return show(request, "chaindata/home.html", context, parts=PARTS)
