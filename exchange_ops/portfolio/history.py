"""The past as pages show it: value over time, its change, inflows and outflows. From daily rows only.

Two days are compared by what is known of both: a rebuilt day knows the two wallets only.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Final

from exchange_ops.portfolio.models import DailyFlow, Snapshot, SnapshotLine
from exchange_ops.portfolio.totals import Totals
from exchange_ops.shared.models import Account

ZERO: Final = Decimal(0)
RANGES: Final = {"30": "30 days", "365": "1 year"}
USUAL: Final = "30"
DAYS: Final = (Snapshot.DAILY, Snapshot.REBUILT)


@dataclass(slots=True)
class Point:
    """One day, in the quote currency. `own` is both wallets; `total` adds sub-accounts and margin where known."""

    at: datetime
    own: Decimal | None = None
    total: Decimal | None = None
    is_rebuilt: bool = False
    is_apart: bool = False
    without_value: set[str] = field(default_factory=set)


@dataclass(slots=True)
class History:
    """The days of a range up to now, oldest first, and what changed from the first comparable one to now.

    A day without the price of a currency that has one now would look too low: it `is_apart`, no part of the line, and
    `missing` names those currencies. `is_of_total` says whether the change is one of the total or of both wallets
    only; `share` is the change as a fraction of the value at the beginning.
    """

    points: list[Point] = field(default_factory=list)
    quote: str = ""
    change: Decimal | None = None
    share: Decimal | None = None
    since: datetime | None = None
    is_of_total: bool = False
    missing: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    rebuilt_until: datetime | None = None

    @property
    def line(self) -> list[Point]:
        """The days that can be compared."""
        return [point for point in self.points if not point.is_apart]


@dataclass(slots=True)
class Flow:
    """One currency in a range: amounts in it, values in the quote currency as far as each day had a price.

    `is_valued`: at least one of its days had one.
    """

    currency: str
    came_in: Decimal = ZERO
    went_out: Decimal = ZERO
    fees: Decimal = ZERO
    value_in: Decimal = ZERO
    value_out: Decimal = ZERO
    value_fees: Decimal = ZERO
    is_partly_valued: bool = False
    is_valued: bool = False


@dataclass(slots=True)
class Flows:
    """All currencies, the largest first, and their sums; `unvalued` are those of which the sums hold only a part.

    The sums are None where no currency had a price.
    """

    quote: str = ""
    rows: list[Flow] = field(default_factory=list)
    came_in: Decimal | None = None
    went_out: Decimal | None = None
    fees: Decimal | None = None
    unvalued: tuple[str, ...] = ()

    @property
    def net(self) -> Decimal | None:
        """The net inflow from outside, after fees; None where nothing that moved has a price."""
        if self.came_in is None or self.went_out is None or self.fees is None:
            return None
        return self.came_in - self.went_out - self.fees


def value_history(*, accounts: Sequence[Account], worth: Totals | None, days: int, now: datetime) -> History:
    """The value over the last days. Accounts valued in another currency than the first are left out and named."""
    same, others = _split_by_quote(accounts)
    history = History(quote=same[0].quote_currency if same else "", left_out=tuple(row.name for row in others))
    rows = Snapshot.objects.filter(account__in=same, kind__in=DAYS, hour__gte=now - timedelta(days=days))
    by_day: dict[date, Point] = {}
    for row in rows.order_by("hour"):
        _add(by_day.setdefault(row.hour.date(), Point(row.taken_at)), row)
    history.points = list(by_day.values())
    history.rebuilt_until = max((point.at for point in history.points if point.is_rebuilt), default=None)
    if worth is not None and worth.total is not None and not others:
        history.points.append(Point(now, worth.own, worth.total, without_value=set(worth.unvalued)))
    _compare(history)
    return history


def amounts(*, accounts: Sequence[Account], currency: str, days: int, now: datetime) -> list[tuple[datetime, Decimal]]:
    """The balance of one currency in both wallets on each day for which it is known, oldest first."""
    since = now - timedelta(days=days)
    lines = SnapshotLine.objects.filter(currency=currency, wallet__in=("bank", "trading"), snapshot__hour__gte=since)
    lines = lines.filter(snapshot__account__in=accounts, snapshot__kind__in=DAYS)
    held: defaultdict[int, Decimal] = defaultdict(lambda: ZERO)
    for snapshot, amount in lines.values_list("snapshot", "amount"):
        held[snapshot] += amount
    by_day: dict[date, list[tuple[datetime, Decimal]]] = defaultdict(list)
    rows = Snapshot.objects.filter(account__in=accounts, kind__in=DAYS, hour__gte=since).order_by("hour")
    unknown = set()
    for key, hour, taken_at, unknown_codes in rows.values_list("pk", "hour", "taken_at", "unknown"):
        by_day[hour.date()].append((taken_at, held[key]))
        unknown |= {hour.date()} if currency in unknown_codes else set()
    return [
        (parts[0][0], sum((amount for _, amount in parts), ZERO)) for day, parts in by_day.items() if day not in unknown
    ]


def flows(*, accounts: Sequence[Account], days: int, now: datetime) -> Flows:
    """Inflows from outside and outflows over the last `days` days."""
    same, _ = _split_by_quote(accounts)
    rows = DailyFlow.objects.filter(account__in=same, day__gt=(now - timedelta(days=days)).date())
    by_code: dict[str, Flow] = {}
    for code, came_in, went_out, fees, price in rows.values_list("currency", "came_in", "went_out", "fees", "price"):
        _count(by_code.setdefault(code, Flow(code)), came_in, went_out, fees, price)
    currency_flows = sorted(by_code.values(), key=lambda row: (-(row.value_in + row.value_out), row.currency))
    return Flows(
        quote=same[0].quote_currency if same else "",
        rows=currency_flows,
        came_in=_sum(row.value_in for row in currency_flows if row.is_valued),
        went_out=_sum(row.value_out for row in currency_flows if row.is_valued),
        fees=_sum(row.value_fees for row in currency_flows if row.is_valued),
        unvalued=tuple(sorted(row.currency for row in currency_flows if row.is_partly_valued)),
    )


def _split_by_quote(accounts: Sequence[Account]) -> tuple[list[Account], list[Account]]:
    same = [row for row in accounts if row.quote_currency == accounts[0].quote_currency]
    return same, [row for row in accounts if row not in same]


def _add(point: Point, row: Snapshot) -> None:
    point.own = _sum((point.own, row.bank, row.trading))
    point.total = _sum((point.total, row.bank, row.trading, row.subaccounts, row.margin))
    point.is_rebuilt = point.is_rebuilt or row.kind == Snapshot.REBUILT
    point.without_value |= {*row.unvalued, *row.unknown}


def _compare(history: History) -> None:
    """Mark the days that can't be compared, and compute the change between two that lack the same currencies."""
    valued_points = [point for point in history.points if point.own is not None]
    if not valued_points:
        return
    last = valued_points[-1]
    for point in history.points:
        point.is_apart = not point.without_value <= last.without_value
    apart = (point.without_value - last.without_value for point in history.points if point.is_apart)
    history.missing = tuple(sorted(set().union(*apart)))
    alike = [point for point in valued_points if point.without_value == last.without_value]
    if len(alike) < 2:
        return
    first, history.since = alike[0], alike[0].at
    history.is_of_total = not first.is_rebuilt and not last.is_rebuilt
    before, after = (first.total, last.total) if history.is_of_total else (first.own, last.own)
    if before is None or after is None:
        return
    history.change = after - before
    history.share = history.change / before if before else None


def _count(row: Flow, came_in: Decimal, went_out: Decimal, fees: Decimal, price: Decimal | None) -> None:
    row.came_in, row.went_out, row.fees = row.came_in + came_in, row.went_out + went_out, row.fees + fees
    if price is None:
        row.is_partly_valued = True
        return
    row.is_valued = True
    row.value_in += came_in * price
    row.value_out += went_out * price
    row.value_fees += fees * price


def _sum(values: Iterable[Decimal | None]) -> Decimal | None:
    summands = [value for value in values if value is not None]
    return sum(summands, ZERO) if summands else None
