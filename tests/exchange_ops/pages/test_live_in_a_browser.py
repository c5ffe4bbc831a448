"""An open page that follows: nothing moves under the pointer, focus stays, ticks reach the page, breaks are said."""

import json
import re
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from desk import clock
from exchange_ops.withdrawals.decisions import approvals
from tests.exchange_ops import rows

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

UNDER = """([x, y]) => document.elementFromPoint(x, y).closest("a")?.getAttribute("href")"""


def link_of(row):
    return f"#inbox a.e-title[href='/withdrawals/{row.pk}/']"


def hover(page, row):
    """Put the pointer on the row; where it is then."""
    box = page.locator(link_of(row)).bounding_box()
    at = [box["x"] + 40, box["y"] + box["height"] / 2]
    page.mouse.move(*at)
    return at


def until(page, is_so):
    """Wait for what the page's events bring about; ten seconds at most."""
    for _ in range(200):
        if is_so():
            return
        page.wait_for_timeout(50)
    raise AssertionError("it did not come about")


def reject(row, person):
    approvals.reject(withdrawal_id=row.pk, person=person, reason="Wrong invoice", now=clock.now())


def _reads(request):
    """The part that a request of a page reads; of the frame, those that it names."""
    names = parse_qs(urlsplit(request.url).query).get("parts", [])
    return ": ".join([request.headers.get("hx-target"), *names])


class Line:
    """The wire between a page and the desk: it can be cut, and what passes is kept."""

    def __init__(self, page):
        self.page, self.is_up, self.sent, self._ends = page, True, [], []
        page.route_web_socket("**/ws/", self._connect)

    def _connect(self, end):
        if not self.is_up:
            end.close(code=1011)
            return
        server = end.connect_to_server()
        end.on_message(lambda text: (self.sent.append(json.loads(text)), server.send(text)))
        self._ends.append(end)

    def cut(self):
        self.is_up = False
        for end in self._ends:
            end.close(code=1011)
        self._ends.clear()

    def tell(self, *texts):
        for text in texts:
            self._ends[-1].send(text if isinstance(text, str) else json.dumps(text))


def test_rows_that_come_in_under_the_pointer_wait_until_it_leaves(open_as, operator, treasury):
    now = clock.now()
    first, second = (rows.held(operator, now=now - timedelta(minutes=minutes)) for minutes in (3, 2))
    page = open_as(treasury, "/approvals/")
    at, before = hover(page, second), page.locator(link_of(second)).bounding_box()
    new = rows.held(operator, now=now - timedelta(minutes=20))  # closes first, so it stands above
    expect(page.locator("#waiting")).to_have_text("1 new · show")
    assert page.evaluate(UNDER, at) == f"/withdrawals/{second.pk}/"
    assert page.locator(link_of(second)).bounding_box() == before
    expect(page.locator("#count-action")).to_contain_text("3")  # what moves nothing is not held back
    page.mouse.move(at[0], 400 + at[1])
    expect(page.locator(link_of(new))).to_be_visible()
    expect(page.locator("#waiting")).to_be_hidden()

    hover(page, first)
    reject(new, treasury)
    expect(page.locator("#waiting")).to_have_text("New updates · show")
    page.locator("#waiting").click()
    expect(page.locator(link_of(new))).to_have_count(0)
    expect(page.locator("#waiting")).to_be_hidden()


@pytest.mark.thorough("rows that wait under the pointer run always")
def test_a_part_that_would_push_another_one_waits_too(open_as, operator, treasury):
    now = clock.now()
    ended = rows.ended(operator, now=now)
    rows.entry(1, now=now, withdrawal=ended, type="payout")
    page = open_as(treasury, "/", height=1600)  # no part of it is scrolled away, which would keep its place by itself
    link = page.locator(f"#lines a[href='/withdrawals/{ended.pk}/']")
    link.hover()
    before = link.bounding_box()
    for _ in range(2):
        rows.held(operator, now=now)
    expect(page.locator("#waiting")).to_have_text("2 new · show")
    assert link.bounding_box() == before
    page.mouse.move(2, 2)
    expect(page.locator("#work .item")).to_have_count(2)
    assert link.bounding_box() != before


@pytest.mark.thorough("rows that wait under the pointer run always")
def test_what_changes_in_its_place_changes_under_the_pointer(open_as, operator, treasury):
    row = rows.held(operator, now=clock.now())
    page = open_as(operator, "/withdrawals/")
    page.locator("#rows a[data-row-link]").hover()
    reject(row, treasury)
    expect(page.locator("#rows")).to_contain_text("Being released")
    expect(page.locator("#waiting")).to_be_hidden()


@pytest.mark.thorough("a convenience on which no decision hangs")
def test_the_keyboard_keeps_its_place_when_rows_come_and_go(open_as, operator, treasury, treasury2):
    now = clock.now()
    row = rows.held(operator, now=now - timedelta(minutes=2))
    page = open_as(treasury, "/approvals/")
    page.keyboard.press("j")
    expect(page.locator(link_of(row))).to_be_focused()
    new = rows.held(operator, now=now - timedelta(minutes=20))
    expect(page.locator(link_of(new))).to_be_visible()
    expect(page.locator(link_of(row))).to_be_focused()
    assert page.evaluate("document.activeElement.matches(':focus-visible')")
    reject(row, treasury2)
    expect(page.locator(link_of(row))).to_have_count(0)
    expect(page.locator("#inbox")).to_be_focused()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#inbox') !== null"), "the keyboard goes on from where it was"


@pytest.mark.thorough("what ticks draw runs always (tests/exchange_ops/market/test_live_markets.py)")
def test_ticks_reach_who_draws_them_and_nothing_is_read_for_them(open_as, treasury):
    lines = []
    page = open_as(treasury, "/approvals/", before=lambda page: lines.append(Line(page)))
    line, read = lines[0], []
    # The strip has a clock of its own.
    page.on("request", lambda request: read.extend({_reads(request)} - {"strip: strip"}))
    page.evaluate(
        """() => {
            window.told = [];
            document.addEventListener("desk:tick", (event) => window.told.push(event.detail));
            document.getElementById("main").dataset.ticks = "symbol:BCHUSD";
            document.getElementById("inbox").dataset.ticks = "symbol:ETHUSD symbol:BCHUSD";
            document.dispatchEvent(new CustomEvent("htmx:load", {detail: {elt: document.body}}));
        }"""
    )
    until(page, lambda: line.sent[-1]["follow"][:1] == ["symbol:BCHUSD"])
    assert line.sent[-1] == {"follow": ["symbol:BCHUSD", "symbol:ETHUSD"], "unfollow": []}

    line.tell("", "null", "7", "[null, 3, []]", {"topic": "symbol:BCHUSD"}, '{"topic":', [])
    ticks = [{"topic": "symbol:BCHUSD", "tick": {"last": str(number)}} for number in range(50)]
    line.tell([*ticks, {"topic": "symbol:ETHUSD", "tick": {"last": "1"}}, {"topic": "nobody", "hint": {}}])
    until(page, lambda: page.evaluate("window.told.length") >= 2)
    assert page.evaluate("window.told") == [
        {"topic": "symbol:BCHUSD", "tick": {"last": "49"}},
        {"topic": "symbol:ETHUSD", "tick": {"last": "1"}},
    ]
    line.tell([{"topic": "symbol:BCHUSD", "tick": {"last": "50"}}, {"topic": "approvals", "hint": {}}])
    until(page, lambda: page.evaluate("window.told.length") == 3 and len(read) >= 2)
    assert sorted(read) == ["frame: count-action", "inbox"], "only for the hint, and once for each part"


def test_a_page_without_a_socket_reads_itself_and_says_how_old_it_is(open_as, operator, treasury, treasury2):
    row = rows.held(operator, now=clock.now())
    lines = []
    page = open_as(treasury, f"/withdrawals/{row.pk}/", before=lambda page: lines.append(Line(page)))
    page.evaluate("window.marked = true")
    banner, decides = page.locator("#offline"), page.locator("[data-decides]:enabled")
    expect(decides.first).to_be_visible()
    page.route("**/withdrawals/**", lambda request: request.abort())
    lines[0].cut()
    expect(banner).to_contain_text("Live connection lost. Data as of")
    expect(banner).to_contain_text("Nothing can be sent")
    expect(decides).to_have_count(0)
    expect(banner).to_contain_text(re.compile(r"\d+ s ago"))
    expect(banner).not_to_contain_text(re.search(r"\d+ s ago", banner.inner_text())[0])  # it goes on counting

    page.unroute_all()
    expect(banner).to_contain_text("Refreshed at")
    expect(decides.first).to_be_visible()
    reject(row, treasury2)
    expect(page.locator("#facts .chip").first).to_have_text("Being released")
    expect(banner).to_be_visible()

    lines[0].is_up = True
    page.evaluate("window.dispatchEvent(new Event('online'))")  # or wait for the rest of a pause that has grown
    expect(banner).to_be_hidden()
    assert page.evaluate("window.marked") is True
