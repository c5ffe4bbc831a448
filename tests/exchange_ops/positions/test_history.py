"""What the exchange told of margin is kept: interest, liquidations, closed positions, each once."""

from datetime import timedelta
from decimal import Decimal

import pytest

from desk import clock
from exchange_ops.margin import refresh
from exchange_ops.margin.models import MarginReport
from exchange_ops.wire import records
from tests.exchange_ops import rows

pytestmark = pytest.mark.django_db


def report(reason, *, balance, quantity="0", after_s=0, kind="updated"):
    at = clock.now() - timedelta(minutes=5) + timedelta(seconds=after_s)
    position = records.Position(
        id=7, symbol="BCHUSD", quantity=Decimal(quantity), price_entry=Decimal(100), created_at=at, updated_at=at
    )
    return records.MarginAccount(
        symbol="BCHUSD",
        leverage=Decimal(10),
        margin_balance=Decimal(balance),
        margin_balance_orders=Decimal(0),
        margin_balance_required=Decimal(0),
        created_at=at,
        updated_at=at,
        report_type=kind,
        report_reason=reason,
        position=position if Decimal(quantity) else None,
    )


def reported(*reports):
    for one in reports:
        refresh.apply(account=rows.account(now=clock.now()), accounts=[one], now=clock.now())


def test_interest_liquidation_and_trades_become_history():
    reported(
        report("created", balance="50", kind="created"),
        report("openTrade", balance="49.5", quantity="2", after_s=1),
        report("updated", balance="49.5", quantity="2", after_s=2),
        report("interestTaken", balance="49", quantity="2", after_s=3),
        report("liquidated", balance="0.25", after_s=4, kind="closed"),
    )
    kept = [
        (row.reason, row.change, row.quantity_before, row.quantity_after) for row in MarginReport.objects.order_by("at")
    ]
    assert kept == [
        ("created", None, 0, 0),
        ("openTrade", Decimal("-0.5"), 0, 2),
        ("interestTaken", Decimal("-0.5"), 2, 2),
        ("liquidated", Decimal("-48.75"), 2, 0),
    ]
    assert MarginReport.objects.get(reason="liquidated").price_entry == 100


def test_the_same_report_told_again_is_one_row():
    first = report("openTrade", balance="50", quantity="2")
    reported(first, first)
    assert MarginReport.objects.count() == 1


def test_a_position_that_nobody_told_the_end_of_is_said_to_be_gone():
    reported(report("openTrade", balance="50", quantity="2"))
    account = rows.account(now=clock.now())

    class Lists:
        """Both lists of the exchange, empty: the socket was down when the position ended."""

        def get_margin_accounts(self):
            return _Empty

        get_margin_positions = get_margin_accounts

    class _Empty:
        records, asides = (), ()

    refresh.sync(account=account, client=Lists(), now=clock.now())
    refresh.sync(account=account, client=Lists(), now=clock.now())
    gone = MarginReport.objects.get(reason="gone")
    assert (gone.quantity_before, gone.quantity_after) == (2, 0)
