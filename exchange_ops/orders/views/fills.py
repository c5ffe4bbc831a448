"""The account's own trades: every fill of its orders, whoever placed them."""

from collections.abc import Sequence
from typing import Any, Final

from django import forms
from django.db.models import QuerySet

from desk.lists.declared import Column, Interface, List, Rows, Totals, Value
from desk.lists.filters import DatedForm
from desk.web.context import Entry
from desk.web.requests import DeskRequest
from exchange_ops.market.models import Symbol
from exchange_ops.orders import trades
from exchange_ops.orders.api_shapes import TradeOut
from exchange_ops.orders.forms import WholeNumberField
from exchange_ops.orders.models import AccountTrade, Order
from exchange_ops.shared import rules
from exchange_ops.shared.api.resources import OfAccount
from exchange_ops.shared.views import accounts


class TradeFilter(DatedForm):
    """Which trades of the account to list: of a symbol, of one order by its number here."""

    dated, dated_label = "timestamp", "Traded"

    symbol = forms.CharField(label="Symbol", required=False, max_length=40)
    side = forms.ChoiceField(label="Side", required=False, choices=[("", "Both"), ("buy", "Buy"), ("sell", "Sell")])
    order = WholeNumberField(label="Order number", required=False, min_value=0, max_value=10**18 - 1)
    currency = forms.CharField(label="Bought or sold", required=False, max_length=20)
    fee_currency = forms.CharField(label="Fee currency", required=False, max_length=20)
    wallet = forms.ChoiceField(
        label="Settled in",
        required=False,
        choices=[("", "Any wallet"), ("trading", "Trading wallet"), ("margin", "Margin collateral")],
    )

    def narrow(self, rows: QuerySet[AccountTrade]) -> QuerySet[AccountTrade]:
        """Only the rows that every filter which is set lets through."""
        chosen = self.chosen()
        rows = trades.of_currencies(rows, moved=chosen.get("currency", ""), fee=chosen.get("fee_currency", ""))
        if "wallet" in chosen:
            of_margin = trades.settled_in_margin()
            rows = rows.filter(of_margin) if chosen["wallet"] == "margin" else rows.exclude(of_margin)
        if "symbol" in chosen:
            rows = rows.filter(symbol=chosen["symbol"].upper())
        if "side" in chosen:
            rows = rows.filter(side=chosen["side"])
        if "order" in chosen:
            order = Order.objects.filter(pk=chosen["order"], exchange_id__isnull=False)
            rows = rows.filter(exchange_order_id__in=order.values("exchange_id"))
        return rows


def _rows(request: DeskRequest) -> Rows:
    rows = trades.with_fee_currency(AccountTrade.objects.filter(account=accounts.current(request)))
    return Rows(rows, topics="orders")


def _with_orders(page: Sequence[Any]) -> None:
    """Give each trade the currencies of its symbol, and the order that it filled."""
    symbols = {row.code: row for row in Symbol.objects.filter(code__in={trade.symbol for trade in page})}
    numbers = {trade.exchange_order_id for trade in page}
    accounts_of = {trade.account_id for trade in page}
    rows = Order.objects.filter(account__in=accounts_of, exchange_id__in=numbers)
    orders = {(order.account_id, order.exchange_id): order for order in rows}
    for trade in page:
        trade.listed = symbols.get(trade.symbol)
        trade.order = orders.get((trade.account_id, trade.exchange_order_id))


FILLS: Final = List(
    name="fills",
    title="Fills",
    one="fill",
    many="fills",
    path="orders/fills/",
    template="exchange_ops/fills.html",
    css="fills",
    entry=Entry(
        "Fills", "fills", "check", "Trading", order=130, key="h", may_see=rules.may_see, also=("Trades", "Executions")
    ),
    interface=Interface(
        name="trades",
        sentence="Trades on the account, fifty per page, newest first.",
        shape=TradeOut,
        resource=OfAccount,
        rows=trades.with_fee_currency(AccountTrade.objects.all()),
        key="exchange_id",
    ),
    rows=_rows,
    prepare=_with_orders,
    may_see=rules.may_see,
    filters=TradeFilter,
    order=("timestamp",),
    is_unique=False,
    totals=Totals(by=("symbol", "side"), sums={"quantity": "", "fee": "fees"}, units={}, is_named=True),
    columns=(
        Column(
            "exchange_id", "Exchange ID", Value("exchange id", is_id=True), is_shown=False, is_end=True, is_mono=True
        ),
        Column(
            "traded",
            "Time",
            Value("traded at ({zone})", "timestamp"),
            css="s-when",
            order=("timestamp",),
            is_time=True,
        ),
        Column("symbol", "Symbol", Value("symbol"), css="s-name", order=("symbol", "timestamp")),
        Column("side", "Side", Value("side"), css="s-state"),
        Column("quantity", "Quantity", Value("quantity"), css="s-amount", is_end=True),
        Column("price", "Price", Value("price"), css="s-turn", is_end=True, on_phone="at"),
        Column(
            "value", "Value", Value("value", reads=("quantity", "price")), css="s-to", is_end=True, on_phone="Value"
        ),
        Column("fee", "Fee", Value("fee"), css="s-who", is_end=True, on_phone="Fee"),
        Value("fee currency"),
        Column("liquidity", "Liquidity", Value("taker"), css="f-liquidity"),
        Value("liquidation"),
        Column(
            "order",
            "Order",
            Value("order's exchange id", "exchange_order_id", is_id=True),
            css="f-order",
            on_phone="Order",
        ),
        Value("client order id"),
    ),
    page="symbol side quantity price value fee order liquidity traded exchange_id",
)
