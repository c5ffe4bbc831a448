"""One transaction."""

from typing import Any

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from chaindata.explorer import layers
from chaindata.explorer import transaction as pages_transaction
from chaindata.shared import belongings
from chaindata.shared.access import readable, target
from desk import clock
from desk.views.rendering import show
from desk.web.requests import DeskRequest

ALL = "all"
PARTS = {name: f"chaindata/transaction/_{name}.html" for name in ("facts", "layers", "sides", "raw")}


@require_safe
@readable
def transaction(request: DeskRequest, txid: str) -> HttpResponse:
    """The page, or one of its parts."""
    now, wanted = clock.now(), target(request)
    wants = {name for name in PARTS if wanted not in PARTS or name == wanted}
    context: dict[str, Any] = {"now": now, "txid": txid}
    if "facts" in wants:
        context["facts"] = pages_transaction.facts(txid, now=now)
    if wants & {"layers", "sides"}:
        context["layers"] = layers.layers(txid, now=now)
    if "sides" in wants:
        context["sides"] = pages_transaction.sides(txid, whole=request.GET.get("sides") == ALL, now=now)
        addresses = context["sides"].addresses
        context["belongs"] = belongings.of(addresses=addresses, txids=[txid], person=request.user)
    if "raw" in wants:
        context["raw"] = pages_transaction.raw(txid, now=now)
    is_missing = wanted not in PARTS and context["facts"].freshness.word == "missing"
    return show(request, "chaindata/transaction.html", context, parts=PARTS, status=404 if is_missing else 200)
