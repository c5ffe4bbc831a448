"""Signed-in browsers without a browser, and the account the pages are about."""

from collections.abc import Callable
from typing import Any

import pytest

from desk import clock
from tests.exchange_ops.views import rows


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
        if before is not None:
            before(page)
        page.goto(f"{live_desk.url}/sign-in/")
        page.fill("input[name=login]", person.username)
        page.fill("input[name=password]", password)
        page.click("form button.main")
        page.wait_for_selector("#main")
        page.goto(f"{live_desk.url}{path}", wait_until="networkidle")
        page.wait_for_selector("#strip [data-now]", state="attached")
        return page

    return open_page
