"""Margin accounts and positions as the exchange shows them: copies with the time they were read, nothing is done here.

What is no longer listed has ended. Source: exchange REST, Margin; supplement 1.5 and 2.7.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from desk import live
from exchange_ops.client import ExchangeClient
from exchange_ops.domain.balances import storable
from exchange_ops.models import Account, MarginAccount, MarginPosition
from exchange_ops.wire import records

TOPIC = "margin"
CLOSED, LIQUIDATED = "closed", "liquidated"  # of the words of a report (supplement 1.5)
_FIRST, _LAST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)


def sync(*, account: Account, client: ExchangeClient, now: datetime) -> list[str]:
    """Read accounts and positions; gives a sentence for every record that could not be taken in."""
    accounts, positions = client.get_margin_accounts(), client.get_margin_positions()
    asides = (*accounts.asides, *positions.asides)
    problems = [f"A margin record could not be read: {aside.reason}" for aside in asides]
    found = {position.symbol: position for one in accounts.records if (position := one.position) is not None}
    found |= {position.symbol: position for position in positions.records}
    sound_accounts = _sound(accounts.records, problems, _amounts_of_account)
    sound_positions = _sound(found.values(), problems, _amounts_of_position)
    changed = _keep(MarginAccount, account, {one.symbol: _account(one) for one in sound_accounts}, now)
    changed |= _keep(MarginPosition, account, {one.symbol: _position(one) for one in sound_positions}, now)
    if not problems:
        changed |= _end(MarginAccount, account, {one.symbol for one in accounts.records}, now)
        changed |= _end(MarginPosition, account, set(found), now)
    if changed:
        live.announce(TOPIC)
    return problems


def take(*, account: Account, found: Sequence[records.MarginAccount], now: datetime, whole: bool = False) -> list[str]:
    """Keep what a stream told of accounts, as of `now`; gives a sentence for every record that could not be.

    A record that is older than what is kept changes nothing. With `whole` there are no other accounts. A report without
    a position ends it only when it says so: samples leave the position out of reports that don't concern it.
    """
    problems: list[str] = []
    known = dict(MarginAccount.objects.filter(account=account).values_list("symbol", "updated_at"))
    newer = [one for one in found if one.updated_at >= known.get(one.symbol, one.updated_at)]
    sound = _sound(newer, problems, _amounts_of_account)
    closed = [one.symbol for one in sound if _is_closed(one)]
    open_positions = [one.position for one in sound if one.position is not None and one.position.quantity]
    positions = {one.symbol: _position(one) for one in _sound(open_positions, problems, _amounts_of_position)}
    flat = [one.symbol for one in sound if one.symbol not in positions and (whole or _is_flat(one))]
    changed = _keep(MarginAccount, account, {one.symbol: _account(one) for one in sound}, now)
    changed |= _keep(MarginPosition, account, positions, now)
    changed |= _end_of(MarginAccount, account, closed, now)
    changed |= _end_of(MarginPosition, account, flat, now)
    if whole and not problems:
        listed = {one.symbol for one in found}
        changed |= _end(MarginAccount, account, listed, now)
        changed |= _end(MarginPosition, account, listed, now)
    if changed:
        live.announce(TOPIC)
    return problems


def _is_closed(report: records.MarginAccount) -> bool:
    """Whether the account is gone. A position that is closed is reported by the same word; then money stays."""
    return CLOSED in (report.report_type, report.report_reason) and not report.margin_balance


def _is_flat(report: records.MarginAccount) -> bool:
    has_zero = report.position is not None and not report.position.quantity
    return has_zero or bool({CLOSED, LIQUIDATED} & {report.report_type, report.report_reason})


def _end_of(model: Any, account: Account, symbols: list[str], now: datetime) -> bool:
    return bool(model.objects.filter(account=account, symbol__in=symbols, gone_at=None).update(gone_at=now))


def _keep(model: Any, account: Account, told: dict[str, dict[str, Any]], now: datetime) -> bool:
    """Write what was told; True when a figure changed. A reading never overwrites a later one."""
    known = {row.symbol: row for row in model.objects.filter(account=account)}
    changed = False
    for symbol, columns in told.items():
        row = known.get(symbol)
        if row is None:
            model.objects.get_or_create(account=account, symbol=symbol, defaults={**columns, "read_at": now})
            changed = True
        elif model.objects.filter(pk=row.pk, read_at__lte=now).update(**columns, read_at=now, gone_at=None):
            changed |= row.gone_at is not None or any(getattr(row, name) != new for name, new in columns.items())
    return changed


def _end(model: Any, account: Account, listed: set[str], now: datetime) -> bool:
    rows = model.objects.filter(account=account, gone_at=None, read_at__lt=now).exclude(symbol__in=listed)
    return bool(rows.update(gone_at=now))


def _sound(found: Iterable[Any], problems: list[str], amounts_of: Any) -> list[Any]:
    """The records that the columns take; the others become a sentence."""
    sound = []
    for record in found:
        times = (record.created_at, record.updated_at)
        takes = all(amount is None or storable(amount) for amount in amounts_of(record))
        if takes and len(record.symbol) <= 40 and all(_FIRST <= time < _LAST for time in times):
            sound.append(record)
        else:
            problems.append(f"A margin record of {record.symbol[:40]!r} is not one that can be kept.")
    return sound


def _amounts_of_account(record: records.MarginAccount) -> tuple[Decimal, ...]:
    return (record.leverage, record.margin_balance, record.margin_balance_orders, record.margin_balance_required)


def _amounts_of_position(record: records.Position) -> tuple[Decimal | None, ...]:
    prices = (record.price_entry, record.price_margin_call, record.price_liquidation)
    return (record.quantity, record.pnl, *prices)


def _account(record: records.MarginAccount) -> dict[str, Any]:
    return {
        "leverage": record.leverage,
        "margin_balance": record.margin_balance,
        "margin_balance_orders": record.margin_balance_orders,
        "margin_balance_required": record.margin_balance_required,
        "created_at": record.created_at,
        "updated_at": record.updated_at,
    }


def _position(record: records.Position) -> dict[str, Any]:
    return {
        "exchange_id": record.id,
        "quantity": record.quantity,
        "price_entry": record.price_entry,
        "pnl": record.pnl,
        "price_margin_call": record.price_margin_call,
        "price_liquidation": record.price_liquidation,
        "created_at": record.created_at,
        "updated_at": record.updated_at,
    }
