"""A mapping of every account of the journal, and day prices of March 2026."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from desk import clock
from exchange_ops.market.models import Candle
from exchange_ops.statements import journal
from exchange_ops.statements.bookkeeping import accounts
from exchange_ops.statements.bookkeeping.accounts import Chart, Target
from tests.exchange_ops import rows

SETTINGS = {accounts.CONSULTANT: "29098", accounts.CLIENT: "55003", accounts.TAX_RATE: "Tax Exempt"}


def chart_of(*, version=0, settings=SETTINGS, **numbers):
    """Every account of the journal from 1301 on, in its order, with its own name but for those named here."""
    targets = {key: Target(str(1301 + place), label) for place, (key, label) in enumerate(journal.ACCOUNTS.items())}
    return Chart(version, targets | {key: Target(number) for key, number in numbers.items()}, settings)


def close_of(symbol, close, *, day=datetime(2026, 3, 5, tzinfo=UTC)):
    """The candle of a day."""
    figures = dict.fromkeys(("open", "close", "min", "max", "volume", "volume_quote"), Decimal(close))
    Candle.objects.create(symbol=symbol, period="D1", timestamp=day, read_at=day, **figures)


@pytest.fixture
def priced(ledger):
    """The ledger of March with the price of BCH in USD, and of USD in EUR."""
    rows.price()
    rows.price("EUR", "USD", last="1.25")
    close_of("BCHUSD", "333.33")
    close_of("EURUSD", "1.25")
    return ledger


@pytest.fixture
def mapped(admin):
    """A saved mapping."""
    return accounts.change(chart_of(), person=admin, session_key="s", now=clock.now())
