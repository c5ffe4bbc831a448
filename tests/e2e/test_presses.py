"""A press is a click, whatever comes in between: nothing is swapped while a button is down."""

import os
import re

import pytest
from playwright.sync_api import expect

from tests.e2e import presses
from tests.e2e.presses import HOLDS_MS, Presser

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]

# `PRESSES=1000` is the thorough count; they are made in parts, which the shards of `make thorough` share.
PRESSES = int(os.environ.get("PRESSES", "24"))
PARTS = max(PRESSES // 100, 1)
EACH = PRESSES // PARTS


@pytest.mark.thorough("dozens of pages; each kind of press on one page always runs")
@pytest.mark.parametrize("part", range(PARTS))
def test_no_press_on_a_live_page_is_lost(house, visit, announcer, part):
    """Each press has the answers to a forced re-reading of the whole page arrive between down and up."""
    operator, every = visit("operator"), visit("every")
    number = operator.ask_and_hold(amount="1.2701", reason="Pressed on")
    pages = presses.live_pages(every, f"/withdrawals/{number}/")
    assert len(pages) > 15, sorted(pages)
    page = every.page
    presser = Presser(page, announcer).begin()
    done, lost, count = 0, [], 0
    for address, numbers in presses.turns(sorted(pages), EACH):
        presser.open(every, address)
        for turn in (number + part * len(numbers) for number in numbers):
            # Along the page in steps, so that few presses meet many of its places.
            outcome = presser.press(turn * 3 if len(numbers) < 20 else turn, hold_ms=HOLDS_MS[count % len(HOLDS_MS)])
            count += 1
            if outcome is None:
                continue
            done += 1
            if not outcome[0]:
                lost.append(outcome[1])
        print(f"{len(lost)} of {done} lost so far, {address}")
    print(f"{len(lost)} of {done} presses lost on {len(pages)} pages")
    assert done >= EACH * 0.9
    assert not lost, f"{len(lost)} of {done} presses lost:\n" + "\n".join(lost)


def in_short(names, *always):
    """These always, the others in their turn: one mechanism on several places."""
    mark = pytest.mark.thorough("the same mechanism, on another place")
    return [name if name in always else pytest.param(name, marks=mark) for name in names]


def middle(page, button):
    """Where a mouse would press it."""
    button.scroll_into_view_if_needed()
    box = button.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    button.evaluate("one => { window.wanted = one; window.reached = []; }")


FORMS = {
    "/orders/new/?symbol=ETHBTC": ("#ticket", "#id_quantity", "0.01", "#id_price", "0.001"),
    "/withdrawals/new/?currency=BCH": ("#new", "#id_amount", "1.2", "#id_reason", "Typed and pressed"),
    "/transfers/new/move/?currency=LTC": ("#new", "#id_amount", "1.2", "#id_reason", "Typed and pressed"),
}


def sends(body, value):
    """Whether the body of a form, of either encoding, has a field with exactly this value."""
    return f"={value}&" in f"{body}&" or f"\r\n\r\n{value}\r\n" in body


@pytest.mark.every(3, "one kind of press each")
@pytest.mark.parametrize("address", in_short(FORMS, "/withdrawals/new/?currency=BCH"))
def test_a_press_right_after_typing_sends_what_was_typed(visit, announcer, address):
    """The field is left by the press itself, so the figures are asked for, and come, while the button is down."""
    operator = visit("operator")
    page, presser = operator.page, Presser(operator.page, announcer).begin()
    form, *fields = FORMS[address]
    presser.open(operator, address)
    lost = []
    for turn in range(max(8, EACH // 10)):
        presser.sent.clear()
        page.evaluate("document.querySelectorAll('form[data-sent]').forEach((form) => { delete form.dataset.sent; })")
        page.locator(fields[2]).fill(fields[3])
        middle(page, page.locator(f"{form} .btn.main"))
        page.locator(fields[0]).click()
        page.locator(fields[0]).fill("")
        middle(page, page.locator(f"{form} .btn.main"))
        presser.keep_answers()
        page.keyboard.type(typed := f"{fields[1]}{turn + 1}")
        presser.answer_while(page.mouse.down, page.mouse.up, hold_ms=HOLDS_MS[turn % len(HOLDS_MS)])
        for _ in range(50):  # the form is on its way a moment after the click
            if presser.sent:
                break
            page.wait_for_timeout(20)
        bodies = [body for method, _, body in presser.sent if method == "POST"]
        if page.evaluate("window.reached.length") != 1 or len(bodies) != 1 or not sends(bodies[0], typed):
            lost.append((typed, bodies))
    assert not lost, f"{len(lost)} presses lost: {lost}"


@pytest.mark.thorough("what is typed and pressed runs always")
def test_a_ticket_that_is_read_to_its_end_places_what_its_button_says(house, visit, announcer):
    """Typed, then looked at, then pressed while the figures come once more: one press, one order."""
    operator = visit("operator")
    page, presser = operator.page, Presser(operator.page, announcer).begin()
    presser.open(operator, "/orders/new/?symbol=ETHBTC")
    page.locator("#id_price").fill("0.001")
    page.locator("#id_quantity").fill("0.0131")
    button = page.get_by_role("button", name="Place buy order: 0.0131 ETH at 0.001 BTC", exact=True)
    expect(button).to_be_visible()
    presser.is_leading = True
    presser.keep_answers()
    middle(page, button)
    page.locator("#id_price").dispatch_event("change")
    presser.wait_for_questions()
    presser.answer_while(page.mouse.down, page.mouse.up, hold_ms=60)
    page.wait_for_url(re.compile(r"/orders/\d+/$"))


def row_that_is_read(operator, announcer):
    """The list of withdrawals with a presser, and the link of its first row."""
    presser = Presser(operator.page, announcer).begin()
    presser.open(operator, "/withdrawals/")
    return presser, operator.page.locator("#rows [data-row-link]").first


@pytest.mark.thorough("a mouse is the way of most presses, and runs always")
def test_a_key_that_is_held_is_a_press_as_well(visit, announcer):
    operator = visit("operator")
    operator.ask_and_hold(amount="1.2702", reason="Pressed by key")
    page, presser = operator.page, Presser(operator.page, announcer).begin()
    presser.open(operator, f"/withdrawals/{operator.number()}/")
    summary = page.locator("summary", has_text="Withdraw request")
    summary.focus()
    summary.evaluate("one => { window.wanted = one; window.reached = []; }")
    presser.keep_answers()
    presser.tell("decide")
    presser.answer_while(lambda: page.keyboard.down(" "), lambda: page.keyboard.up(" "), hold_ms=60)
    assert page.evaluate("window.reached.length") == 1


@pytest.mark.thorough("a mouse is the way of most presses, and runs always")
def test_a_finger_is_a_press_as_well(visit, announcer):
    operator = visit("operator")
    operator.ask_and_hold(amount="1.2703", reason="Pressed by finger")
    presser, row = row_that_is_read(operator, announcer)
    page = presser.page
    box = row.bounding_box()
    at = {"x": box["x"] + 5, "y": box["y"] + box["height"] / 2}
    devices = page.context.new_cdp_session(page)
    devices.send("Emulation.setTouchEmulationEnabled", {"enabled": True})

    def touch(kind, points):
        devices.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    row.evaluate("one => { window.wanted = one; window.reached = []; }")
    presser.keep_answers()
    presser.tell("rows")
    presser.answer_while(lambda: touch("touchStart", [at]), lambda: touch("touchEnd", []), hold_ms=60)
    assert page.evaluate("window.reached.length") == 1


ENDS = {
    "released": "",
    "cancelled": "window.dispatchEvent(new PointerEvent('pointercancel', {pointerId: 1}))",
    "released outside": "window.dispatchEvent(new PointerEvent('pointermove', {pointerId: 1, pointerType: 'mouse'}))",
    "window left": "window.dispatchEvent(new Event('blur'))",
    "menu opened": "window.dispatchEvent(new Event('contextmenu'))",
}


@pytest.mark.every(3, "one kind of page each")
@pytest.mark.parametrize("end", in_short(ENDS, "released", "cancelled"))
def test_what_came_during_a_press_is_shown_when_the_press_ends(visit, announcer, end):
    """However it ends: the list was read while the button was down, stood still, and then shows what was read."""
    operator = visit("operator")
    operator.ask_and_hold(amount="1.2704", reason="Shown afterwards")
    presser, _ = row_that_is_read(operator, announcer)
    page = presser.page
    page.mouse.move(2, 400)
    presser.keep_answers()
    # What others do in the house has the list read as well: an answer on its way would take the mark with it.
    presser.wait_for_answers()
    page.evaluate("document.querySelector('#rows').dataset.mark = 'before'")
    presser.tell("rows")

    def up():
        assert page.evaluate("document.querySelector('#rows').dataset.mark") == "before"
        if end == "released":
            page.mouse.up()
        else:
            page.evaluate(ENDS[end])

    presser.answer_while(page.mouse.down, up, hold_ms=30)
    # The page may have given up the first question for a newer one, whose answer comes now.
    page.locator("#rows:not([data-mark])").wait_for()
    page.mouse.up()


@pytest.fixture
def slow_scripts():
    """`slow_scripts(page)`: the scripts that follow the page are on their way until `release()` of what it gives."""

    class Held:
        def __init__(self, page):
            self.routes = []
            # What a module imports is asked for once it has come: then nothing is held back any more.
            self.is_over = False
            page.route(re.compile(r"/static/.*\.js"), self.hold)

        def hold(self, route):
            if self.is_over or re.search(r"/(trusted|early)[.\w]*\.js", route.request.url):
                route.continue_()
            else:
                self.routes.append(route)

        def release(self):
            self.is_over = True
            while self.routes:
                self.routes.pop().continue_()

    return Held


@pytest.mark.thorough("scripts come late on slow lines only")
def test_a_button_pressed_before_its_script_has_come_answers_when_it_has(house, visit, slow_scripts):
    page = visit("operator").page
    held = slow_scripts(page)
    page.goto(f"{house.url}/markets/", wait_until="commit")
    page.get_by_role("button", name="Switch between light and dark").click()
    assert held.routes, "nothing is held back"
    assert page.locator("html").get_attribute("data-theme") is None
    held.release()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.wait_for_load_state()
    page.get_by_role("button", name="Switch between light and dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")


@pytest.mark.thorough("scripts come late on slow lines only")
def test_a_passkey_is_asked_for_by_a_button_pressed_before_its_script_has_come(house, visit, slow_scripts):
    page = visit("treasury").page
    page.goto("about:blank")  # the open page reads itself again, and would lead to the sign-in page by itself
    page.context.clear_cookies()
    held = slow_scripts(page)
    page.goto(f"{house.url}/sign-in/", wait_until="commit")
    page.get_by_role("button", name="Sign in with a passkey").click()
    assert held.routes, "nothing is held back"
    with page.expect_request(lambda request: request.resource_type in {"fetch", "xhr"}) as first:
        held.release()
    assert "/webauthn/" in first.value.url or "passkey" in first.value.url, first.value.url
    assert page.url == f"{house.url}/sign-in/", "and nothing was sent without one"
