"""Daily inflows and outflows, added up from the ledger once, and again only for the days that changed."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Final

from django.db import transaction
from django.db.models import Max

from exchange_ops.ledger.models import LedgerVersion
from exchange_ops.portfolio import effects
from exchange_ops.portfolio.models import DailyFlow, Progress
from exchange_ops.portfolio.prices import DayPrices
from exchange_ops.portfolio.snapshots import PRICE_PLACES
from exchange_ops.shared.models import Account

ZERO: Final = Decimal(0)
MOST_CHANGED: Final = 2_000  # versions; more than this and everything is added up anew
LATE: Final = 200  # versions that are read again: another process may have committed a smaller number later


def update(*, account: Account, progress: Progress) -> bool:
    """Add up the days whose entries changed; returns whether there were any."""
    newest = LedgerVersion.objects.filter(account=account).aggregate(newest=Max("pk"))["newest"] or 0
    if newest == progress.version:
        return False
    days = None if not progress.version else _changed_days(account, progress.version - LATE)
    with transaction.atomic():
        _add_up(account, days)
        Progress.objects.filter(pk=progress.pk).update(version=newest)
    progress.version = newest
    return True


def price(*, account: Account) -> int:
    """Set the closing price of days without one and of the last two days; returns how many changed."""
    newest = DailyFlow.objects.filter(account=account).aggregate(newest=Max("day"))["newest"]
    if newest is None:
        return 0
    rows = DailyFlow.objects.filter(account=account)
    waiting = list((rows.filter(price=None) | rows.filter(day__gte=newest - timedelta(days=1))).order_by("day"))
    prices = DayPrices(codes={row.currency for row in waiting}, quote=account.quote_currency, since=waiting[0].day)
    changed = [row for row in waiting if _reprice(row, prices)]
    DailyFlow.objects.bulk_update(changed, ["price"], batch_size=500)
    return len(changed)


def _reprice(row: DailyFlow, prices: DayPrices) -> bool:
    before, price = row.price, prices.on(row.currency, row.day)
    row.price = price.rate.quantize(PRICE_PLACES, rounding=ROUND_HALF_EVEN) if price else before
    return bool(row.price != before)


def _changed_days(account: Account, since: int) -> set[date] | None:
    """The days of changed entries and of their earlier versions; None when there are too many."""
    changed = LedgerVersion.objects.filter(account=account, pk__gt=since)
    entries = list(changed.values_list("entry_id", flat=True)[: MOST_CHANGED + 1])
    if len(entries) > MOST_CHANGED:
        return None
    versions = LedgerVersion.objects.filter(entry__in=set(entries))
    days = {at.astimezone(UTC).date() for at in versions.values_list("entry__updated_at", flat=True)}
    for content in versions.values_list("content", flat=True):
        text = content.get("updatedAt") if isinstance(content, dict) else None
        days |= {_day(text)} if text else set()
    return days


def _add_up(account: Account, days: set[date] | None) -> None:
    """Write the rows of these days again, or of all days."""
    stored = DailyFlow.objects.filter(account=account)
    rows = effects.succeeded(account).filter(type__in=effects.IN | effects.OUT)
    if days is None:
        stored.delete()
        _write(account, effects.entries(rows.order_by()))
        return
    for first, after in _runs(days):
        stored.filter(day__gte=first, day__lt=after).delete()
        within = {"updated_at__gte": _midnight(first), "updated_at__lt": _midnight(after)}
        _write(account, effects.entries(rows.filter(**within).order_by()))


def _write(account: Account, entries: Iterable[effects.Entry]) -> None:
    sums: defaultdict[tuple[date, str], list[Decimal]] = defaultdict(lambda: [ZERO, ZERO, ZERO])
    for entry in entries:
        if entry.is_inside:
            continue
        figures = sums[entry.at.astimezone(UTC).date(), entry.currency]
        figures[0 if entry.type in effects.IN else 1] += entry.amount
        figures[2] += entry.fee
    flows = [
        DailyFlow(account=account, day=day, currency=code, came_in=figures[0], went_out=figures[1], fees=figures[2])
        for (day, code), figures in sums.items()
    ]
    DailyFlow.objects.bulk_create(flows, batch_size=500)


def _runs(days: Iterable[date]) -> list[tuple[date, date]]:
    """Consecutive days as ranges, each without its end."""
    runs: list[tuple[date, date]] = []
    for day in sorted(days):
        after = day + timedelta(days=1)
        if runs and runs[-1][1] == day:
            runs[-1] = (runs[-1][0], after)
        else:
            runs.append((day, after))
    return runs


def _day(text: str) -> date:
    return datetime.fromisoformat(text).astimezone(UTC).date()


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), tzinfo=UTC)
