"""A house with quick payouts, fresh people for every test, and browser sessions whose complaints fail the test."""

import json
import re
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

from tests import houses
from tests.bounds import stretched
from tests.e2e import make_people
from tests.e2e.presses import Announcer
from tests.e2e.visitors import Visitor, rows, until
from tests.houses import RunningHouse

MORE = 10  # made at once when a role has nobody left: how many tests a process runs is the scheduler's choice
# What Chromium says about an answer that a test provoked on purpose.
_ANSWERED = re.compile(r"^Failed to load resource: the server responded with a status of (400|403|409|422)\b")


class Crew:
    """People who did nothing yet: each test takes its own, so that no code was used and nobody waits.

    A prepared house has some; `sessions` has the keys of those sessions to which nobody has come yet.
    """

    def __init__(self, house: RunningHouse) -> None:
        self._house, self.sessions = house, houses.sessions_of(house.folder)
        self._made = dict(make_people.CREW if self.sessions else dict.fromkeys(make_people.ROLES, 0))
        self._taken = {role: count() for role in make_people.ROLES}

    def next(self, role: str) -> str:
        """The name of somebody with this role whom nobody took."""
        number = next(self._taken[role])
        if number >= self._made[role]:
            self._make(role)
        return f"{role}-{number}"

    def enter(self, role: str, page: Any) -> Visitor:
        """Somebody fresh with this role, in the session of this page."""
        name = self.next(role)
        return Visitor(self._house, name, page).join(self.sessions.pop(name))

    def _make(self, role: str) -> None:
        first, self._made[role] = self._made[role], self._made[role] + MORE
        printed = self._house.python("-m", "tests.e2e.make_people", f"{role}={first}-{first + MORE - 1}")
        self.sessions |= json.loads(printed.splitlines()[-1])


def prepare(house: RunningHouse) -> Crew:
    """Quick payouts, the rows of a desk at work, and people, named `role-number`."""
    house.control("config", {"payout_seconds": 1})
    until(lambda: rows(house, "SELECT 1 FROM exchange_ops_currency WHERE code = 'BCH'"))
    until(lambda: rows(house, "SELECT 1 FROM exchange_ops_balance WHERE currency = 'BCH' AND wallet = 'bank'"))
    return Crew(house)


@pytest.fixture(scope="session")
def crew(house: RunningHouse) -> Crew:
    """The people of the shared house."""
    return prepare(house)


@pytest.fixture(scope="session")
def announcer(house: RunningHouse) -> Iterator[Announcer]:
    """Tells the pages of the shared house that something changed; it keeps nothing from one hint to the next."""
    started = Announcer(house)
    yield started
    started.stop()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """`open_page(width=360, dark=True)`: a tab in a browser session of its own.

    A script error, a console error or a breach of the content security policy fails the test at its end.
    """
    contexts, complaints = [], []

    def listen(page: Any) -> None:
        page.set_default_timeout(stretched(60_000))
        page.on("pageerror", lambda error: complaints.append(f"{page.url}: {error}"))
        page.on("console", lambda message: hear(page, message))

    def hear(page: Any, message: Any) -> None:
        if message.type == "error" and not _ANSWERED.match(message.text):
            complaints.append(f"{page.url}: {message.text}")

    def open_one(*, width: int = 1280, height: int = 900, dark: bool = False, strict: bool = True) -> Any:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
        )
        contexts.append(context)
        if strict:
            context.on("page", listen)
        return context.new_page()

    yield open_one
    for context in contexts:
        context.close()
    assert not complaints, "\n".join(complaints)


@pytest.fixture
def visit(house: RunningHouse, crew: Crew, open_page: Callable[..., Any]) -> Callable[..., Visitor]:
    """`visit("treasury")`: somebody fresh with this role, signed in, in a browser session of their own.

    Somebody with a `name` was there before: they sign in once more.
    """

    def enter(role: str, *, name: str = "", **look: Any) -> Visitor:
        page = open_page(**look)
        return Visitor(house, name, page).sign_in() if name else crew.enter(role, page)

    return enter


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """A test that fails says what the house was doing: its open rows, their calls, and what it printed last."""
    report = yield
    house = getattr(item, "funcargs", {}).get("house")
    if report.failed and house is not None:
        report.sections.append(("The house", _state_of(house)))
    return report


def _state_of(house: RunningHouse) -> str:
    questions = {
        "now": "SELECT datetime('now')",
        "rows": "SELECT id, state, version, next_action_at, lease_until, updated_at, last_problem "
        "FROM exchange_ops_withdrawal ORDER BY id DESC LIMIT 5",
        "calls": "SELECT withdrawal_id, kind, outcome, prepared_at, sent_at, answered_at, detail "
        "FROM exchange_ops_externalcall ORDER BY id DESC LIMIT 5",
        "moves": "SELECT withdrawal_id, event, to_state, at FROM exchange_ops_withdrawalevent ORDER BY id DESC LIMIT 8",
    }
    lines = [f"{name}: {line}" for name, question in questions.items() for line in rows(house, question)]
    return "\n".join([*lines, *house.lines[-40:]])
