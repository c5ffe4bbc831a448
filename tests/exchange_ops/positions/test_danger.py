"""How far a position is from its margin call: by the newest price, and warned of once, not at every flicker."""

from datetime import timedelta
from decimal import Decimal

import pytest

from desk import clock
from desk.incidents import review
from desk.incidents.models import Incident
from desk.processes import uptime
from exchange_ops.margin import danger
from exchange_ops.margin.models import MarginPosition
from exchange_ops.market.models import Ticker
from exchange_ops.shared import alarms
from tests.exchange_ops import rows

pytestmark = pytest.mark.django_db
LONG = {"quantity": Decimal(2), "price_margin_call": Decimal(90), "price_liquidation": Decimal(80)}
NEAR = (alarms.MARGIN_CALL_NEAR, alarms.LIQUIDATION_NEAR)
SHORT = {"quantity": Decimal(-2), "price_margin_call": Decimal(110), "price_liquidation": Decimal(120)}


@pytest.fixture(autouse=True)
def settled(monkeypatch):
    monkeypatch.setattr(uptime, "_began", -10_000.0)


def position(**columns):
    now = clock.now()
    when = {"created_at": now, "updated_at": now, "read_at": now}
    figures = {"exchange_id": 7, "price_entry": Decimal(100), "pnl": Decimal(0)}
    return MarginPosition.objects.create(account=rows.account(now=now), symbol="BCHUSD", **figures | when | columns)


def price(last):
    """A price that is newer than the position."""
    later = clock.now() + timedelta(seconds=1)
    columns = {"last": Decimal(last), "timestamp": later, "read_at": later}
    Ticker.objects.update_or_create(symbol="BCHUSD", defaults=columns)


def exposure(row):
    return danger.exposure(position=row, ticker=Ticker.objects.filter(pk="BCHUSD").first(), now=clock.now())


@pytest.mark.parametrize(("columns", "mark"), [(LONG, "97"), (SHORT, "103")])
def test_both_sides_are_measured_alike(columns, mark):
    row = position(**columns)
    price(mark)
    found = exposure(row)
    assert (found.mark, found.pnl, found.pnl_at) == (Decimal(mark), Decimal(0), row.read_at), (
        "the exchange's own result"
    )
    assert (found.call_left, found.liquidation_left) == (Decimal("0.7"), Decimal("0.85"))
    assert found.to_call == (Decimal(7) / Decimal(mark)).quantize(Decimal(1).scaleb(-12))


def test_the_mark_is_the_exchanges_own_until_a_newer_price_is_read():
    row = position(**LONG | {"pnl": Decimal(-4)})
    assert exposure(row).mark == Decimal(98)
    price("95")
    newer = exposure(row)
    assert (newer.mark, newer.pnl, newer.percent) == (Decimal(95), Decimal(-4), Decimal("-0.02"))
    row.pnl = None
    assert exposure(row).pnl == Decimal(-10), "only where the exchange names none"


def test_no_danger_is_named_where_the_collateral_covers_everything():
    row = position(**LONG | {"price_margin_call": Decimal(-5), "price_liquidation": None})
    price("1")
    found = exposure(row)
    assert (found.call, found.liquidation, found.to_call) == (None, None, None)
    assert not found.is_near_call(warned=True)
    assert not found.is_near_liquidation(warned=True)


@pytest.mark.parametrize("columns", [LONG, SHORT])
def test_a_warning_begins_near_the_call_rises_near_the_liquidation_and_ends_far_from_it(columns):
    row = position(**columns)
    sign = 1 if row.quantity > 0 else -1

    def opened(away):
        price(100 - sign * Decimal(away))
        review.review(now=clock.now())
        return sorted(Incident.objects.filter(gone_at=None, kind__in=NEAR).values_list("kind", "severity"))

    call, liquidation = (alarms.MARGIN_CALL_NEAR, "high"), (alarms.LIQUIDATION_NEAR, "critical")
    assert opened("6.9") == []
    assert opened("7.1") == [call]
    assert opened("6.5") == [call], "it hovers: one warning, not two"
    assert Incident.objects.filter(kind__in=NEAR).count() == 1
    assert opened("16") == [liquidation, call]
    assert "has passed its margin call" in Incident.objects.get(kind=alarms.MARGIN_CALL_NEAR).sentence
    assert opened("12") == [call]
    assert opened("5.9") == []
    row.gone_at = clock.now()
    row.save(update_fields=["gone_at"])
    assert opened("16") == []
