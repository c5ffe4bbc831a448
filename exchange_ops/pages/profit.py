"""Profit and loss by coin: realised in a range, unrealised at present prices, by the method that the reader chooses."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from django.db import transaction
from django.http import HttpResponse
from django.views.decorators.http import require_safe

from desk import clock
from desk.audit import trail
from desk.lists import exports
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.market import valuation
from exchange_ops.pages import margin_profit
from exchange_ops.portfolio import lots
from exchange_ops.portfolio.models import Profit, ProfitDay, Progress
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import requires

ALL: Final = "all"
RANGES: Final = {"30": "30 days", "365": "1 year", ALL: "All time"}
ZERO: Final = Decimal(0)
COLUMNS: Final = (
    *(
        "account",
        "method",
        "coin",
        "quote",
        "quantity",
        "known_quantity",
        "cost",
        "average_cost",
        "price",
        "unrealised",
    ),
    *(
        "realised",
        "fees",
        "fee_currency",
        "range",
        "no_known_cost",
        "sold_without_cost",
        "proceeds_without_cost",
        "left_without_price",
    ),
    *("cost_without_price", "opening", "unexplained", "computed_at"),
)


@dataclass(slots=True)
class Line:
    """One coin of one account; money in the account's quote currency, `realised` and `fees` those of the range."""

    profit: Profit
    realised: Decimal = ZERO
    fees: Decimal = ZERO
    value: valuation.Value | None = None

    @property
    def quantity(self) -> Decimal:
        """The quantity held, whether its cost is known or not."""
        held: Decimal = self.profit.known_quantity + self.profit.unknown_quantity
        return held

    @property
    def average(self) -> Decimal | None:
        """The average cost of a unit whose cost is known."""
        profit = self.profit
        return profit.cost / profit.known_quantity if profit.known_quantity else None

    @property
    def unrealised(self) -> Decimal | None:
        """The unrealised profit on the quantity whose cost is known; None without a fresh price."""
        price = self.value.rate if self.value is not None else None
        if not self.profit.known_quantity:
            return None
        return lots.unrealised(quantity=self.profit.known_quantity, cost=self.profit.cost, price=price)


@require_safe
@requires(rules.may_see)
def profit(request: DeskRequest) -> HttpResponse:
    """One line for each coin, and the sums."""
    now, mine, method, chosen = clock.now(), accounts.in_view(request), _method(request), _range(request)
    lines = _lines(mine, method, chosen, now)
    margin = margin_profit.lines(mine, since=_first_day(chosen, now))
    context = {
        "now": now,
        "accounts": mine,
        "account": mine[0] if len(mine) == 1 else None,
        "method": method,
        "methods": lots.METHODS,
        "range": chosen,
        "ranges": RANGES,
        "lines": lines,
        "sums": _sums(lines),
        "margin": margin,
        "margin_sums": margin_profit.sums(margin),
        "quote": mine[0].quote_currency if mine else "",
        "problems": list(Progress.objects.filter(account__in=mine).exclude(problem="").select_related("account")),
    }
    return show(request, "exchange_ops/profit.html", context, parts={"profits": "exchange_ops/profit/_rows.html"})


@require_safe
@requires(rules.may_see)
def export(request: DeskRequest) -> HttpResponse:
    """The same lines as a file; the export is recorded in the audit trail first."""
    now, method, chosen = clock.now(), _method(request), _range(request)
    mine = accounts.in_view(request)
    lines = _lines(mine, method, chosen, now)
    margin = margin_profit.lines(mine, since=_first_day(chosen, now))
    with transaction.atomic():
        trail.record(
            actor=request.user,
            action="profit.exported",
            subject="profit",
            before={},
            after={"method": method, "range": chosen},
            now=now,
            session_key=request.session.session_key or "",
        )
    response = HttpResponse(_csv(lines, margin, method, chosen), content_type="text/csv; charset=utf-8")
    exports.as_file(response, f"profit-{method}-{now:%Y%m%dT%H%M%SZ}.csv")
    return response


def _method(request: DeskRequest) -> str:
    method = request.GET.get("method", lots.FIFO)
    return method if method in lots.METHODS else lots.FIFO


def _range(request: DeskRequest) -> str:
    range_name = request.GET.get("range", ALL)
    return range_name if range_name in RANGES else ALL


def _first_day(chosen: str, now: datetime) -> date | None:
    """The first UTC day of the range; None for all of them."""
    return None if chosen == ALL else (now - timedelta(days=int(chosen) - 1)).date()


def _lines(mine: Sequence[Account], method: str, chosen: str, now: datetime) -> list[Line]:
    """Four queries however many coins there are."""
    rows = Profit.objects.filter(account__in=mine, method=method).select_related("account").order_by("account", "coin")
    lines = {row.pk: Line(row) for row in rows}
    days = ProfitDay.objects.filter(profit__in=list(lines))
    if first := _first_day(chosen, now):
        days = days.filter(day__gte=first)
    for key, realised, fees in days.values_list("profit", "realised", "fees"):
        lines[key].realised += realised
        lines[key].fees += fees
    _value(list(lines.values()), now)
    return sorted(lines.values(), key=lambda line: (line.profit.account_id, not line.quantity, line.profit.coin))


def _value(lines: list[Line], now: datetime) -> None:
    for quote in {line.profit.account.quote_currency for line in lines}:
        mine = [line for line in lines if line.profit.account.quote_currency == quote]
        held = {line.profit.coin: Decimal(1) for line in mine}
        values = valuation.values_of(amounts=held, quote=quote, now=now)
        for line in mine:
            line.value = values[line.profit.coin]


def _sums(lines: list[Line]) -> list[dict[str, Any]]:
    """One sum for each quote currency; `unvalued` are coins with a known cost but no fresh price."""
    sums: dict[str, dict[str, Any]] = {}
    for line in lines:
        quote = line.profit.account.quote_currency
        start = {"quote": quote, "cost": ZERO, "realised": ZERO, "unrealised": ZERO, "fees": ZERO, "unvalued": []}
        row = sums.setdefault(quote, start)
        row["cost"] += line.profit.cost
        row["realised"] += line.realised
        row["fees"] += line.fees
        row["unrealised"] += line.unrealised or ZERO
        if line.profit.known_quantity and line.unrealised is None:
            row["unvalued"].append(line.profit.coin)
    return list(sums.values())


def _csv(lines: list[Line], margin: list[margin_profit.MarginLine], method: str, chosen: str) -> str:
    rows = [_values(line, chosen) for line in lines]
    by_name = [_margin_values(one, method, chosen) for one in margin]
    rows += [[values.get(name) for name in COLUMNS] for values in by_name]
    return exports.table([name.replace("_", " ") for name in COLUMNS], [map(_in_places, row) for row in rows])


def _values(line: Line, chosen: str) -> list[Any]:
    row, price = line.profit, line.value.rate if line.value is not None else None
    return [
        *(row.account.name, lots.METHODS[row.method], row.coin, row.account.quote_currency, line.quantity),
        *(row.known_quantity, row.cost, line.average, price, line.unrealised, line.realised, line.fees),
        *(row.account.quote_currency, RANGES[chosen]),
        *(row.unknown_quantity, row.sold_without_cost, row.proceeds_without_cost, row.left_without_price),
        *(row.cost_without_price, row.opening, row.unexplained, row.computed_at.isoformat()),
    ]


def _margin_values(line: margin_profit.MarginLine, method: str, chosen: str) -> dict[str, Any]:
    """The row of a symbol on margin by the names of the columns; its realised result has fees and interest deducted."""
    held = line.position
    return {
        "account": line.account.name,
        "method": lots.METHODS[method],
        "coin": f"{line.symbol} margin",
        "quote": line.total.quote_currency,
        "quantity": None if held is None else held.quantity,
        "average_cost": None if held is None else held.price_entry,
        "unrealised": line.unrealised,
        "realised": line.total.net,
        "fees": line.total.fees,
        "fee_currency": line.total.quote_currency,
        "range": RANGES[chosen],
        "computed_at": None if held is None else held.read_at.isoformat(),
    }


def _in_places(value: Any) -> Any:
    """An amount with as many places as lots have; anything else as it is."""
    return value.quantize(lots.PLACES).normalize() if isinstance(value, Decimal) else value
