"""The console: every documented operation with its form, the answer, and the history of requests."""

from typing import Any

from django.db.models import Q, QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from desk import clock
from desk.views.rendering import show
from desk.web import paging
from desk.web.requests import DeskRequest
from exchange_ops.console import calls, documentation, entries, examples, tables
from exchange_ops.console.entries import Entry
from exchange_ops.console.forms import OperationForm, read_arguments
from exchange_ops.console.models import ConsoleCall
from exchange_ops.shared import places, rules
from exchange_ops.shared.forms import fresh_key
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import requires

PARTS = {"answer": "exchange_ops/console/_answer.html"}
ONLY_WORKERS = "Not sent. Auditors can only view requests; operators, treasury and administrators can send them."
_LONGEST = 18


@require_safe
@requires(rules.may_see)
def index(request: DeskRequest) -> HttpResponse:
    """Every operation of the three services by its documented group, narrowed by a piece of its name or path."""
    search_text = request.GET.get("q", "")[:80].strip()
    services = [(service, _matching(service, search_text)) for service in entries.SERVICES.values()]
    context = {"services": [(service, groups) for service, groups in services if groups], "search_text": search_text}
    return show(request, "exchange_ops/console.html", context)


@require_safe
@requires(rules.may_see)
def history(request: DeskRequest) -> HttpResponse:
    """The requests of everybody, newest first."""
    mine = ConsoleCall.objects.filter(Q(account=None) | Q(account__in=accounts.in_view(request)))
    page = paging.page(request, mine.select_related("person"), key="pk")
    return show(request, "exchange_ops/console_history.html", {"page": page, "now": clock.now()})


@require_http_methods(["GET", "HEAD", "POST"])
@requires(rules.may_see)
def operation(request: DeskRequest, service: str, operation: str) -> HttpResponse:
    """One operation: its form, its documentation, and the answer to a request."""
    entry = entries.entry(service, operation)
    if entry is None:
        raise Http404("Operation not found.")
    account = accounts.current(request) if entry.needs_key else None
    if request.method == "POST":
        return _sent(request, entry, account)
    call = _call(request, entry, account)
    typed = call.typed if call else {f"p-{name}": text for name, text in request.GET.items()}
    form = OperationForm(initial={**typed, "request_key": fresh_key()}, entry=entry)
    return _render(request, entry, form, call=call)


def _sent(request: DeskRequest, entry: Entry, account: Account | None) -> HttpResponse:
    """Send the request and redirect to the same page with its number, or show the form with its errors."""
    if not rules.may_send_requests(request.user):
        return _render(request, entry, OperationForm(request.POST, entry=entry), refusal=ONLY_WORKERS, status=403)
    form = OperationForm(request.POST, entry=entry)
    if not form.is_valid():
        return _render(request, entry, form, status=422)
    try:
        call = calls.request(
            person=request.user,
            account=account,
            entry=entry,
            texts=form.texts,
            request_key=str(form.cleaned_data["request_key"]),
            now=clock.now(),
        )
    except calls.CannotSend as problem:
        return _render(request, entry, form, refusal=str(problem), status=409)
    return redirect(f"{reverse('console-operation', args=[entry.service, entry.name])}?call={call.pk}")


def _call(request: DeskRequest, entry: Entry, account: Account | None) -> ConsoleCall | None:
    """The request whose answer to show. Raises `Http404` for one of another operation or account."""
    number = request.GET.get("call", "")
    if not number:
        return None
    rows: QuerySet[ConsoleCall] = ConsoleCall.objects.filter(service=entry.service, operation=entry.name)
    call_id = int(number) if number.isascii() and number.isdigit() and len(number) <= _LONGEST else 0
    call = rows.filter(pk=call_id, account=account).select_related("person").first()
    if call is None:
        raise Http404("Request not found.")
    return call


def _render(
    request: DeskRequest,
    entry: Entry,
    form: OperationForm,
    *,
    call: ConsoleCall | None = None,
    refusal: str = "",
    status: int = 200,
) -> HttpResponse:
    kind, members = documentation.members_of(entry.result)
    context: dict[str, Any] = {
        "now": clock.now(),
        "entry": entry,
        "service": entries.SERVICES[entry.service],
        "form": form,
        "refusal": refusal,
        "may_send": rules.may_send_requests(request.user) and entry.elsewhere is None,
        "kind": kind,
        "members": members,
        "call": call,
        "topic": calls.topic(call) if call else "",
        "table": tables.table(call.answer) if call and not call.is_cut else None,
        "raw": tables.pretty(call.answer) if call and not call.is_cut else call and call.answer,
        "examples": examples.snippets(entry, _arguments(entry, form, call), place=_place(request, entry)),
    }
    return show(request, "exchange_ops/console_operation.html", context, parts=PARTS, status=status)


def _place(request: DeskRequest, entry: Entry) -> places.Place:
    """The exchange in the examples: that of the account, or the default."""
    account = accounts.current(request) if entry.needs_key else None
    return places.default() if account is None or places.problem(account) else places.place_of(account)


def _arguments(entry: Entry, form: OperationForm, call: ConsoleCall | None) -> dict[str, object]:
    """The arguments in the examples: those of the request on the page, else those of a valid form."""
    if call is not None:
        return read_arguments(entry, call.arguments)
    return form.arguments if form.is_bound and form.is_valid() else {}


def _matching(service: entries.Catalogue, search_text: str) -> dict[str, list[Entry]]:
    """The operations by group whose name, path or group contains the search text; all without one."""
    piece = search_text.casefold()
    groups = {
        group: [entry for entry in rows if piece in f"{entry.name} {entry.place} {group}".casefold()]
        for group, rows in service.groups.items()
    }
    return {group: rows for group, rows in groups.items() if rows}
