"""Margin accounts and positions as the exchange shows them: copies with the time of reading. Nothing is done here.

What is no longer listed has ended. Source: exchange REST, Margin orders; supplement 1.5 and 2.7.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Q

from desk import clock
from desk.live import announcements
from exchange_ops.client import ExchangeClient
from exchange_ops.margin import reports
from exchange_ops.margin.models import MarginAccount, MarginPosition
from exchange_ops.shared.amounts import storable
from exchange_ops.shared.models import Account
from exchange_ops.wire import records

TOPIC = "margin"
CLOSED, LIQUIDATED, STATUS = "closed", "liquidated", "status"  # words of a report (supplement 1.5)
_FIRST, _LAST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)


def sync(*, account: Account, client: ExchangeClient, now: datetime) -> list[str]:
    """Read accounts and positions; returns a sentence for every record that could not be stored."""
    accounts, positions = client.get_margin_accounts(), client.get_margin_positions()
    asides = (*accounts.asides, *positions.asides)
    problems = [f"A margin record could not be processed: {aside.reason}" for aside in asides]
    by_symbol = {position.symbol: position for one in accounts.records if (position := one.position) is not None}
    by_symbol |= {position.symbol: position for position in positions.records}
    reading = _Reading(account, now)
    changed = False
    for one in _storable(accounts.records, problems, _amounts_of_account):
        changed |= reading.keep(MarginAccount, one.symbol, _account(one)).changed
    for each in _storable(by_symbol.values(), problems, _amounts_of_position):
        changed |= reading.keep(MarginPosition, each.symbol, _position(each)).changed
    if not problems:
        changed |= reading.end_others(MarginAccount, {one.symbol for one in accounts.records})
        reports.note_gone(account=account, listed=set(by_symbol), now=now)
        changed |= reading.end_others(MarginPosition, set(by_symbol))
    if changed:
        announcements.announce(TOPIC)
    return problems


def apply(
    *,
    account: Account,
    accounts: Sequence[records.MarginAccount],
    now: datetime,
    complete: bool = False,
) -> list[str]:
    """Store what a stream reported about accounts, as of `now`; returns a sentence for every record that could not be.

    A record that is older than the stored one changes nothing. With `complete` there are no other accounts. A report
    without a position ends it only when it says so: samples leave the position out of reports that don't concern it.
    """
    problems: list[str] = []
    reading = _Reading(account, now)
    changed = False
    for one in _storable(accounts, problems, _amounts_of_account):
        positions = [one.position] if one.position is not None and one.position.quantity else []
        storable_positions = _storable(positions, problems, _amounts_of_position)
        with transaction.atomic():
            before = reports.before(account=account, symbol=one.symbol)
            outcome = reading.keep(MarginAccount, one.symbol, _account(one), gone=_is_closed(one))
            changed |= outcome.changed
            if outcome.refused:
                continue
            if storable_positions:
                changed |= reading.keep(MarginPosition, one.symbol, _position(storable_positions[0])).changed
            elif not positions and (complete or _is_flat(one)):
                changed |= reading.end(MarginPosition, one.symbol, one.updated_at)
            reports.note(account=account, report=one, before=before, now=now)
    if complete and not problems:
        listed = {one.symbol for one in accounts}
        changed |= reading.end_others(MarginAccount, listed)
        changed |= reading.end_others(MarginPosition, listed)
    if changed:
        announcements.announce(TOPIC)
    return problems


def _is_closed(report: records.MarginAccount) -> bool:
    """Whether the account is gone. A closed position is reported by the same word, but then money stays."""
    return CLOSED in (report.report_type, report.report_reason) and not report.margin_balance


def _is_flat(report: records.MarginAccount) -> bool:
    has_zero = report.position is not None and not report.position.quantity
    return has_zero or bool({CLOSED, LIQUIDATED} & {report.report_type, report.report_reason})


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The outcome of one record: whether a figure changed, or the record was older than the stored one."""

    changed: bool = False
    refused: bool = False


@dataclass(frozen=True, slots=True)
class _Reading:
    """One report on the margin of an account, which held at `as_of` or later.

    Newer is what the exchange changed later; of two reports of one millisecond, which may differ in the pnl, the later
    report. The statement that writes the row checks that, so two readers may race.
    """

    account: Account
    as_of: datetime

    def keep(self, model: Any, symbol: str, columns: dict[str, Any], *, gone: bool = False) -> _Outcome:
        """Write what was reported of a symbol, unless the row is newer."""
        written = {**columns, "read_at": self.as_of, "gone_at": self.as_of if gone else None}
        row, is_new = model.objects.get_or_create(account=self.account, symbol=symbol, defaults=written)
        if is_new:
            return _Outcome(changed=True)
        if not self._older(model, symbol, columns["updated_at"]).update(**written):
            return _Outcome(refused=True)
        differs = any(getattr(row, name) != new for name, new in columns.items())
        return _Outcome(changed=differs or (row.gone_at is None) == gone)

    def end(self, model: Any, symbol: str, updated_at: datetime) -> bool:
        """Record that there is none since `updated_at`, in the exchange's time: nothing older opens it again."""
        rows = self._older(model, symbol, updated_at).filter(gone_at=None)
        return bool(rows.update(gone_at=self.as_of, read_at=self.as_of, updated_at=updated_at))

    def end_others(self, model: Any, listed: set[str]) -> bool:
        """Record that there are none besides those listed, except what was reported since."""
        older = clock.older("read_at", self.as_of, now=clock.now())
        rows = model.objects.filter(older, account=self.account, gone_at=None)
        return bool(rows.exclude(symbol__in=listed).update(gone_at=self.as_of, read_at=self.as_of))

    def _older(self, model: Any, symbol: str, updated_at: datetime) -> Any:
        same = Q(updated_at=updated_at) & clock.older("read_at", self.as_of, now=clock.now(), or_same=True)
        return model.objects.filter(Q(updated_at__lt=updated_at) | same, account=self.account, symbol=symbol)


def _storable(entries: Iterable[Any], problems: list[str], amounts_of: Any) -> list[Any]:
    """The records that the columns can hold; each of the others becomes a sentence."""
    storable_entries = []
    for record in entries:
        times = (record.created_at, record.updated_at)
        takes = all(amount is None or storable(amount) for amount in amounts_of(record))
        if takes and len(record.symbol) <= 40 and all(_FIRST <= time < _LAST for time in times):
            storable_entries.append(record)
        else:
            problems.append(f"An invalid margin record for {record.symbol[:40]!r} was skipped.")
    return storable_entries


def _amounts_of_account(record: records.MarginAccount) -> tuple[Decimal, ...]:
    return (record.leverage, record.margin_balance, record.margin_balance_orders, record.margin_balance_required)


def _amounts_of_position(record: records.Position) -> tuple[Decimal | None, ...]:
    prices = (record.price_entry, record.price_margin_call, record.price_liquidation)
    return (record.quantity, record.pnl, *prices)


def _account(record: records.MarginAccount) -> dict[str, Any]:
    reason = record.report_reason or record.report_type or STATUS  # readings and lists report no change
    return {
        **({} if reason == STATUS else {"reason": reason[:40]}),
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
