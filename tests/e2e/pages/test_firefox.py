"""The desk in Firefox, as it comes from the distribution: a payout by two people, and pages without a complaint."""

import base64
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from desk.people import demo
from tests import firefox
from tests.e2e.looks import NARROW, OVERFLOW, SHOTS, WIDE
from tests.e2e.visitors import ADDRESS, Codes
from tests.firefox import Firefox, Tab

pytestmark = [
    pytest.mark.browser,
    pytest.mark.thorough("a second browser; the first one shows the same pages"),
]
_NONE = "no Firefox was found ($FIREFOX, PATH); `python3 manage.py verify` fetches one as root"
PAGES = (
    "/",
    "/action/",
    "/withdrawals/",
    "/funds/",
    "/ledger/",
    "/markets/",
    "/markets/ETHBTC/",
    "/orders/",
    "/margin/",
)
MORE = ("/chain/", "/console/", "/system/", "/api/v1/docs/", "/account/settings/")


@pytest.fixture(scope="module")
def started() -> Iterator[Firefox]:
    program = firefox.find()
    if program is None:
        if os.environ.get("CI", "").lower() in {"1", "true"} and os.geteuid() == 0:
            pytest.fail(_NONE)
        pytest.skip(_NONE)
    running = Firefox(program)
    yield running
    running.stop()


def signed_in(started: Firefox, house, name: str) -> Tab:
    """Through the door itself, by pointer and keys."""
    tab = started.person()
    tab.open(f"{house.url}/sign-in/")
    tab.fill("input[name=login]", name)
    tab.fill("input[name=password]", demo.DEMO_PASSWORD)
    tab.press("Sign in", "button")
    tab.waits_for("location.pathname === '/'")
    return tab


def test_a_payout_is_asked_for_and_approved(started, house, crew):
    operator = signed_in(started, house, crew.next("operator"))
    operator.open(f"{house.url}/withdrawals/new/")
    operator.choose("[name=currency]", "BCH")
    operator.fill("[name=amount]", "0.0213")
    operator.fill("[name=address]", ADDRESS)
    operator.fill("[name=reason]", "Asked for in Firefox")
    operator.press("Request payout", "button")
    operator.sees("Reserved, waiting for approvals")
    path = operator.read("location.pathname")

    treasury = signed_in(started, house, crew.next("treasury"))
    treasury.open(house.url + path)
    treasury.sees("Asked for in Firefox")
    treasury.fill("[name=code]", Codes().fresh())
    treasury.press("Approve and pay", "button")
    treasury.sees("Approved. The payment order is being sent to the exchange.")
    # The page of the one who asked follows by its socket alone.
    operator.waits_for("/On its way|Paid/.test(document.querySelector('#facts .head .chip').textContent)")
    assert started.complaints == []


def test_no_page_complains_or_is_wider_than_the_window(started, house, crew):
    tab = signed_in(started, house, crew.next("every"))
    wide = []
    for path in PAGES:
        tab.open(house.url + path)
        for width in (WIDE, *NARROW):
            tab.sized(width)
            if found := tab.read(f"({OVERFLOW})()"):
                wide.append(f"{path} at {width}: {found}")
            if SHOTS and width != NARROW[-1]:
                name = f"firefox{path.replace('/', '_')}-{width}.png"
                (Path(SHOTS) / name).write_bytes(base64.b64decode(tab.picture()))
    tab.sized(WIDE)
    assert wide == []
    assert started.complaints == []
