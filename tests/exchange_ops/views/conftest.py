"""Signed-in browsers without a browser, and the account the pages are about."""

from collections.abc import Callable
from typing import Any

import pytest

from desk import clock
from tests import door
from tests.exchange_ops.views import rows


def await_so(page: Any, is_so: Callable[[], bool], seconds: int = 30) -> None:
    """Wait for what the page's events bring about."""
    for _ in range(seconds * 20):
        if is_so():
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"it did not come about within {seconds} s")


@pytest.fixture
def payable(db: None) -> None:
    """An account that can pay out BCH, with a fresh price and money in the bank wallet."""
    now = clock.now()
    rows.account(now=now)
    rows.currency(now=now)
    rows.price(now=now)
    rows.balance(now=now)


@pytest.fixture
def open_as(live_desk: Any, new_page: Callable[..., Any], password: str, payable: None) -> Callable[..., Any]:
    """`open_as(person, path)`: that person's page in a browser session of its own, listening and read once more.

    `before(page)` is called before it opens anything. What the content security policy stopped is in `page.violations`.
    """

    def open_page(person: Any, path: str, *, before: Callable[[Any], None] | None = None, **options: Any) -> Any:
        page = new_page(**options)
        page.violations = []
        page.on("console", lambda told: page.violations.append(told.text) if "Content Security" in told.text else None)
        heard: list[str] = []
        if before is None:
            page.on("websocket", lambda line: line.on("framereceived", lambda told: heard.append(str(told))))
        else:  # it may put itself between the page and its socket, and then hears what passes itself
            before(page)
        door.sign_in(page, live_desk.url, person.username, password)
        page.goto(f"{live_desk.url}{path}", wait_until="networkidle")
        page.wait_for_selector("#strip [data-now]", state="attached")
        if before is None and page.locator("[data-follow], [data-ticks]").count():
            # What is told before the socket has joined its topics reaches this page with the next reading only.
            await_so(page, lambda: any("followed" in told for told in heard))
        return page

    return open_page
