"""The list of orders, filtered by its address, the same rows as a file, and what can be done with all of them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from desk import clock
from desk.lists.declared import Column, List, Rows, Value
from desk.lists.filters import FilterForm
from desk.lists.listing import Listing
from desk.models import Person
from desk.views import lists
from desk.views.rendering import answer_here
from desk.web.context import Entry
from desk.web.requests import DeskRequest
from exchange_ops.orders import states, workflow
from exchange_ops.orders.forms import CancelAllForm, OrderFilter
from exchange_ops.orders.models import Order, OrderReading
from exchange_ops.orders.views import sources
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import posted

ONLY_OPERATORS = "Only operators can place and cancel orders. You can view all of them."
NEWEST: Final = 10**18 - 1  # every order there is


def _rows(request: DeskRequest) -> Rows:
    account, person = accounts.current(request), request.user

    def context(listing: Listing) -> Mapping[str, Any]:
        age, to_cancel = _age(account, listing.now), _to_cancel(account, person, listing.filters)
        return {"may_trade": rules.may_trade(person), **age, **to_cancel}

    rows = Order.objects.filter(account=account).select_related("initiator").prefetch_related("replacements")
    return Rows(rows, topics="orders", may_act=rules.may_trade(person), context=context)


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
    of = f" in {symbol}" if symbol else ""
    count = f"all {len(numbers)} open orders{of}" if len(numbers) > 1 else f"the open order{of}"
    return {"cancel_symbol": symbol, "cancel_newest": max(numbers), "cancel_what": count}


ORDERS: Final = List(
    name="orders",
    title="Orders",
    one="order",
    many="orders",
    path="orders/",
    template="exchange_ops/orders.html",
    parts={"age": "exchange_ops/orders/_age.html"},
    css="orders",
    entry=Entry(
        "Orders", "orders", "file-check", "Trading", order=120, key="t", may_see=rules.may_see, also=("Trading",)
    ),
    rows=_rows,
    may_see=rules.may_see,
    filters=OrderFilter,
    columns=(
        Column("order", "Order", Value("reference", reads=("pk",)), css="o-name", order=("pk",)),
        Column("status", "Status", Value("state at the desk", "label", ("state",)), css="o-state"),
        Value("status at the exchange", "status"),
        Value("open", "is_open", ("active", "state")),
        Column("what", "Symbol, type", Value("symbol"), css="o-what", order=("symbol",)),
        Column("side", "Side", Value("side"), css="o-side"),
        Value("type"),
        Value("time in force"),
        Column("quantity", "Quantity", Value("quantity"), css="o-quantity", is_end=True),
        Column("price", "Price", Value("price"), css="o-price", is_end=True, on_phone="at"),
        Value("stop price"),
        Column("filled", "Filled", Value("filled", "cum_quantity"), css="o-filled", is_end=True, on_phone="Filled"),
        Column("average", "Average price", Value("average price"), is_shown=False, is_end=True),
        Value("post-only", "post_only"),
        Value("margin"),
        Column("who", "Placed by", Value("placed by", "initiator.username"), css="o-who"),
        Column("made", "Created", Value("requested or first seen ({zone})", "created_at"), css="o-when", is_time=True),
        Value("created at the exchange ({zone})", "exchange_created_at"),
        Value("changed at the exchange ({zone})", "exchange_updated_at"),
        Value("replaces", "replaces_id"),
        Column("client_order_id", "Client order ID", Value("client order id"), is_shown=False, is_mono=True),
        Column("exchange_id", "Exchange ID", Value("exchange id", is_id=True), is_shown=False, is_mono=True),
    ),
    page="order side what quantity filled price status who made average client_order_id exchange_id",
)


@posted(rules.may_trade, ONLY_OPERATORS)
def refresh(request: DeskRequest) -> HttpResponse:
    """Have the exchange's lists read now; a worker does, and the page hears of it."""
    account = accounts.required(request)
    workflow.ask_to_read(account=account, person=request.user, now=clock.now())
    messages.info(request, f"{account.name}: refreshing order lists. No orders were placed or cancelled.")
    return redirect("margin" if request.POST.get("back") == "margin" else "orders")


@posted(rules.may_trade, ONLY_OPERATORS)
def cancel_all(request: DeskRequest) -> HttpResponse:
    """Cancel the open orders that the person saw, of one symbol or of all."""
    form = CancelAllForm(request.POST)
    if not form.is_valid():
        refusal = "No orders were cancelled: the form was incomplete. Reload the page and try again."
        if request.htmx:
            return answer_here(request, refusal, tone="bad", status=422)
        return lists.show_list(request, ORDERS, status=422, refusal=refusal)
    if form.cleaned_data["margin"]:
        return _cancel_every_margin_order(request)
    symbol = form.cleaned_data["symbol"].upper()
    count = workflow.cancel_all(
        account=accounts.required(request),
        symbol=symbol,
        newest=int(form.cleaned_data["newest"] or NEWEST),
        person=request.user,
        now=clock.now(),
        session_key=request.session.session_key or "",
    )
    if request.htmx:
        return answer_here(request, _cancelled(count))
    messages.success(request, _cancelled(count))
    if symbol and request.POST.get("back") == "market":
        return redirect("market", symbol)
    return redirect(f"{reverse('orders')}?view=all&symbol={quote(symbol)}" if symbol else reverse("orders"))


def _cancel_every_margin_order(request: DeskRequest) -> HttpResponse:
    count = workflow.cancel_every_margin_order(
        account=accounts.required(request),
        person=request.user,
        now=clock.now(),
        session_key=request.session.session_key or "",
    )
    messages.success(request, _cancelled(count))
    return redirect("margin")


@posted(rules.may_trade, ONLY_OPERATORS)
def cancel_chosen(request: DeskRequest) -> HttpResponse:
    """Cancel those of the chosen orders that are still open."""
    numbers = [int(key) for key in request.POST.getlist("row") if key.isascii() and key.isdigit() and len(key) <= 18]
    count = workflow.cancel_chosen(
        account=accounts.required(request),
        numbers=numbers,
        person=request.user,
        now=clock.now(),
        session_key=request.session.session_key or "",
    )
    messages.success(request, _cancelled(count))
    return redirect("orders")


def _cancelled(count: int) -> str:
    if not count:
        return "No open orders to cancel."
    return f"Cancel requested for {count} order{'' if count == 1 else 's'}."
