"""The table of all symbols and the page of one: what is shown, in what order, and that it costs the same for many."""

import json
import re
from datetime import timedelta
from decimal import Decimal
from html import unescape
from itertools import pairwise

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from desk import clock, topics
from desk.rows import bulk
from exchange_ops.market import depth, interest, queries, quotes
from exchange_ops.market import topics as market_topics
from exchange_ops.market.models import BookSnapshot, Candle, MarketLook, Symbol, Ticker
from exchange_ops.market.views import drawings
from exchange_ops.shared.models import Account
from exchange_ops.wire import records
from project.environment import ExchangePlace
from tests.exchange_ops import rows

pytestmark = pytest.mark.django_db

ONE = Decimal(1)
RATES = {"quantity_increment": Decimal("0.001"), "tick_size": Decimal("0.01")}
RATES |= {"take_liquidity_rate": Decimal("0.001"), "provide_liquidity_rate": Decimal("-0.0001")}


@pytest.fixture(autouse=True)
def _no_broker(monkeypatch):
    monkeypatch.setattr("desk.outbox._send", lambda *arguments: None)


@pytest.fixture
def nobody_yet(make_person):
    """Somebody who has no role."""
    return make_person()


@pytest.fixture
def client(operator, signed_in):
    return signed_in(operator)


def symbol(code="ETHBTC", *, base="ETH", quote="BTC", **figures):
    now = clock.now()
    columns = {"base_currency": base, "quote_currency": quote, "fee_currency": quote, "read_at": now, **RATES}
    row = Symbol.objects.create(code=code, **columns)
    if figures:
        amounts = {name: None if text is None else Decimal(text) for name, text in figures.items()}
        Ticker.objects.create(symbol=code, timestamp=now, read_at=now, **amounts)
    return row


def many(count):
    now = clock.now()
    rows = [
        Symbol(
            code=f"C{n:04}BTC", base_currency=f"C{n:04}", quote_currency="BTC", fee_currency="BTC", read_at=now, **RATES
        )
        for n in range(count)
    ]
    Symbol.objects.bulk_create(rows)
    figures = [("ask", 12), ("bid", 11), ("last", 12), ("open", 10), ("low", 1), ("high", 20), ("volume", 5), ("q", 9)]
    bulk.table(Ticker).keep(
        [(row.code, *(Decimal(base) + n for _, base in figures), now, now) for n, row in enumerate(rows)]
    )


def symbols_of(response):
    return re.findall(r'id="m-([^"]+)"', response.content.decode())


def text_of(response):
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", re.sub(r"</?bdi>", "", response.content.decode()))).split())


# The table -----------------------------------------------------------------------------------------------------------


def test_a_line_says_price_change_volume_spread_and_age(client, standing_clock):
    symbol(
        ask="0.0521",
        bid="0.0519",
        last="0.05",
        open="0.04",
        low="0.03",
        high="0.06",
        volume="1234567.8",
        volume_quote="3",
    )
    page = text_of(client.get("/markets/"))
    for piece in ("ETH / BTC", "0.05", "↑ +25.00 %", "0.06", "0.03", "1,234,568", "0.385 %", "0 s ago"):
        assert piece in page, piece


@pytest.mark.parametrize(
    ("last", "said"),
    [("11", "↑ +10.00 %"), ("9", "↓ −10.00 %"), ("10", "→ 0.00 %"), ("9.99999", "→ 0.00 %"), (None, "–")],
)
def test_a_change_is_told_by_sign_and_arrow_not_by_colour_alone(client, last, said):
    symbol(last=last, open="10", volume="1", volume_quote="1")
    assert said in text_of(client.get("/markets/"))


def test_a_price_is_never_rounded(client):
    symbol(last="0.123456789012345678901234", open="1", volume="1", volume_quote="1")
    assert "0.123456789012345678901234" in text_of(client.get("/markets/"))


@pytest.mark.parametrize("sort", ["", *queries.SORTS, queries.BY_SYMBOL, "nonsense", "-", "pk", "symbol__code"])
@pytest.mark.parametrize("sign", ["", "-"])
def test_every_column_sorts_both_ways_and_what_has_no_figure_comes_last(client, sort, sign):
    symbol("A1", last="1", open="2", low="1", high="1", bid="1", ask="4", volume="1", volume_quote="1")
    symbol("B1", last="9", open="2", low="9", high="9", bid="1", ask="9", volume="9", volume_quote="9")
    symbol("C1")
    found = symbols_of(client.get("/markets/", {"sort": sign + sort}))
    assert sorted(found) == ["A1", "B1", "C1"]
    if sort in queries.SORTS:
        assert found[2] == "C1"
    if sort in set(queries.SORTS) - {"read"}:
        assert found[:2] == (["B1", "A1"] if sign else ["A1", "B1"])


def test_numbers_are_sorted_as_numbers(client):
    for code, last in (("A", "9"), ("B", "10"), ("C", "0.5"), ("D", "1000000000000000000000000.5")):
        symbol(code, last=last)
    assert symbols_of(client.get("/markets/", {"sort": "last"})) == ["C", "A", "B", "D"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("eth", {"ETHBTC", "EOSETH"}),
        (" BTC ", {"ETHBTC"}),
        ("EOSETH", {"EOSETH"}),
        ("zz", set()),
        ("%", set()),
        ("a\0", set()),
    ],
)
def test_a_search_finds_by_symbol_and_by_currency(client, text, found):
    symbol("ETHBTC")
    symbol("EOSETH", base="EOS", quote="ETH")
    assert set(symbols_of(client.get("/markets/", {"text": text}))) == found


@pytest.mark.parametrize("text", ["<script>", "'; DROP TABLE", "\0\0", "x" * 5_000, "\ud83d", "%s%d"])
def test_a_hostile_search_is_only_text(client, text):
    symbol("ETHBTC")
    response = client.get("/markets/", {"text": text.encode("utf-8", "replace")})
    assert response.status_code == 200
    assert b"<script>" not in response.content.replace(b"<script src", b"")


@pytest.mark.parametrize(
    ("number", "first"), [("1", 0), ("2", 50), ("3", 100), ("99", 100), ("0", 0), ("-1", 0), ("x", 0), ("9" * 40, 0)]
)
def test_pages_of_fifty(client, number, first):
    many(120)
    found = symbols_of(client.get("/markets/", {"page": number}))
    assert found == [f"C{n:04}BTC" for n in range(first, min(first + 50, 120))]


def test_rows_that_read_themselves_again_stay_where_they_are(client):
    symbol("A", last="1")
    symbol("B", last="2")
    assert symbols_of(client.get("/markets/", {"sort": "-last"})) == ["B", "A"]
    Ticker.objects.filter(symbol="A").update(last=Decimal(3))
    part = {"HTTP_HX_REQUEST": "true", "HTTP_HX_TARGET": "rows"}
    again = client.get("/markets/", {"sort": "-last", "rows": "B,A"}, **part)
    assert symbols_of(again) == ["B", "A"]
    assert "3.00" in text_of(again)
    assert b"<html" not in again.content
    assert symbols_of(client.get("/markets/", {"sort": "-last", "rows": "B,A"})) == ["A", "B"], "a reload sorts anew"
    assert symbols_of(client.get("/markets/", {"rows": "GONE,B,,\0,A"}, **part)) == ["B", "A"]


def test_a_thousand_symbols_cost_what_three_cost(client, standing_clock):
    def cost():
        with CaptureQueriesContext(
            connection,
        ) as taken:
            assert client.get("/markets/", {"sort": "-change"}).status_code == 200
        return len(taken)

    def cost_again():
        cost()  # the first look at a symbol is noted, the next ones for a while not
        return cost()

    many(1)
    one = cost_again()
    Symbol.objects.all().delete()
    Ticker.objects.all().delete()
    many(3)
    three = cost_again()
    Symbol.objects.all().delete()
    Ticker.objects.all().delete()
    many(1_000)
    assert one == three == cost_again()


def test_an_empty_table_says_what_comes(client):
    assert "Symbols not received yet" in text_of(client.get("/markets/"))
    symbol("A")
    assert "No symbols match “zz”" in text_of(client.get("/markets/", {"text": "zz"}))


def test_a_name_that_no_address_takes_breaks_no_table(client):
    symbol("ETH/BTC", last="1")
    symbol("A\nB", last="1")
    assert set(symbols_of(client.get("/markets/"))) == {"ETH/BTC", "A\nB"}


def declared(response):
    """The topics that a page draws ticks of, part by part."""
    return [found.split() for found in re.findall(r'data-ticks="([^"]*)"', response.content.decode())]


def test_the_list_follows_the_tickers_that_it_shows_and_no_more(client):
    many(120)
    (shown_topics,) = declared(client.get("/markets/?page=2"))
    assert shown_topics == [f"symbol:C{n:04}BTC" for n in range(50, 100)]
    now = clock.now()
    assert sorted(interest.glanced(now=now)) == [f"C{n:04}BTC" for n in range(50, 100)]
    assert not list(interest.due(now=now)), "no worker reads anything for a list"
    part = {"HTTP_HX_REQUEST": "true", "HTTP_HX_TARGET": "rows"}
    (held,) = declared(client.get("/markets/", {"rows": "C0003BTC,NOSUCH,C0001BTC"}, **part))
    assert held == ["symbol:C0003BTC", "symbol:C0001BTC"]
    assert len(interest.glanced(now=clock.now())) == 52
    client.get("/markets/", {"text": "<nobody>"})
    assert len(interest.glanced(now=clock.now())) == 52


@pytest.mark.parametrize("code", ["ETH/BTC", "A B", '"><b>', "\u00c4"])
def test_an_odd_name_has_a_topic_that_may_be_followed(client, operator, nobody_yet, code):
    symbol(code, last="1")
    ((topic,),) = declared(client.get("/markets/"))
    assert topic == market_topics.topic(code)
    assert topics.admits(operator, topic)
    assert not topics.admits(nobody_yet, topic)


def test_a_market_follows_its_own_topics_and_its_period(client, operator, nobody_yet):
    filled(3)
    found = [topic for part in declared(client.get("/markets/ETHBTC/?period=H4")) for topic in part]
    assert set(found) == {"book:ETHBTC", "candles:ETHBTC.H4", "symbol:ETHBTC", "trades:ETHBTC"}
    for topic in found:
        assert topics.admits(operator, topic)
        assert not topics.admits(nobody_yet, topic)
    assert not any(topics.admits(operator, topic) for topic in ("book", "book:", "trades:", "candles:", "symbol:"))


# One market ----------------------------------------------------------------------------------------------------------


def candle(at, close="3"):
    return records.Candle(at, Decimal(2), Decimal(close), ONE, Decimal(4), Decimal("0.5"), ONE)


def filled(count=1):
    row, now = symbol(last="3", open="2", bid="2.9", ask="3.1", volume="5", volume_quote="6"), clock.now()
    start = now.replace(minute=0, second=0, microsecond=0)
    rows = [candle(start - timedelta(minutes=30 * n)) for n in range(count)]
    quotes.keep_candles(symbol=row.code, period="M30", candles=rows, now=now)
    trades = [records.PublicTrade(n, Decimal(3), ONE, ("buy", "sell", "odd")[n % 3], now) for n in range(count)]
    quotes.keep_trades(symbol=row.code, trades=trades, now=now)
    ask, bid = ([[str(3 + side * n), "1.5"] for n in range(1, count + 1)] for side in (1, Decimal("-0.01")))
    BookSnapshot.objects.create(symbol=row.code, timestamp=now, ask=ask, bid=bid, read_at=now)
    return row


def test_looking_at_a_market_asks_a_worker_to_read_it(client):
    symbol()
    client.get("/markets/ETHBTC/?period=H4")
    look = MarketLook.objects.get()
    assert (look.symbol, look.period, look.tried_at) == ("ETHBTC", "H4", None)
    assert "Loading candles, order book and trades…" in text_of(client.get("/markets/ETHBTC/?period=H4"))
    assert MarketLook.objects.count() == 1


@pytest.mark.parametrize("period", ["", "M2", "m1", "1M ", "<b>", "\0", "9" * 500])
def test_an_unknown_period_is_the_usual_one(client, period):
    symbol()
    assert client.get("/markets/ETHBTC/", {"period": period}).status_code == 200
    assert MarketLook.objects.get().period == "M30"


@pytest.mark.parametrize("code", ["NOSUCH", "ETHBTC ", "%00", "..", "X" * 300, "%F0%9F%98%80"])
def test_an_unknown_symbol_is_not_found_and_asks_nobody(client, code):
    symbol()
    assert client.get(f"/markets/{code}/").status_code == 404
    assert not MarketLook.objects.exists()


def test_small_letters_lead_to_the_page(client):
    symbol()
    response = client.get("/markets/ethbtc/?period=H1")
    assert (response.status_code, response["Location"]) == (302, "/markets/ETHBTC/?period=H1")


def test_everything_of_a_market_is_on_its_page(client):
    filled(3)
    page = text_of(client.get("/markets/ETHBTC/"))
    for piece in ("ETH / BTC", "+50.00 %", "Tick size 0.01 BTC", "Lot size 0.001 ETH", "0.1 %, in BTC"):
        assert piece in page, piece
    for piece in ("(rebate)", "↑ Buy", "↓ Sell", "odd", "Spread 1.01", "4.500", "TradingView", "10", "1M"):
        assert piece in page, piece


def test_the_chart_gets_exact_figures_oldest_first(client):
    filled(3)
    body = client.get("/markets/ETHBTC/").content.decode()
    rows = json.loads(unescape(re.search(r'data-candles="([^"]*)"', body)[1]))
    assert [row[1:] for row in rows] == [["2", "4", "1", "3", "0.5"]] * 3
    assert [later[0] - earlier[0] for earlier, later in pairwise(rows)] == [1800, 1800]


def test_every_picture_is_there_as_a_table(client):
    filled(20)
    head = '<th scope="col" class="end">Turnover, BTC</th>'
    assert head not in client.get("/markets/ETHBTC/").content.decode()
    candles = client.get("/markets/ETHBTC/?candles=table&depth=table").content.decode()
    assert head in candles
    assert candles.count('<th scope="row">') == 20
    assert candles.count('class="unseen">Ask</span>') == candles.count('class="unseen">Bid</span>') == 20
    assert client.get("/markets/ETHBTC/").content.decode().count('<tr data-side="ask" data-price=') == 12


def test_one_order_far_out_leaves_the_near_book_to_be_seen(client):
    symbol()
    now = clock.now()
    near = {"ask": [["102", "1"], ["103", "2"], ["104", "3"]], "bid": [["98", "2"], ["97", "2"], ["96", "9"]]}
    kept = BookSnapshot.objects.create(symbol="ETHBTC", timestamp=now, read_at=now, **near)
    whole = drawings.depth(depth.ladder(book=kept))
    assert (whole.low, whole.high, whole.top, whole.percent, whole.beyond) == (96, 104, 13, 4, 0)
    assert "farther out" not in text_of(client.get("/markets/ETHBTC/"))
    kept.ask, kept.bid = [*near["ask"], ["900", "50"]], [*near["bid"], ["0.01", "70"]]
    kept.save()
    bounded = drawings.depth(depth.ladder(book=kept))
    assert (bounded.low, bounded.high, bounded.top, bounded.percent, bounded.beyond) == (84, 116, 13, 16, 2)
    # The best ask stands an eighth of half the field beside the middle, and the far one is no part of the outline.
    assert bounded.ask.startswith("M360.0 170.0L360.0 ")
    assert max(float(at.split()[0]) for at in bounded.ask[1:-1].split("L")) == drawings.WIDTH
    page = text_of(client.get("/markets/ETHBTC/"))
    assert "within 16 % of the mid price, up to 13 ETH , 2 levels further out" in page


@pytest.mark.parametrize(
    ("ask", "bid"), [([], []), ([["4", "1"]], []), ([], [["2", "1"]]), ([["4", "1"]], [["2", "1"]])]
)
def test_a_book_without_a_side_is_shown_as_it_is(client, ask, bid):
    symbol()
    now = clock.now()
    BookSnapshot.objects.create(symbol="ETHBTC", timestamp=now, ask=ask, bid=bid, read_at=now)
    body = client.get("/markets/ETHBTC/").content.decode()
    levels = tuple(body.count(f'<tr data-side="{side}" data-price=') for side in ("ask", "bid"))
    assert levels == (len(ask), len(bid))
    if ask or bid:  # always as many rows, so that none moves when a level comes or goes
        assert (body.count('data-side="ask"'), body.count('data-side="bid"')) == (12, 12)
    assert ("One side is empty" in body) == (len(ask) + len(bid) == 1)
    assert ('<path class="bid"' in body) == bool(ask and bid)


def test_a_part_reads_only_what_it_shows(client, django_assert_max_num_queries):
    filled(3)
    for part, piece in (
        ("now", "Best bid"),
        ("candles", "data-candles"),
        ("book", "Spread"),
        ("trades", "Recent trades"),
    ):
        with django_assert_max_num_queries(12):
            response = client.get("/markets/ETHBTC/", HTTP_HX_REQUEST="true", HTTP_HX_TARGET=part)
        assert piece in response.content.decode()
        assert f'id="{part}"' in response.content.decode()
        assert b"<html" not in response.content


def test_one_row_of_each_costs_what_three_cost(client, standing_clock):
    filled(1)

    def cost():
        with CaptureQueriesContext(connection) as taken:
            client.get("/markets/ETHBTC/?candles=table&depth=table")
        return len(taken)

    cost()
    one = cost()
    for model in (Symbol, Ticker, Candle, BookSnapshot):
        model.objects.all().delete()
    filled(3)
    assert one == cost()


def test_a_reading_that_failed_and_a_worker_that_is_away_are_said(client):
    symbol(last="1")
    client.get("/markets/ETHBTC/")
    now = clock.now()
    MarketLook.objects.update(tried_at=now, problem="Order book not updated: <odd>.")
    assert "the last update failed. Order book not updated: <odd>." in text_of(client.get("/markets/ETHBTC/"))
    MarketLook.objects.update(tried_at=now - timedelta(minutes=9), problem="")
    assert "last updated 9 min ago" in text_of(client.get("/markets/ETHBTC/"))


def test_what_the_exchange_calls_things_is_only_text(client):
    row = symbol("ODD", base="<b>x</b>", quote='"q"', last="1")
    body = client.get(f"/markets/{row.code}/").content.decode()
    assert "<b>x</b>" not in body
    assert "&lt;b&gt;x" in body


def test_a_page_of_an_account_elsewhere_says_whose_market_it_shows(client, settings):
    """Market data is read at one exchange for every account; whoever trades at another one has to see that."""
    settings.EXCHANGE_PLACES = {"second": ExchangePlace("https://b.test", "wss://b.test")}
    here = rows.account(now=clock.now())
    rows.price(now=clock.now())
    words = "Market data on this page comes from the exchange “default”."
    for path in ("/markets/", "/markets/BCHUSD/"):
        assert words not in client.get(path).content.decode()
    other = Account.objects.create(name="Second desk", place="second")
    for path in ("/markets/", "/markets/BCHUSD/"):
        page = client.get(f"/accounts/{other.pk}{path}").content.decode()
        assert words in page, path
        assert "is on the exchange “" in page, path
        assert words not in client.get(f"/accounts/{here.pk}{path}").content.decode(), path
    assert words in client.get("/markets/").content.decode(), "one of those in view"
