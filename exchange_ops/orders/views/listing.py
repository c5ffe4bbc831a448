"""The list of orders, filtered by its address, the same rows as a file, and what can be done with all of them."""

from datetime import datetime
from typing import Any, Final
from urllib.parse import quote

from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from desk import clock
from desk.lists.declared import Column, List
from desk.lists.filters import FilterForm
from desk.lists.listing import Listing
from desk.models import Person
from desk.views import lists
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.orders import states
from exchange_ops.orders import workflow as domain
from exchange_ops.orders.forms import CancelAllForm, OrderFilter
from exchange_ops.orders.models import Order, OrderReading
from exchange_ops.orders.views import sources
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import posted, requires

ONLY_OPERATORS = "Operators place and cancel orders. You can look at every order in the list."
NEWEST: Final = 10**18 - 1  # every order there is
PARTS = {
    "rows": "exchange_ops/orders/_rows.html",
    "age": "exchange_ops/orders/_age.html",
    "totals": "desk/lists/_totals.html",
}
ORDERS: Final = List(
    name="orders",
    one="order",
    many="orders",
    route="orders",
    export_route="orders-export",
    cells="exchange_ops/orders/_cells.html",
    selection="exchange_ops/orders/_selection.html",
    actions="exchange_ops/orders/_actions.html",
    css="orders",
    filters=OrderFilter,
    columns=(
        Column(name="order", head="Order", css="o-name", order=("pk",)),
        Column(name="side", head="Side", css="o-side"),
        Column(name="what", head="Symbol, type", css="o-what", order=("symbol",)),
        Column(name="quantity", head="Quantity", css="o-quantity", is_end=True),
        Column(name="filled", head="Filled", css="o-filled", is_end=True, on_phone="Filled"),
        Column(name="price", head="Price", css="o-price", is_end=True, on_phone="at"),
        Column(name="status", head="Status", css="o-state"),
        Column(name="who", head="Placed by", css="o-who"),
        Column(name="made", head="Made", css="o-when", is_time=True),
        Column(name="average", head="Average price", is_shown=False, is_end=True),
        Column(name="client_order_id", head="Client order id", is_shown=False, is_mono=True),
        Column(name="exchange_id", head="Exchange id", is_shown=False, is_mono=True),
    ),
    exported=(
        ("reference", "reference"),
        ("state at the desk", "label"),
        ("status at the exchange", "status"),
        ("open", "is_open"),
        ("symbol", "symbol"),
        ("side", "side"),
        ("type", "type"),
        ("time in force", "time_in_force"),
        ("quantity", "quantity"),
        ("price", "price"),
        ("stop price", "stop_price"),
        ("filled", "cum_quantity"),
        ("average price", "average_price"),
        ("post-only", "post_only"),
        ("margin", "margin"),
        ("placed by", "initiator.username"),
        ("asked at or first seen ({zone})", "created_at"),
        ("made at the exchange ({zone})", "exchange_created_at"),
        ("changed at the exchange ({zone})", "exchange_updated_at"),
        ("replaces", "replaces_id"),
        ("client order id", "client_order_id"),
        ("exchange id", "exchange_id"),
    ),
    reads={
        "reference": ("pk",),
        "label": ("state",),
        "is_open": ("active", "state"),
    },
)


@require_safe
@requires(rules.may_see)
@lists.opens(ORDERS)
def orders(request: DeskRequest) -> HttpResponse:
    """A page of them, newest first unless it is sorted otherwise; the open ones unless asked otherwise."""
    return render_page(request)


def render_page(request: DeskRequest, *, status: int = 200, refusal: str = "") -> HttpResponse:
    """The list, with a sentence about what was refused."""
    now, account = clock.now(), accounts.current(request)
    listing = _listing(request, account, now)
    context: dict[str, Any] = {
        "now": now,
        "list": listing,
        "topics": "orders",
        "may_trade": rules.may_trade(request.user),
        "refusal": refusal,
        **_age(account, now),
        **_to_cancel(account, request.user, listing.filters),
    }
    return show(request, "exchange_ops/orders.html", context, parts=PARTS, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(rules.may_see)
def export(request: DeskRequest, form: str) -> HttpResponseBase:
    """The filtered orders as a file, or the chosen ones."""
    return lists.file(_listing(request, accounts.current(request), clock.now()), form)


@posted(rules.may_trade, ONLY_OPERATORS)
def refresh(request: DeskRequest) -> HttpResponse:
    """Have the exchange's lists read now; a worker does, and the page hears of it."""
    domain.ask_to_read(account=accounts.required(request), person=request.user, now=clock.now())
    messages.info(request, "The exchange's lists are being read again. Nothing was placed or cancelled.")
    return redirect("margin" if request.POST.get("back") == "margin" else "orders")


@posted(rules.may_trade, ONLY_OPERATORS)
def cancel_all(request: DeskRequest) -> HttpResponse:
    """Cancel the open orders that the person saw, of one symbol or of all."""
    form = CancelAllForm(request.POST)
    if not form.is_valid():
        return render_page(request, status=422, refusal="Nothing was cancelled: the form was not whole. Press again.")
    if form.cleaned_data["margin"]:
        return _cancel_every_margin_order(request)
    symbol = form.cleaned_data["symbol"].upper()
    count = domain.cancel_all(
        account=accounts.required(request),
        symbol=symbol,
        newest=int(form.cleaned_data["newest"] or NEWEST),
        person=request.user,
        now=clock.now(),
        session_key=request.session.session_key or "",
    )
    _say_cancelled(request, count)
    return redirect(f"{reverse('orders')}?view=all&symbol={quote(symbol)}" if symbol else reverse("orders"))


def _cancel_every_margin_order(request: DeskRequest) -> HttpResponse:
    count = domain.cancel_every_margin_order(
        account=accounts.required(request),
        person=request.user,
        now=clock.now(),
        session_key=request.session.session_key or "",
    )
    _say_cancelled(request, count)
    return redirect("margin")


@posted(rules.may_trade, ONLY_OPERATORS)
def cancel_chosen(request: DeskRequest) -> HttpResponse:
    """Cancel those of the chosen orders that are still open."""
    numbers = [int(key) for key in request.POST.getlist("row") if key.isascii() and key.isdigit() and len(key) <= 18]
    count = domain.cancel_chosen(
        account=accounts.required(request),
        numbers=numbers,
        person=request.user,
        now=clock.now(),
        session_key=request.session.session_key or "",
    )
    _say_cancelled(request, count)
    return redirect("orders")


def _say_cancelled(request: DeskRequest, count: int) -> None:
    sentence = (
        f"{count} order{'' if count == 1 else 's'} requested to be cancelled."
        if count
        else "No open order was left to cancel."
    )
    messages.success(request, f"{sentence} Each says when the exchange has confirmed it.")


def _listing(request: DeskRequest, account: Account | None, now: datetime) -> Listing:
    rows = Order.objects.filter(account=account).select_related("initiator").prefetch_related("replacements")
    return Listing(request, ORDERS, rows, now=now, may_act=rules.may_trade(request.user))


def _age(account: Account | None, now: datetime) -> dict[str, Any]:
    """When the exchange's lists were last read, and what was wrong with it."""
    waits = OrderReading.objects.filter(account=account, answered_at=None).exists()
    return {"source": sources.of_orders(account, now), "reading_waits": waits, "back": "orders"}


def _to_cancel(account: Account | None, person: Person, filters: FilterForm) -> dict[str, Any]:
    """How many open orders a person could cancel at once, of the symbol that is filtered by or of all."""
    if account is None or not rules.may_trade(person):
        return {}
    symbol = str(filters.chosen().get("symbol", "")).upper()
    rows = Order.objects.filter(account=account, active=True, state__in=states.CANCELLABLE)
    numbers = list((rows.filter(symbol=symbol) if symbol else rows).values_list("pk", flat=True))
    if not numbers:
        return {}
    of = f" of {symbol}" if symbol else ""
    count = f"all {len(numbers)} open orders{of}" if len(numbers) > 1 else f"the one open order{of}"
    return {"cancel_symbol": symbol, "cancel_newest": max(numbers), "cancel_what": count}
