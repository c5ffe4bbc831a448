"""Markets as an open page draws them from ticks: the same as the server draws them from the rows, digit for digit."""

import random
import re
from datetime import timedelta
from decimal import Decimal
from urllib.parse import urlsplit

import pytest
from django.conf import settings as configured

from desk import clock
from desk.live import announcements
from exchange_ops.market import quotes, stream
from exchange_ops.market.models import BookSnapshot, Candle, MarketLook, Symbol, Ticker
from exchange_ops.templatetags import markets as tags
from exchange_ops.wire import records
from exchange_ops.wire.book import Book
from exchange_ops.wire.market_session import BookChanged, CandlesTold, TickerTold, TradesTold
from tests.exchange_ops.test_followers import until

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ONE, AGES = Decimal(1), re.compile(r"\d+ (s|min|h|d) ago|never")
EDGES = ("0", "0.000", "1", "10", "999.995", "0.5", "12345.5", "12346.5", "99999.5", "999995", "1234567", "0.0012345")
EDGES += ("0.00123445", "0.00123455", "0.000000000137", "123456789012.123456789012345678", "9" * 30 + "." + "9" * 24)


def figures():
    """Edges of rounding and grouping, then what comes."""
    dice = random.Random(7)
    some = [
        f"{dice.randrange(10 ** dice.randrange(1, 20))}.{dice.randrange(10**9):0{dice.randrange(9, 20)}}"
        for _ in range(200)
    ]
    return [*EDGES, *some]


def serve_modules(route):
    """An empty page, and our scripts beside it."""
    name = urlsplit(route.request.url).path.rpartition("/")[2]
    if name.endswith(".js"):
        route.fulfill(path=configured.BASE_DIR / "static" / "js" / name, content_type="text/javascript")
    else:
        route.fulfill(body="<body></body>", content_type="text/html")


def test_a_page_writes_figures_as_the_server_writes_them(new_page):
    """Rounded half to even, grouped, padded to the tick: from the same exact text, without a binary number."""
    page, texts = new_page(), figures()
    page.route("http://modules.test/**", serve_modules)
    page.goto("http://modules.test/")
    steps = [Decimal(1), Decimal("0.01"), Decimal("0.00000001"), Decimal("0.5"), Decimal(10)]
    drawn = page.evaluate(
        """async ([texts, places]) => { const {price, brief, percent} = await import("/figures.js");
            return texts.map((text) => [...places.map((one) => price(text, one)), brief(text), percent(text)]) }""",
        [texts, [tags.places(step) for step in steps]],
    )
    for text, drawn_text in zip(texts, drawn, strict=True):
        value = Decimal(text)
        wanted = [*(tags.price(value, step) for step in steps), tags.brief(value), f"{tags.price(value)} %"]
        assert drawn_text == wanted, text
    changes = ["0.00", "12.30", "-0.05", "1234.56", "-1234567.00"]
    as_drawn = page.evaluate(
        "async (all) => (({change}) => all.map((one) => change(one).outerHTML))(await import('/ticks.js'))",
        [*changes, None],
    )
    assert as_drawn == [tags.change(None if one is None else Decimal(one) / 100) for one in [*changes, None]]


# An open page --------------------------------------------------------------------------------------------------------


@pytest.fixture
def symbol(monkeypatch):
    """A market of which something is known, a minute old."""
    monkeypatch.setattr("desk.outbox._send", lambda *arguments: None)
    now = clock.now() - timedelta(minutes=1)
    rates = {"quantity_increment": Decimal("0.001"), "tick_size": Decimal("0.01")}
    rates |= {"take_liquidity_rate": Decimal("0.001"), "provide_liquidity_rate": Decimal("0.0001")}
    named = {"base_currency": "ETH", "quote_currency": "BTC", "fee_currency": "BTC", "read_at": now}
    row = Symbol.objects.create(code="ETHBTC", **named, **rates)
    prices = dict.fromkeys(("last", "open", "bid", "ask", "low", "high", "volume", "volume_quote"), ONE)
    Ticker.objects.create(symbol=row.code, timestamp=now, read_at=now, **prices)
    BookSnapshot.objects.create(symbol=row.code, timestamp=now, read_at=now, ask=[["4", "1"]], bid=[["3", "1"]])
    quotes.keep_trades(symbol=row.code, trades=[trade(1, at=now)], now=now)
    quotes.keep_candles(symbol=row.code, period="M30", candles=[candle(now)], now=now)
    look = {"asked_at": now, "tried_at": now, "book_read_at": now, "candles_read_at": now, "trades_read_at": now}
    MarketLook.objects.create(symbol=row.code, period="M30", **look)
    return row


def trade(number, *, at=None, price="3.456"):
    side = ("buy", "sell", "<b>odd</b>")[number % 3]
    return records.PublicTrade(number, Decimal(price), Decimal("1234.5"), side, at or clock.now())


def candle(now, close="3"):
    start = now.replace(minute=0, second=0, microsecond=0)
    return records.Candle(start, Decimal(2), Decimal(close), ONE, Decimal(4), Decimal("0.5"), ONE)


def ticker(last, *, after=0):
    prices = {"last": last, "open": "2.5", "bid": "3.25", "ask": "3.5", "low": "1.005", "high": "12345.678"}
    known = {name: Decimal(value) for name, value in prices.items()}
    volumes = {"volume": Decimal("1234567.5"), "volume_quote": Decimal("0.00123455")}
    return TickerTold(
        records.Ticker(symbol="ETHBTC", timestamp=clock.now() + timedelta(seconds=after), **known, **volumes)
    )


def book(levels):
    """As many levels a side, of odd sizes."""
    kept, now = Book("ETHBTC"), clock.now()
    ask = [records.Level(Decimal("3.5") + n * Decimal("0.25"), Decimal(7 + n) / 8) for n in range(levels)]
    bid = [records.Level(Decimal("3.25") - n * Decimal("0.01"), Decimal(1234 + n)) for n in range(levels + 1)]
    kept.restart(records.BookReport("ETHBTC", 1, ask, bid, timestamp=now))
    return kept


@pytest.fixture
def open_page(live_desk, new_page, operator, password):
    """A page that has joined what it follows and is then never read again: what changes on it came in ticks."""

    def begin(path, **options):
        page = new_page(**options)
        page.goto(f"{live_desk.url}/sign-in/")
        page.fill("input[name=login]", operator.username)
        page.fill("input[name=password]", password)
        page.click("form button.main")
        page.wait_for_selector("#main")
        heard = []
        page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: heard.append(str(frame))))
        page.goto(f"{live_desk.url}{path}")
        assert until(lambda: page.wait_for_timeout(50) or any("followed" in frame for frame in heard))
        page.wait_for_load_state("networkidle")
        page.route("**/*", lambda route: None if "hx-request" in route.request.headers else route.continue_())
        page.evaluate("window.marked = true")
        return page

    return begin


class Following:
    """What the follower of the public stream does, one step at a time."""

    def __init__(self, page):
        self.page, self.tally = page, stream.Tally()

    def tell(self, *events):
        """Take these in, tell them, and write them."""
        for event in events:
            self.tally.add(event, now=clock.now())
        self.tally.keep(now=clock.now())
        assert announcements.settle()

    def shows(self, selector, text):
        """Whether it does, within a few seconds."""
        self.page.wait_for_function(
            "([selector, text]) => document.querySelector(selector)?.textContent.includes(text)", arg=[selector, text]
        )
        return True


FIGURES = "#now [data-value], #now [data-at], #book table *, #depth [data-depth], #trades tbody *, #candles table td"
FIGURES += ", #rows [data-value], #depth [data-beyond]"
PIECES = """(root, shown) => Array.from(root.querySelectorAll(shown)).map((one) => [
    one.tagName, (one.getAttribute("class") || "").replace(/\\bfresh\\b/, "").trim(),
    one.dateTime ? "" : one.title, one.dataset.side || "", one.dataset.id || "",
    one.childElementCount ? "" : one.textContent.trim()].join("|"))"""


def as_drawn(page):
    """What is shown now, piece by piece, and what a page drawn anew would show."""
    here = page.evaluate(f"(shown) => ({PIECES})(document, shown)", FIGURES)
    anew = page.evaluate(
        f"""async (shown) => {{ const answer = await fetch(location.href);
            return ({PIECES})(new DOMParser().parseFromString(await answer.text(), "text/html"), shown) }}""",
        FIGURES,
    )
    return here, anew


def test_what_ticks_draw_is_what_the_server_draws(open_page, symbol):
    page = open_page("/markets/ETHBTC/?candles=table")
    following = Following(page)
    trades = TradesTold("ETHBTC", tuple(trade(number) for number in range(2, 50)), is_complete=False)
    drawn_candle = Candle.objects.get()  # by the clock it would be another one at the full hour
    candles = CandlesTold("ETHBTC", "M30", (candle(drawn_candle.timestamp, close="3.999"),), is_complete=False)
    following.tell(ticker("3.4999"), BookChanged(book(3)), trades, candles)
    assert following.shows("#now strong", "3.4999")
    assert following.shows("#trades tbody tr", "1,234.500")
    assert following.shows("#book tr[data-side=ask]:nth-last-child(15)", "3.75")
    assert following.shows("#legend", "close 3.999  volume 0.500"), "the chart's last candle grew"
    here, anew = as_drawn(page)
    assert here == anew
    assert page.locator("#depth [data-beyond]").inner_text() == ", 1 level further out"
    assert len(here) > 150
    assert page.locator("#trades tbody tr").count() == 30
    assert page.locator("#trades b").count() == 0, "what the exchange says is only text"
    # Levels and sides that go leave their rows where they are.
    place = page.locator("#book .gap").bounding_box()
    following.tell(BookChanged(book(12)))
    assert following.shows("#book tr[data-side=ask]", "6.25")
    assert page.locator("#book .gap").bounding_box() == place
    assert as_drawn(page)[0] == as_drawn(page)[1]
    assert page.evaluate("window.marked") is True


@pytest.mark.thorough("one page that ticks draw runs always")
def test_the_list_is_drawn_by_ticks_and_an_older_one_is_left_alone(open_page, symbol, settings):
    settings.MARKET_PINNED = []
    page = open_page("/markets/")
    following = Following(page)
    assert [one.symbol for one in stream.subscriptions(now=clock.now())] == ["ETHBTC"]
    following.tell(ticker("0.0075"))
    assert following.shows(".m-last", "0.0075")
    here, anew = as_drawn(page)
    assert here == anew
    assert AGES.fullmatch(page.locator(".m-read").inner_text())
    page.evaluate(
        """() => { window.seen = []; const cell = document.querySelector(".m-last");
            const note = () => window.seen.push(cell.textContent.trim());
            new MutationObserver(note).observe(cell, {childList: true, subtree: true}) }"""
    )
    Following(page).tell(ticker("999", after=-30))  # another follower, that is behind
    following.tell(ticker("4", after=1))
    assert following.shows(".m-last", "4.00")
    assert page.evaluate("window.seen") == ["4.00"]


@pytest.mark.thorough("rows that wait under the pointer run always")
def test_a_scrolled_list_of_trades_stays_where_it_is_and_one_under_the_pointer_waits(open_page, symbol):
    page = open_page("/markets/ETHBTC/", height=700)
    following = Following(page)
    following.tell(TradesTold("ETHBTC", tuple(trade(number) for number in range(2, 32)), is_complete=False))
    assert following.shows("#trades tbody tr[data-id='31']", "3.456")
    seen = "() => document.querySelector('#trades tr[data-id=\"20\"]').getBoundingClientRect().top"
    page.evaluate("document.querySelector('#trades .scroll').scrollTop = 200")
    before = page.evaluate(seen)
    following.tell(TradesTold("ETHBTC", (trade(32), trade(33, price="9")), is_complete=False))
    assert following.shows("#trades tbody tr[data-id='33']", "9.00")
    assert page.evaluate(seen) == before
    page.locator("#trades tr[data-id='20']").hover()
    before = page.evaluate(seen)
    following.tell(TradesTold("ETHBTC", (trade(34),), is_complete=False))
    assert following.shows("#trades [data-held]", "1 newer")
    assert page.locator("#trades tr[data-id='34']").count() == 0
    assert page.evaluate(seen) == before
    page.mouse.move(5, 5)
    assert following.shows("#trades tbody tr[data-id='34']", "3.456")
    assert page.locator("#trades tbody tr").count() == 30


@pytest.mark.thorough("only who forges the broker's messages sends them, and the policy on content holds besides")
def test_hostile_or_broken_ticks_harm_nothing(open_page, symbol):
    """What only somebody who forges the broker's messages could send: no script error, no markup, the rest goes on."""
    page = open_page("/markets/ETHBTC/")
    following = Following(page)
    announcements.tick("symbol:ETHBTC", at="2026-11-20T10:00:00.000Z", last="<img src=x onerror=alert(1)>")
    announcements.tick("trades:ETHBTC", rows=[])
    announcements.tick("candles:ETHBTC.M30", rows=[])
    announcements.tick("book:ETHBTC", at="9999-01-01T00:00:00.000Z", ask=[], bid=[])
    announcements.tick("book:BTCUSD", at="9999-01-01T00:00:00.000Z", ask=[["1", "1"]], bid=[])
    assert announcements.settle()
    following.tell(ticker("7.25"))
    assert following.shows("#now strong", "7.25")
    assert page.locator("main img").count() == 0
    assert page.locator("#book .gap").inner_text() == "Spread 1.00 BTC"
