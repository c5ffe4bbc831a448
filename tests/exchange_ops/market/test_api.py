"""Markets for programs: exact text that the database writes, as the described shapes have it, quick for thousands."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from desk import clock
from desk.rows import bulk
from exchange_ops.market import api_shapes, quotes
from exchange_ops.market.models import BookSnapshot, Candle, MarketLook, PublicTrade, Symbol, Ticker
from exchange_ops.wire import records

pytestmark = [pytest.mark.django_db, pytest.mark.engine("SQL of our own: text that the database writes")]

PATH = "/api/v1/markets/"
AT = datetime(2026, 11, 20, 14, 0, 5, 7_000, tzinfo=UTC)
ONE = Decimal(1)


@pytest.fixture(autouse=True)
def _no_broker(monkeypatch):
    monkeypatch.setattr("desk.outbox._send", lambda *arguments: None)


@pytest.fixture
def client(with_token, auditor):
    return with_token(auditor)


def symbol(code="ETHBTC", *, last="0.05", read_at=AT):
    rates = {"quantity_increment": Decimal("0.0010"), "tick_size": Decimal("0.000001")}
    rates |= {"take_liquidity_rate": Decimal("0.001"), "provide_liquidity_rate": Decimal("-0.0001")}
    columns = {"base_currency": "ETH", "quote_currency": "BTC", "fee_currency": "BTC", "read_at": read_at, **rates}
    Symbol.objects.create(code=code, **columns)
    figures = dict.fromkeys(("ask", "bid", "open", "low", "high"), Decimal("0.051"))
    figures |= {"last": None if last is None else Decimal(last), "volume": Decimal(100), "volume_quote": Decimal(0)}
    return Ticker.objects.create(symbol=code, timestamp=AT, read_at=read_at, **figures)


def trades(count, *, code="ETHBTC", at=AT):
    found = [records.PublicTrade(n, Decimal("0.0500"), ONE, "buy", at + timedelta(seconds=n)) for n in range(count)]
    quotes.keep_trades(symbol=code, trades=found, now=AT)


def candles(count, *, code="ETHBTC", period="M30"):
    start = AT.replace(second=0, microsecond=0)
    figures = (ONE, ONE, ONE, ONE, Decimal("0.10"), ONE)
    found = [records.Candle(start - timedelta(minutes=30 * n), *figures) for n in range(count)]
    quotes.keep_candles(symbol=code, period=period, candles=found, now=AT)


def same(facts, shape, rows):
    """Whether what the database wrote is what the described shape makes of the same rows."""
    described = json.loads(json.dumps([dict(one) for one in shape(rows, many=True).data], default=str))

    def with_instants(item):
        return {name: datetime.fromisoformat(v) if name in {"timestamp", "read_at"} else v for name, v in item.items()}

    return [with_instants(item) for item in facts] == [with_instants(item) for item in described]


LASTS = ["1E-7", "100", "123456789012345678901234567890123456.123456789012345678901234", "0.10", "0", None, "-1.50"]


@pytest.mark.parametrize("last", LASTS)
def test_a_price_leaves_as_its_one_exact_text(client, last):
    symbol(last=last)
    (item,) = client.get(PATH).json()["items"]
    number = None if last is None else Decimal(last)
    assert item["last"] == (None if number is None else format(number.normalize(), "f"))
    assert (item["timestamp"], item["read_at"]) == ("2026-11-20T14:00:05.007Z",) * 2
    assert same([item], api_shapes.TickerOut, Ticker.objects.all())


@pytest.mark.parametrize("code", ['A"B', "A\\B", "A\nB", "É中😀", "</script>", "'; --", "{}", "%s"])
def test_a_name_is_only_text_whatever_is_in_it(client, code):
    symbol(code)
    (item,) = client.get(PATH).json()["items"]
    assert item["symbol"] == code


def test_all_prices_come_in_the_order_of_their_codes(client):
    for code in ("B", "C", "A"):
        symbol(code)
    assert [item["symbol"] for item in client.get(PATH).json()["items"]] == ["A", "B", "C"]
    assert same(client.get(PATH).json()["items"], api_shapes.TickerOut, Ticker.objects.order_by("symbol"))


def test_a_thousand_prices_cost_the_queries_of_one(client, standing_clock):
    def cost():
        client.get(PATH)
        with CaptureQueriesContext(connection) as taken:
            response = client.get(PATH)
        return len(taken), len(response.json()["items"])

    symbol()
    queries, _ = cost()
    bulk.table(Ticker).keep([(f"C{n:04}", *[ONE] * 8, AT, AT) for n in range(1_000)])
    assert cost() == (queries, 1_001)


def test_one_market_tells_its_rules_and_its_price(client):
    symbol()
    answer = client.get(f"{PATH}ethbtc/").json()
    assert (answer["symbol"], answer["tick_size"], answer["quantity_increment"]) == ("ETHBTC", "0.000001", "0.001")
    assert (answer["provide_liquidity_rate"], answer["ticker"]["last"]) == ("-0.0001", "0.05")
    Ticker.objects.all().delete()
    assert client.get(f"{PATH}ETHBTC/").json()["ticker"] is None


def test_candles_come_newest_first_and_follow_each_other(client):
    symbol()
    candles(25)
    answer = client.get(f"{PATH}ETHBTC/candles/?limit=10").json()
    assert (answer["symbol"], answer["period"], answer["read_at"]) == ("ETHBTC", "M30", None)
    seen = answer["items"]
    while answer["items"]:
        answer = client.get(f"{PATH}ETHBTC/candles/", {"limit": 10, "before": seen[-1]["timestamp"]}).json()
        seen += answer["items"]
    assert same(seen, api_shapes.CandleOut, Candle.objects.order_by("-timestamp"))
    assert len(seen) == 25


def test_trades_come_newest_first_and_follow_each_other(client):
    symbol()
    trades(25)
    answer = client.get(f"{PATH}ETHBTC/trades/", {"limit": 20}).json()
    rest = client.get(f"{PATH}ETHBTC/trades/", {"before": answer["items"][-1]["id"]}).json()
    assert same(answer["items"] + rest["items"], api_shapes.PublicTradeOut, PublicTrade.objects.order_by("-trade_id"))


def test_a_book_is_told_as_it_was_read(client):
    symbol()
    BookSnapshot.objects.create(symbol="ETHBTC", timestamp=AT, ask=[["1.10", "2"]], bid=[], read_at=AT)
    answer = client.get(f"{PATH}ETHBTC/book/").json()
    assert answer["ask"] == [{"price": "1.10", "size": "2"}]
    assert (answer["bid"], answer["timestamp"], answer["read_at"]) == ([], "2026-11-20T14:00:05.007Z", None)


@pytest.mark.parametrize("part", ["candles", "trades", "book"])
def test_asking_is_looking(client, part):
    symbol()
    answer = client.get(f"{PATH}ETHBTC/{part}/").json()
    assert answer["read_at"] is None
    assert MarketLook.objects.get().symbol == "ETHBTC"
    now = clock.now()
    MarketLook.objects.update(candles_read_at=now, trades_read_at=now, book_read_at=now)
    assert client.get(f"{PATH}ETHBTC/{part}/").json()["read_at"].startswith(f"{now:%Y-%m-%dT%H:%M}")


WRONG = [
    ("candles", {"period": "M2"}, "period"),
    ("candles", {"period": ""}, "period"),
    ("candles", {"before": ""}, "before"),
    ("candles", {"limit": ""}, "limit"),
    ("candles", {"before": "yesterday"}, "before"),
    ("candles", {"before": "9" * 400}, "before"),
    ("candles", {"limit": "0"}, "limit"),
    ("candles", {"limit": "1001"}, "limit"),
    ("candles", {"limit": "NaN"}, "limit"),
    ("trades", {"limit": "1e3"}, "limit"),
    ("trades", {"limit": "9" * 5_000}, "limit"),
    ("trades", {"before": "-1"}, "before"),
    ("trades", {"before": str(2**63)}, "before"),
    ("trades", {"before": "\0"}, "before"),
]


@pytest.mark.parametrize(("part", "question", "member"), WRONG)
def test_a_question_that_is_odd_is_refused_by_its_member_and_asks_nobody(client, part, question, member):
    symbol()
    response = client.get(f"{PATH}ETHBTC/{part}/", question)
    assert response.status_code == 400
    assert set(response.json()["errors"]) == {member}
    assert not MarketLook.objects.exists()


@pytest.mark.parametrize("code", ["NOSUCH", "%00", "A" * 400, "%F0%9F%98%80"])
@pytest.mark.parametrize("part", ["", "candles/", "trades/", "book/"])
def test_a_market_that_is_not_there_keeps_the_shape(client, code, part):
    symbol()
    response = client.get(f"{PATH}{code}/{part}")
    assert response.status_code == 404
    assert set(response.json()) == {"type", "title", "status", "detail", "errors"}
    assert not MarketLook.objects.exists()


def test_the_schema_describes_markets(client, tmp_path):
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(tmp_path / "schema.yml"))
    text = (tmp_path / "schema.yml").read_text()
    for piece in ("/api/v1/markets/{symbol}/candles/", "operationId: markets_book", "CandleList", "maximum: 1000"):
        assert piece in text, piece
