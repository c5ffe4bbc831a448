"""What an account is worth, stored every hour, and rebuilt from the ledger for the time before.

A snapshot holds only balances that were read within minutes: what was unknown then is a gap, not a guess. The days
before the first one are rebuilt once, each at its first instant, as soon as ledger and trades have been read.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Final

from django.db import transaction
from django.db.models import Max, Min

from desk import clock
from exchange_ops.ledger import quarantine, walks
from exchange_ops.ledger.models import Balance
from exchange_ops.market import valuation
from exchange_ops.market.models import Ticker
from exchange_ops.orders import workflow
from exchange_ops.orders.models import AccountTrade
from exchange_ops.portfolio import amounts, effects, walking
from exchange_ops.portfolio.models import BANK, TRADING, WALLETS, Snapshot, SnapshotLine
from exchange_ops.portfolio.prices import DayPrices
from exchange_ops.shared import heartbeats
from exchange_ops.shared.models import Account

FRESH_FOR: Final = timedelta(minutes=10)
REBUILT_BACK: Final = timedelta(days=366)
PRICE_PLACES, VALUE_PLACES = Decimal(1).scaleb(-24), valuation.PLACES
MOST_DIGITS: Final = 36
DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class _Priced:
    """One line before it is stored."""

    wallet: str
    currency: str
    amount: Decimal
    price: Decimal | None = None
    value: Decimal | None = None
    priced_at: datetime | None = None
    via: tuple[str, ...] = ()


def store_current(*, account: Account, now: datetime) -> Snapshot | None:
    """Store the account's balances as the snapshot of this hour; None if nothing is to be stored.

    That is while the balances are too old, or before any price was read. A line without a price gets the first one
    that is read within its hour: on a new desk balances come before prices.
    """
    hour = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    if row := Snapshot.objects.filter(account=account, hour=hour).first():
        return row if row.unvalued and row.kind != Snapshot.REBUILT and _price_late(row, now) else None
    if not _is_fresh(account, now) or not Ticker.objects.exists():
        return None
    held = {wallet: dict(by_currency) for (_, wallet), by_currency in amounts.now([account]).items()}
    values = valuation.values_of_groups(groups=held, quote=account.quote_currency, now=now)
    lines = [
        _current_line(wallet, code, held[wallet][code], value)
        for wallet, by_currency in values.items()
        for code, value in by_currency.items()
    ]
    first = not Snapshot.objects.filter(account=account, hour__gte=_midnight(now.date()), hour__lte=hour).exists()
    kind = Snapshot.DAILY if first else Snapshot.HOURLY
    return _store(account, hour=hour, taken_at=now, kind=kind, lines=lines, wallets=WALLETS)


def rebuild(*, account: Account, now: datetime) -> int:
    """Rebuild the days before the first snapshot from the ledger; returns how many. Raises `CannotRebuild`."""
    if reason := _too_early(account, now):
        raise CannotRebuild(reason)
    held = {
        (wallet, code): amount
        for (_, wallet), by_currency in amounts.now([account]).items()
        if wallet in {BANK, TRADING}
        for code, amount in by_currency.items()
    }
    moments = _moments(account, now)
    codes = {code for _, code in held} | set(effects.currencies(account))
    prices = DayPrices(codes=codes, quote=account.quote_currency, since=(moments[-1] if moments else now).date())
    holdings = walking.back(held=held, changes=effects.newest_changes(account), moments=moments)
    with transaction.atomic():
        return sum(1 for past in holdings if _store_rebuilt(account, past, prices) is not None)


def revalue(*, account: Account) -> int:
    """Value rebuilt days by the closing prices that were read since; returns how many days changed."""
    rows = list(Snapshot.objects.filter(account=account, kind=Snapshot.REBUILT).exclude(unvalued=[]).order_by("hour"))
    if not rows:
        return 0
    codes = {code for row in rows for code in row.unvalued}
    prices = DayPrices(codes=codes, quote=account.quote_currency, since=rows[0].hour.date() - DAY)
    with transaction.atomic():
        return sum(1 for row in rows if _revalue(row, prices))


def _price_late(row: Snapshot, now: datetime) -> bool:
    """Price the lines of this hour's snapshot that had no price; whether one changed."""
    lines = list(row.lines.all())
    unpriced = {line.currency: Decimal(1) for line in lines if line.value is None}
    values = valuation.values_of(amounts=unpriced, quote=row.quote, now=now)
    priced_lines = [
        _current_line(line.wallet, line.currency, line.amount, values[line.currency])
        if line.value is None
        else _Priced(line.wallet, line.currency, line.amount)
        for line in lines
    ]
    with transaction.atomic():
        return _replace(row, lines, priced_lines, wallets=WALLETS)


def _revalue(row: Snapshot, prices: DayPrices) -> bool:
    stored_lines = list(row.lines.all())
    priced_lines = [
        _past_line((line.wallet, line.currency), line.amount, prices, row.hour.date() - DAY) for line in stored_lines
    ]
    return _replace(row, stored_lines, priced_lines, wallets=(BANK, TRADING))


def _replace(
    row: Snapshot, stored_lines: list[SnapshotLine], priced_lines: list[_Priced], *, wallets: Iterable[str]
) -> bool:
    """Take over the values of lines that had none, and the sums with them; whether there was one."""
    changed = [
        _line(row, new)
        for old, new in zip(stored_lines, priced_lines, strict=True)
        if old.value is None and new.value is not None
    ]
    if not changed:
        return False
    places = {(line.wallet, line.currency) for line in changed}
    row.lines.filter(pk__in=[line.pk for line in stored_lines if (line.wallet, line.currency) in places]).delete()
    SnapshotLine.objects.bulk_create(changed)
    lines = [_Priced(*values) for values in row.lines.values_list("wallet", "currency", "amount", "price", "value")]
    unvalued = sorted({line.currency for line in lines if line.value is None})
    Snapshot.objects.filter(pk=row.pk).update(unvalued=unvalued, **_sums(lines, wallets))
    return True


class CannotRebuild(Exception):
    """The history can't be rebuilt yet; the text says what is missing."""


def _is_fresh(account: Account, now: datetime) -> bool:
    """Whether every row of both wallets was read a moment ago."""
    read = Balance.objects.filter(account=account).aggregate(oldest=Min("read_at"), newest=Max("read_at"))
    return all(clock.is_fresh(moment, now, within=FRESH_FOR) for moment in read.values())


def _too_early(account: Account, now: datetime) -> str:
    if walks.is_incomplete(account=account, now=now):
        return "the ledger is still loading"
    if waiting := quarantine.waiting(account=account):
        return f"{waiting} ledger records could not be processed"
    read = heartbeats.state_of(workflow.name_of(account))
    if read is None or read.heard_at is None:
        return "the account's trades are still loading"
    if unknown := effects.unknown_symbols(account):
        return f"trades in {unknown[0]}, a symbol the exchange no longer lists, cannot be reversed"
    return "" if _is_fresh(account, now) else "the balances are not current"


def _moments(account: Account, now: datetime) -> list[datetime]:
    """The first instant of each day from the first entry on, before the day of the first snapshot, the newest first."""
    first_entry = effects.succeeded(account).aggregate(first=Min("updated_at"))["first"]
    first_trade = AccountTrade.objects.filter(account=account).aggregate(first=Min("timestamp"))["first"]
    begins = min((at for at in (first_entry, first_trade) if at is not None), default=None)
    first_snapshot = Snapshot.objects.filter(account=account).aggregate(first=Min("hour"))["first"]
    ends = _midnight(first_snapshot.astimezone(UTC).date()) if first_snapshot else now
    if begins is None:
        return []
    first = max(begins, now - REBUILT_BACK).astimezone(UTC).date()
    days = (ends.astimezone(UTC).date() - first).days
    moments = [_midnight(first + DAY * number) for number in range(days, -1, -1)]
    return [moment for moment in moments if moment < ends]


def _store_rebuilt(account: Account, past: walking.Holding, prices: DayPrices) -> Snapshot | None:
    """The balances at the first instant of a day, valued by the closing prices of the day before."""
    day = past.at.date() - DAY
    lines = [_past_line(place, amount, prices, day) for place, amount in past.amounts.items()]
    return _store(
        account,
        hour=past.at,
        taken_at=past.at,
        kind=Snapshot.REBUILT,
        lines=lines,
        wallets=(BANK, TRADING),
        unknown=past.unknown,
    )


def _current_line(wallet: str, code: str, amount: Decimal, value: valuation.Value) -> _Priced:
    line = _Priced(wallet, code, amount, priced_at=value.as_of, via=value.via)
    return _priced(line, None if value.amount is None else value.rate)


def _past_line(place: walking.Place, amount: Decimal, prices: DayPrices, day: date) -> _Priced:
    price = prices.on(place[1], day)
    if price is None:
        return _Priced(*place, amount)
    return _priced(_Priced(*place, amount, priced_at=_midnight(price.day), via=price.via), price.rate)


def _priced(line: _Priced, rate: Decimal | None) -> _Priced:
    """The line with its price and value as stored, or with neither if there is no price or it is beyond all bounds."""
    bare = _Priced(line.wallet, line.currency, line.amount)
    if rate is None or rate.adjusted() >= MOST_DIGITS:
        return bare
    price = rate.quantize(PRICE_PLACES, rounding=ROUND_HALF_EVEN)
    value = (line.amount * price).quantize(VALUE_PLACES, rounding=ROUND_HALF_EVEN)
    return bare if value.adjusted() >= MOST_DIGITS else replace(line, price=price, value=value)


def _store(
    account: Account,
    *,
    hour: datetime,
    taken_at: datetime,
    kind: str,
    lines: Iterable[_Priced],
    wallets: Iterable[str],
    unknown: Iterable[str] = (),
) -> Snapshot | None:
    priced_lines = list(lines)
    with transaction.atomic():
        row, is_new = Snapshot.objects.get_or_create(
            account=account,
            hour=hour,
            defaults={
                "taken_at": taken_at,
                "kind": kind,
                "quote": account.quote_currency,
                "unvalued": sorted({line.currency for line in priced_lines if line.value is None}),
                "unknown": sorted(unknown),
                **_sums(priced_lines, wallets),
            },
        )
        if not is_new:
            return None
        SnapshotLine.objects.bulk_create(_line(row, line) for line in priced_lines)
    return row


def _sums(lines: list[_Priced], wallets: Iterable[str]) -> Mapping[str, Decimal | None]:
    """The value of each wallet: None if nothing in it has a value, zero if it is empty."""
    values: defaultdict[str, list[Decimal | None]] = defaultdict(list)
    for line in lines:
        values[line.wallet].append(line.value)
    sums: dict[str, Decimal | None] = {}
    for wallet in wallets:
        summands = [value for value in values[wallet] if value is not None]
        sums[wallet] = sum(summands, Decimal(0)) if summands or not values[wallet] else None
    return sums


def _line(row: Snapshot, line: _Priced) -> SnapshotLine:
    columns = {"price": line.price, "value": line.value, "priced_at": line.priced_at, "via": ", ".join(line.via)[:90]}
    return SnapshotLine(snapshot=row, wallet=line.wallet, currency=line.currency, amount=line.amount, **columns)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), tzinfo=UTC)
