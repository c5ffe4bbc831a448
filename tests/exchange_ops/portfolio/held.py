"""Rows for the tests of the figures: a price of a day, a ledger that was read, and progress."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from exchange_ops.market.models import Candle, Symbol
from exchange_ops.orders import workflow as orders
from exchange_ops.shared import heartbeats
from tests.exchange_ops import rows

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def symbol(base="BCH", quote="USD"):
    """A market that is known, without a present price."""
    rates = {"quantity_increment": Decimal("0.001"), "tick_size": Decimal("0.01")}
    rates |= {"take_liquidity_rate": Decimal("0.002"), "provide_liquidity_rate": Decimal("0.001")}
    Symbol.objects.update_or_create(
        code=base + quote,
        defaults={"base_currency": base, "quote_currency": quote, "fee_currency": quote, "read_at": NOON, **rates},
    )
    return base + quote


def close(day, price, *, base="BCH", quote="USD"):
    """The candle of one day."""
    figure = Decimal(price)
    figures = dict.fromkeys(("open", "close", "min", "max"), figure) | {"volume": Decimal(1), "volume_quote": figure}
    Candle.objects.create(
        symbol=symbol(base, quote),
        period="D1",
        timestamp=datetime.combine(day, datetime.min.time(), tzinfo=UTC),
        read_at=NOON,
        **figures,
    )


def read(account, *, now):
    """The ledger, the orders and trades of the account were read to their end a moment ago."""
    heartbeats.succeeded(heartbeats.ledger_of(account), now=now, account=account)
    heartbeats.succeeded(orders.name_of(account), now=now, account=account)


def entry(number, at, **changes):
    """A line of the ledger that changed last at a moment."""
    return rows.entry(number, now=at, updated_at=at, created_at=at, **changes)
