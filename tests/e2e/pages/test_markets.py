"""Markets in a real browser: found, sorted, still under a resting pointer, drawn in both themes, wide and narrow."""

import json
import os
import re
import urllib.request
from decimal import Decimal
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from exchange_ops.templatetags.markets import price
from tests.e2e import looks
from tests.e2e.visitors import rows, until

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]

LEVELS = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}}
PICTURES = os.environ.get("PICTURES", "")


@pytest.fixture
def priced(house, crew):
    """A house that has read its prices."""
    until(lambda: rows(house, "SELECT 1 FROM exchange_ops_ticker WHERE symbol = 'ETHBTC'"))


def picture(page, name):
    """Keep what is seen, for somebody who wants to look, in the folder that PICTURES names."""
    if PICTURES:
        page.screenshot(path=str(Path(PICTURES) / f"{name}.png"), full_page=True)


def sound(page):
    with looks.unrolled(page):
        found = Axe().run(page, options={**LEVELS, "resultTypes": ["violations"]})
    assert not found.response["violations"], found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), "cut off"


def bars(page):
    return json.loads(page.locator("#candles").get_attribute("data-candles"))


@pytest.mark.thorough("what comes by a socket is proven with ticks of a test, which run always")
def test_a_market_is_found_sorted_and_opened_and_everything_comes_by_itself(visit, priced):
    person = visit("operator")
    page = person.open("/markets/")
    expect(page.get_by_role("link", name="ETH / BTC")).to_be_visible()
    page.get_by_label("Symbol or currency").fill("eos")
    page.get_by_role("button", name="Find").click()
    expect(page.get_by_role("link", name="ETH / BTC")).to_have_count(0)
    assert {"EOS" in name for name in page.locator("tbody th").all_inner_texts()} == {True}
    page.get_by_role("link", name="Clear search").click()
    page.get_by_role("link", name="24 h change").click()
    expect(page.get_by_role("columnheader", name="24 h change")).to_have_attribute("aria-sort", "descending")
    page.get_by_role("link", name="BCH / USD").click()
    # A page that has only begun has no body to be marked yet.
    page.wait_for_url(re.compile("/markets/BCHUSD/$"))
    person.mark()
    expect(page.locator("#trades tbody tr")).not_to_have_count(0)
    expect(page.locator("#book tr[data-side=ask][data-price]").last).to_be_visible()
    expect(page.locator("#chart canvas").first).to_be_visible()
    assert len(bars(page)) > 50
    assert person.is_same_document(), "the page was loaded again"
    expect(page.locator("#legend")).to_contain_text(re.compile("open .* volume"))


@pytest.mark.thorough("a drawing; its figures are proven by views")
def test_candles_are_drawn_and_grow_where_they_are(visit, priced, house):
    person = visit("treasury")
    page = person.open("/markets/ETHBTC/?period=M1")
    expect(page.locator("#chart canvas").first).to_be_visible()
    person.mark()
    first = bars(page)[-1]
    until(lambda: bars(page)[-1] != first, 120)
    assert person.is_same_document()
    expect(page.locator("#chart canvas").first).to_be_visible()


@pytest.mark.thorough("a comfort")
def test_a_table_that_is_read_again_stays_where_it_was_scrolled_to(visit, priced):
    page = visit("auditor").open("/markets/BTCUSD/?candles=table")
    offset = "document.querySelector('#candles .tall').scrollTop"
    until(lambda: page.evaluate(f"({offset} = 300, {offset})") == 300)
    # Over a link of the part, where what comes in is measured before it may take its place.
    page.locator("#candles a").first.hover()
    for _ in range(2):
        page.evaluate("document.getElementById('candles').dataset.seen = 'yes'")
        until(lambda: page.locator("#candles").get_attribute("data-seen") is None, 90)
        assert page.evaluate(offset) == 300


def never_read_again(page):
    """From now on every reading of a part brings nothing: what changes on the page came over its socket."""
    empty = {"status": 204}
    page.route(
        "**/*", lambda route: route.fulfill(**empty) if "hx-request" in route.request.headers else route.continue_()
    )


def last_price(house, symbol):
    """What the exchange itself says at this moment, as a page writes it."""
    with urllib.request.urlopen(f"{house.sandbox_url}/api/2/public/ticker/{symbol}", timeout=20) as answer:
        return price(Decimal(json.loads(answer.read())["last"]), Decimal("0.01"))


@pytest.mark.thorough("what comes by a socket is proven with ticks of a test, which run always")
@pytest.mark.parametrize(
    ("path", "cell"), [("/markets/", "#rows tr:has(#m-BTCUSD) .m-last"), ("/markets/BTCUSD/", "#now .quote strong")]
)
def test_a_price_that_changes_at_the_exchange_shows_without_reading_anything(visit, priced, house, path, cell):
    person = visit("operator")
    page = person.open(path)
    person.mark()
    never_read_again(page)
    before = page.locator(cell).inner_text()
    until(lambda: last_price(house, "BTCUSD") != before)
    until(lambda: page.locator(cell).inner_text() == last_price(house, "BTCUSD"))
    assert person.is_same_document()
    expect(page.locator("time[data-age=symbol]").first).to_have_text(re.compile(r"\d+ (s|min) ago"))


@pytest.mark.thorough("what comes by a socket is proven with ticks of a test, which run always")
def test_rows_of_a_market_stay_under_the_pointer_while_their_figures_change(visit, priced):
    page = visit("treasury").open("/markets/BTCUSD/")
    level = page.locator("#book tr[data-side=bid]").nth(5)
    level.hover()
    place, figures = level.bounding_box(), level.inner_text()
    until(lambda: level.inner_text() != figures)
    assert level.bounding_box() == place
    trade = page.locator("#trades tbody tr").nth(2)
    trade.hover()
    place, words = trade.bounding_box(), trade.inner_text()
    note = page.locator("#trades [data-held]")
    expect(note).to_contain_text("newer trades, shown when the pointer leaves")
    assert (trade.bounding_box(), trade.inner_text()) == (place, words)
    page.locator("h1").hover()
    expect(note).to_have_text("")
    expect(page.locator("#trades tbody tr").nth(2)).not_to_have_text(words)


@pytest.mark.thorough("what comes by a socket is proven with ticks of a test, which run always")
def test_nothing_moves_under_a_resting_pointer(visit, priced, house):
    page = visit("auditor").open("/markets/?sort=-read")
    names = page.locator("tbody th a").all_inner_texts()
    source = page.locator("#rows").get_attribute("hx-get")
    page.locator("tbody tr").nth(3).hover()
    # In one question: between finding a row and measuring it the part may be read anew.
    place = "(({y, height}) => [y, height])(document.querySelectorAll('tbody tr')[3].getBoundingClientRect())"
    before = page.evaluate(place)
    page.evaluate("document.getElementById('rows').dataset.seen = 'yes'")
    until(lambda: page.locator("#rows").get_attribute("data-seen") is None, 90)
    assert page.locator("tbody th a").all_inner_texts() == names
    assert page.evaluate(place) == before
    assert page.locator("#rows").get_attribute("hx-get") == source


@pytest.mark.thorough("the looks take both pages in one theme and width a commit")
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (1280, True), (360, False), (360, True)])
def test_both_pages_in_both_themes_wide_and_narrow(visit, priced, width, dark):
    person = visit("operator", width=width, dark=dark)
    name = f"{width}-{'dark' if dark else 'light'}"
    page = person.open("/markets/")
    expect(page.locator("tbody tr").first).to_be_visible()
    sound(page)
    picture(page, f"markets-{name}")
    page = person.open("/markets/BTCUSD/")
    expect(page.locator("#trades tbody tr")).not_to_have_count(0)
    expect(page.locator("#chart canvas").first).to_be_visible()
    sound(page)
    picture(page, f"market-{name}")
    page = person.open("/markets/BTCUSD/?candles=table&depth=table")
    expect(page.locator("#candles tbody tr")).not_to_have_count(0)
    sound(page)
    picture(page, f"tables-{name}")


def test_the_drawing_follows_the_theme(visit, priced):
    person = visit("operator")
    page = person.open("/markets/BTCUSD/")
    expect(page.locator("#trades tbody tr")).not_to_have_count(0)
    corner = """() => { const canvas = document.querySelector('#chart canvas');
                        return Array.from(canvas.getContext('2d').getImageData(2, 2, 1, 1).data) }"""
    until(lambda: page.evaluate(corner)[3])
    light = page.evaluate(corner)
    page.locator("[data-theme-toggle]").first.click()
    until(lambda: page.evaluate(corner) != light)
    assert sum(page.evaluate(corner)[:3]) < sum(light[:3])


@pytest.mark.thorough("the view proves it")
def test_an_unknown_market_says_so(visit, priced):
    person = visit(
        "operator",
    )
    answer = person.page.request.get(f"{person.house.url}/markets/NOSUCH/")
    assert answer.status == 404
