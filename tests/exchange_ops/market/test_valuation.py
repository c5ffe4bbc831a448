"""Values in the quote currency: directly, inversely, over one cross, with an age, or honestly unknown."""

from datetime import timedelta
from decimal import Decimal

import pytest

from desk import clock
from exchange_ops.market import valuation
from exchange_ops.market.models import Symbol, Ticker

pytestmark = pytest.mark.django_db


@pytest.fixture
def now():
    return clock.now()


@pytest.fixture
def price(now):
    """`price("BTC", "USD", "20000", age=60)`: a symbol with a last price read so many seconds ago."""

    def make(base, quote, last=None, *, age=0, **ticker):
        code = ticker.pop("code", base + quote)
        one = Decimal(1)
        Symbol.objects.create(
            code=code,
            base_currency=base,
            quote_currency=quote,
            quantity_increment=one,
            tick_size=one,
            take_liquidity_rate=one,
            provide_liquidity_rate=one,
            fee_currency=quote,
            read_at=now,
        )
        read_at = now - timedelta(seconds=age)
        figures = {name: Decimal(text) for name, text in ticker.items()}
        last = Decimal(last) if last is not None else None
        Ticker.objects.create(symbol=code, last=last, timestamp=read_at, read_at=read_at, **figures)

    return make


def value(code, amount="2", *, quote="USD", now):
    return valuation.value_of(amount=Decimal(amount), currency=code, quote=quote, now=now)


def test_the_quote_currency_is_worth_itself(now):
    assert value("USD", now=now).amount == Decimal(2)


def test_a_direct_price_counts_with_its_age(now, price):
    price("BTC", "USD", "20000.5", age=60)
    found = value("BTC", now=now)
    assert (found.amount, found.via) == (Decimal("40001"), ("BTCUSD",))
    assert now - found.as_of == timedelta(seconds=60)


def test_an_inverse_price_counts(now, price):
    price("USD", "DAI", "0.5")
    assert value("DAI", now=now).amount == Decimal(4)


def test_btc_is_crossed_first_and_eth_when_there_is_no_other_way(now, price):
    price("BTC", "USD", "20000", age=10)
    price("ETH", "USD", "1000")
    price("XMR", "BTC", "0.01", age=90)
    price("XMR", "ETH", "9")
    price("EOS", "ETH", "0.001", age=20)
    crossed = value("XMR", now=now)
    assert (crossed.amount, crossed.via) == (Decimal(400), ("XMRBTC", "BTCUSD"))
    assert now - crossed.as_of == timedelta(seconds=90)
    assert value("EOS", now=now).via == ("EOSETH", "ETHUSD")


def test_a_direct_price_is_better_than_a_cross(now, price):
    price("BTC", "USD", "20000")
    price("ETH", "BTC", "0.1")
    price("ETH", "USD", "1999")
    assert value("ETH", now=now).amount == Decimal(3998)


def test_a_stale_direct_price_gives_way_to_a_fresh_cross(now, price):
    price("BTC", "USD", "20000")
    price("ETH", "BTC", "0.1")
    price("ETH", "USD", "1", age=301)
    assert value("ETH", now=now).via == ("ETHBTC", "BTCUSD")


def test_prices_of_five_minutes_count_and_older_ones_do_not(now, price):
    price("BTC", "USD", "20000", age=300)
    assert value("BTC", now=now).amount == Decimal(40000)
    stale = value("BTC", now=now + timedelta(seconds=1))
    assert stale.amount is None
    assert "older than five minutes" in stale.reason


def test_one_stale_half_makes_the_cross_unknown(now, price):
    price("BTC", "USD", "20000", age=301)
    price("XMR", "BTC", "0.01")
    assert value("XMR", now=now).amount is None


def test_without_any_price_the_value_is_unknown_and_says_so(now):
    found = value("XYZ", now=now)
    assert (found.amount, found.reason) == (None, "No price for XYZ in USD.")


@pytest.mark.parametrize(
    ("ticker", "expected"),
    [
        ({"last": None, "bid": "10", "ask": "12"}, Decimal(22)),
        ({"last": None, "bid": "10"}, None),
        ({"last": "0", "ask": "12"}, None),
        ({"last": "0", "bid": "9", "ask": "11"}, Decimal(20)),
        ({"last": None, "bid": "0", "ask": "0"}, None),
    ],
)
def test_without_a_last_price_the_middle_counts_if_there_is_one(now, price, ticker, expected):
    price("BTC", "USD", **ticker)
    assert value("BTC", now=now).amount == expected


def test_a_price_from_the_future_is_not_used(now, price):
    price("BTC", "USD", "20000", age=-3600)
    assert value("BTC", now=now).amount is None


def test_a_coin_of_another_network_counts_like_the_coin_itself(now, price):
    price("BTC", "USD", "20000")
    assert value("USDT20", now=now).amount == Decimal(2)
    assert value("USDTTRX", "0.5", now=now).amount == Decimal("0.5")
    assert value("BTC", quote="USDT20", now=now).amount == Decimal(40000)


def test_codes_of_symbols_need_not_be_their_currencies(now, price):
    price("XRP", "USD", "0.5", code="XRPUSDT")
    assert value("XRP", now=now).via == ("XRPUSDT",)


def test_long_numbers_are_rounded_once_to_eight_places(now, price):
    price("USD", "DAI", "3")
    assert value("DAI", "1", now=now).amount == Decimal("0.33333333")
    price("SHIB", "USD", "0.000000000123456789")
    assert value("SHIB", "123456789012345678901234", now=now).amount == Decimal("15241578751714.67887517")


def test_a_price_beyond_all_bounds_makes_the_value_unknown(now, price):
    price("BTC", "USD", "9" * 36)
    price("SHIB", "BTC", "9" * 36)
    found = value("SHIB", "9" * 36, now=now)
    assert (found.amount, found.reason) == (None, "The value is too large to show.")


@pytest.mark.parametrize("amounts", [{"BTC": Decimal(1)}, {code: Decimal(1) for code in ("BTC", "ETH", "EOS", "XRP")}])
def test_any_number_of_values_takes_two_queries(now, price, amounts, django_assert_num_queries):
    price("BTC", "USD", "20000")
    price("ETH", "USD", "1000")
    with django_assert_num_queries(2):
        found = valuation.values_of(amounts=amounts, quote="USD", now=now)
    assert found.keys() == amounts.keys()
