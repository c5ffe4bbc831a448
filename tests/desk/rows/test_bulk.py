"""Rows written in bulk: exact on both engines, no older reading over a newer one, and what can't be kept is told."""

import random
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import connection

from desk.rows import bulk
from exchange_ops.market.models import BookSnapshot, Candle, Currency, PublicTrade, Ticker

pytestmark = [pytest.mark.django_db, pytest.mark.engine("SQL of our own")]

NOW = datetime(2026, 11, 20, 14, 0, 0, 123456, tzinfo=UTC)
SIZES = [1, bulk.FEW - 1, bulk.FEW, 1_000]


def trade(number, *, price="0.1", side="buy", at=NOW, symbol="ETHBTC"):
    return (symbol, number, Decimal(price), Decimal(1), side, at, at)


def kept(model=PublicTrade):
    return bulk.table(model)


def test_the_order_of_the_columns_is_the_model_s():
    assert kept().names == ("symbol", "trade_id", "price", "quantity", "side", "timestamp", "read_at")
    assert kept().key == ("symbol", "trade_id")


@pytest.mark.parametrize("size", SIZES)
def test_rows_come_back_exactly_as_they_went_in(size):
    dice = random.Random(size)
    prices = [Decimal(dice.randrange(1, 10**50)).scaleb(-dice.randrange(14, 25)) for _ in range(size)]
    assert kept().keep([trade(number, price=price) for number, price in enumerate(prices)]) == size
    assert list(PublicTrade.objects.order_by("trade_id").values_list("price", flat=True)) == prices
    assert PublicTrade.objects.filter(timestamp=NOW, read_at=NOW, side="buy").count() == size


@pytest.mark.parametrize("text", ["1E-7", "100", "1E+3", "-0.0", "0.10", "123456789012345678901234567890123456.5"])
def test_a_number_has_one_form_in_the_table(text):
    kept().keep([trade(1, price=text)])
    row = PublicTrade.objects.get(price=Decimal(text))
    row.price = Decimal(text)
    PublicTrade.objects.filter(trade_id=1).update(price=row.price)
    assert kept().keep([trade(1, price=text, at=NOW + timedelta(seconds=1))]) == 1, "the time of the trade differs"
    assert (
        kept().keep([(*trade(1, price=text, at=NOW + timedelta(seconds=1))[:-1], NOW + timedelta(seconds=2))]) == 0
    ), "equal figures were written again"


@pytest.mark.parametrize("size", SIZES)
def test_only_what_differs_is_written(size):
    later = NOW + timedelta(seconds=5)
    rows = [trade(number) for number in range(size)]
    kept().keep(rows)
    again = [(*row[:-1], later) for row in rows]
    assert kept().keep(again) == 0
    assert not PublicTrade.objects.filter(read_at=later).exists()
    again[0] = ("ETHBTC", 0, Decimal("0.2"), Decimal(1), "buy", NOW, later)
    assert kept().keep(again) == 1
    assert PublicTrade.objects.get(price=Decimal("0.2")).read_at == later


@pytest.mark.parametrize("size", SIZES)
def test_an_older_reading_never_overwrites_a_newer_one(size):
    kept().keep([trade(number, price="2", at=NOW) for number in range(size)])
    assert kept().keep([trade(number, price="1", at=NOW - timedelta(microseconds=1)) for number in range(size)]) == 0
    assert kept().keep([trade(number, price="1", at=NOW) for number in range(size)]) == 0
    assert set(PublicTrade.objects.values_list("price", flat=True)) == {Decimal(2)}


def test_of_two_rows_with_one_key_the_last_counts():
    assert kept().keep([trade(1, price="1"), trade(2), trade(1, price="3")]) == 2
    assert PublicTrade.objects.get(trade_id=1).price == 3


def test_nothing_is_written_of_nothing(django_assert_num_queries):
    with django_assert_num_queries(0):
        assert kept().keep([]) == 0


@pytest.mark.parametrize("size", [2, 1_000])
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"price": "1e36"}, "price has too many digits"),
        ({"price": "1e-25"}, "price has too many digits"),
        ({"price": "NaN"}, "price is not a number"),
        ({"price": "Infinity"}, "price is not a number"),
        ({"side": "x" * 21}, "side is too long"),
        ({"side": "a\0b"}, "side is too long or has invalid characters"),
    ],
)
def test_what_can_not_be_kept_is_told_and_the_rest_is_kept(size, change, reason):
    rows = [trade(number) for number in range(size)]
    rows[1] = trade(1, **change)
    heard = []
    assert kept().keep(rows, wrong=lambda row, why: heard.append((row[1], why))) == size - 1
    assert [number for number, _ in heard] == [1]
    assert reason in heard[0][1]
    with pytest.raises(bulk.CannotKeep):
        kept().keep(rows)


@pytest.mark.parametrize("text", ["a\tb", "a\\b", "a\nb\r", "\\N", "'; DROP TABLE x", "%s", "\u00e9\u4e2d"])
@pytest.mark.parametrize("size", [1, bulk.FEW])
def test_hostile_texts_come_back_as_they_are(text, size):
    kept().keep([trade(number, side=text) for number in range(size)])
    assert set(PublicTrade.objects.values_list("side", flat=True)) == {text}


def test_empty_columns_and_truth_values_are_kept():
    codes = {"payout_fee": None, "crypto": True, "delisted": False, "precision_payout": None, "payin_confirmations": 2}
    blank = {name: Currency._meta.get_field(name).get_default() for name in kept(Currency).names}
    row = blank | codes | {"code": "BTC", "full_name": "", "read_at": NOW}
    for size in (1, bulk.FEW):
        rows = [list((row | {"code": f"C{number}"}).values()) for number in range(size)]
        kept(Currency).keep(rows)
    found = Currency.objects.get(code="C7")
    assert (found.payout_fee, found.crypto, found.delisted, found.payin_confirmations) == (None, True, False, 2)


@pytest.mark.parametrize("size", [1, bulk.FEW])
def test_levels_are_kept_as_texts(size):
    rows = [(f"S{number}", NOW, [["0.10", "1"]], [], NOW) for number in range(size)]
    kept(BookSnapshot).keep(rows)
    assert BookSnapshot.objects.get(symbol="S0").ask == [["0.10", "1"]]
    assert kept(BookSnapshot).keep([(*row[:-1], NOW + timedelta(seconds=1)) for row in rows]) == 0


def test_readings_are_confirmed_only_forwards():
    empty = [None] * 8
    kept(Ticker).keep(
        [("A", *empty, NOW, NOW), ("B", *empty, NOW, NOW + timedelta(seconds=9)), ("C", *empty, NOW, NOW)]
    )
    kept(Ticker).confirm(["A", "B", "it's"], read_at=NOW + timedelta(seconds=5))
    ages = dict(Ticker.objects.values_list("symbol", "read_at"))
    assert [(ages[code] - NOW).seconds for code in "ABC"] == [5, 9, 0]


def test_a_composite_key_is_kept_apart_by_all_its_parts():
    rest = (*[Decimal(1)] * 6, NOW)
    rows = [(code, period, NOW, *rest) for code in ("A", "B") for period in ("M1", "H1")]
    assert kept(Candle).keep(rows) == 4
    assert Candle.objects.count() == 4


def test_a_table_can_be_written_twice_in_one_transaction():
    rows = [trade(number) for number in range(bulk.FEW)]
    assert kept().keep(rows) + kept().keep([trade(number, symbol="B") for number in range(bulk.FEW)]) == 2 * bulk.FEW
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM exchange_ops_publictrade")
        assert cursor.fetchone() == (2 * bulk.FEW,)
