"""The tools for addresses, scripts, proofs, payloads and the simple ledger: worked out here, then compared."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.http import HttpResponse
from django.views.decorators.http import require_http_methods, require_safe

from chaindata.shared.access import readable
from chaindata.tools import cross_checks, payloads, tools
from chaindata.tools.forms import AddressForm, HexForm, PayloadForm, TxidForm
from desk import clock
from desk.views.rendering import show
from desk.web.requests import DeskRequest

TABS = (
    ("chain-tools", "Address"),
    ("chain-tools-transaction", "Transaction"),
    ("chain-tools-script", "Script"),
    ("chain-tools-proof", "Proof"),
    ("chain-tools-payload", "Payload"),
    ("chain-tools-ledger", "SLP"),
    ("chain-broadcasts", "Broadcasts"),
)
SAFE_AND_POST = ["GET", "HEAD", "POST"]
PAYLOAD_PARTS = {"result": "chaindata/tools/_made.html"}
LEDGER_PARTS = {"result": "chaindata/tools/_verdict.html"}
OPINION = {"opinion": "chaindata/tools/_opinion.html"}
SAME_ADDRESS = "Formats, script and validity."
SAME_SCRIPT = "Opcodes, type and P2SH address."
SAME_PROOF = "The service confirms that the proof covers the same transactions, in a block of its best chain."


@require_safe
@readable
def address(request: DeskRequest) -> HttpResponse:
    """An address in every form, and whether it is one."""
    form = AddressForm(request.GET) if "address" in request.GET else AddressForm()
    context: dict[str, Any] = {"now": clock.now(), "tabs": TABS, "form": form, "same": SAME_ADDRESS}
    read = _read(form, "address", tools.convert)
    if read is not None:
        context |= {"read": read, "opinion": cross_checks.address_opinion(conversion=read, now=context["now"])}
    return show(request, "chaindata/tools/address.html", context, parts=OPINION, status=_status(form))


@require_http_methods(SAFE_AND_POST)
@readable
def script(request: DeskRequest) -> HttpResponse:
    """A script in words."""
    form, context = _of_bytes(request, SAME_SCRIPT)
    read = _read(form, "hex", tools.decode_script)
    if read is not None:
        context |= {"read": read, "opinion": cross_checks.script_opinion(decoded=read, now=context["now"])}
    return show(request, "chaindata/tools/script.html", context, parts=OPINION, status=_status(form))


@require_http_methods(SAFE_AND_POST)
@readable
def proof(request: DeskRequest) -> HttpResponse:
    """A merkle proof, checked here."""
    form, context = _of_bytes(request, SAME_PROOF)
    read = _read(form, "hex", tools.check_proof)
    if read is not None:
        context |= {"read": read, "opinion": cross_checks.proof_opinion(checked=read, now=context["now"])}
        context["stored_header"] = cross_checks.stored_header(checked=read)
    return show(request, "chaindata/tools/proof.html", context, parts=OPINION, status=_status(form))


@require_safe
@readable
def payload(request: DeskRequest) -> HttpResponse:
    """A payload of the property layer, byte by byte. Its members are in the URL, so the page can be shared."""
    slug = request.GET.get("kind", "")
    operation = payloads.OPERATIONS.get(slug) or next(iter(payloads.OPERATIONS.values()))
    is_submitted = "make" in request.GET
    form = PayloadForm(request.GET, operation=operation) if is_submitted else PayloadForm(operation=operation)
    context: dict[str, Any] = {"now": clock.now(), "tabs": TABS, "form": form, "operation": operation}
    context["operations"] = payloads.OPERATIONS.values()
    if form.is_bound and form.is_valid():
        building = cross_checks.payload(operation=operation, values=form.values, now=context["now"])
        context["building"] = building
        for field, sentence in building.problems.items():
            form.add_error(field if field in form.fields else None, sentence)
    return show(request, "chaindata/tools/payload.html", context, parts=PAYLOAD_PARTS, status=_status(form))


@require_safe
@readable
def ledger(request: DeskRequest) -> HttpResponse:
    """What the simple ledger says of a transaction, and what was burned by it."""
    form = TxidForm(request.GET) if "txid" in request.GET else TxidForm()
    context: dict[str, Any] = {"now": clock.now(), "tabs": TABS, "form": form}
    if form.is_bound and form.is_valid():
        txid = form.cleaned_data["txid"]
        context |= {"txid": txid, "verdict": cross_checks.ledger_verdict(txid=txid, now=context["now"])}
    return show(request, "chaindata/tools/ledger.html", context, parts=LEDGER_PARTS, status=_status(form))


def _of_bytes(request: DeskRequest, same: str) -> tuple[HexForm, dict[str, Any]]:
    """The form for bytes; short ones may also come in the URL."""
    params = request.POST if request.method == "POST" else request.GET
    form = HexForm(params) if "hex" in params else HexForm()
    return form, {"now": clock.now(), "tabs": TABS, "form": form, "same": same}


def _read(form: forms.Form, name: str, read: Callable[..., Any]) -> Any:
    """What `read` makes of the field; None, with a sentence beside the field, if it can't be read."""
    if not form.is_bound or not form.is_valid():
        return None
    try:
        return read(text=form.cleaned_data[name])
    except tools.CannotRead as problem:
        form.add_error(name, str(problem))
        return None


def _status(form: forms.Form) -> int:
    return 422 if form.is_bound and form.errors else 200
