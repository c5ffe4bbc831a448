"""What the exchange reports of margin accounts, kept as history: trades, interest, liquidations, moved money.

The copies beside it show the present; a position that was closed is in none of them. The interface lists neither past
positions nor interest (supplement 1.5, 2.7), so what the stream reports is stored when it arrives.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final

from django.db import IntegrityError, transaction

from desk import clock
from exchange_ops.margin.models import MarginAccount, MarginPosition, MarginReport
from exchange_ops.shared.models import Account
from exchange_ops.wire import records

INTEREST, LIQUIDATED, CLOSED, GONE = "interestTaken", "liquidated", "closed", "gone"
ZERO: Final = Decimal(0)
# Reasons that report an event; `status` is a list, `updated` an order that was only placed or cancelled.
NOTED: Final = frozenset(
    {"created", "reopened", "marginChanged", "openTrade", "closeTrade", "flipTrade", CLOSED, LIQUIDATED, INTEREST}
)
ENDS: Final = (CLOSED, LIQUIDATED, GONE)


@dataclass(frozen=True, slots=True)
class Before:
    """The stored figures of an account and its position before a report is applied."""

    balance: Decimal | None = None
    quantity: Decimal = ZERO
    price_entry: Decimal | None = None


def before(*, account: Account, symbol: str) -> Before:
    """The stored figures as they are now; empty for what is no longer listed."""
    margin_account = MarginAccount.objects.filter(account=account, symbol=symbol, gone_at=None).first()
    position = MarginPosition.objects.filter(account=account, symbol=symbol, gone_at=None).first()
    return Before(
        balance=None if margin_account is None else margin_account.margin_balance,
        quantity=ZERO if position is None else position.quantity,
        price_entry=None if position is None else position.price_entry,
    )


def note(*, account: Account, report: records.MarginAccount, before: Before, now: datetime) -> None:
    """Store a report that says what happened; the same report again changes nothing."""
    reason = report.report_reason or report.report_type or ""
    if reason not in NOTED:
        return
    position = report.position
    after = ZERO if position is None else position.quantity
    entry = before.price_entry if before.quantity else None
    if entry is None and position is not None:
        entry = position.price_entry
    _store(
        MarginReport(
            account=account,
            symbol=report.symbol,
            reason=reason,
            margin_balance=report.margin_balance,
            change=None if before.balance is None else report.margin_balance - before.balance,
            quantity_before=before.quantity,
            quantity_after=after,
            price_entry=entry,
            at=report.updated_at,
            seen_at=now,
        )
    )


def note_gone(*, account: Account, listed: set[str], now: datetime) -> None:
    """Store the end of positions that a reading no longer lists and no report ended: the reason is unknown."""
    older = clock.older("read_at", now, now=clock.now())
    rows = MarginPosition.objects.filter(older, account=account, gone_at=None)
    for row in rows.exclude(symbol__in=listed):
        end_reports = MarginReport.objects.filter(
            account=account, symbol=row.symbol, reason__in=ENDS, at__gte=row.updated_at
        )
        if not end_reports.exists():
            _store(
                MarginReport(
                    account=account,
                    symbol=row.symbol,
                    reason=GONE,
                    quantity_before=row.quantity,
                    quantity_after=ZERO,
                    price_entry=row.price_entry,
                    at=now,
                    seen_at=now,
                )
            )


def _store(row: MarginReport) -> None:
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError:
        return  # it is stored already
