"""The first withdrawal of the README, by two people in two browsers, on the house as `make run` starts it."""

import base64
import json
import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.bounds import stretched
from tests.houses import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]

README = (ROOT / "README.md").read_text()
PASSWORD = "countersign-demo"
STEP_MS = stretched(60_000)


@pytest.fixture
def sign_in(house, new_page):
    """`sign_in("operator")`: the overview of that person, in a browser session of its own."""

    def enter(name):
        page = new_page(width=1280, height=860)
        page.set_default_timeout(STEP_MS)
        page.goto(f"{house.url}/sign-in/")
        page.get_by_label("Username").fill(name)
        page.get_by_role("textbox", name="Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.wait_for_url(f"{house.url}/")
        return page

    return enter


def code_now(house):
    """The six digits, as the README says to get them."""
    environment = {
        **os.environ,
        "DATA_DIR": str(house.folder),
        "DATABASE_URL": "",
        "REDIS_URL": "",
        "LOG_LEVEL": "ERROR",
    }
    command = [sys.executable, "manage.py", "demo_code"]
    printed = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout
    return re.match(r"(\d{6})  \(valid for \d+ s\)", printed)[1]


def keep_picture(page, name):
    """Into the folder of SCREENSHOTS, when there is one: the README's picture is made so."""
    folder = os.environ.get("SCREENSHOTS")
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png")


@pytest.mark.every(3, "the payout walks come with every commit")
def test_a_first_withdrawal_as_the_readme_tells_it(house, sign_in):
    amount, currency, address = re.search(r"([\d.]+) ([A-Z]+) to `(\w+)`", README).groups()
    paid_before = payouts(house, address)
    operator, treasury = sign_in("operator"), sign_in("treasury")

    operator.get_by_role("link", name="New withdrawal").click()
    # A desk that has just been made for the first time reads its currencies in its first seconds.
    while not operator.locator(f"select option[value={currency}]").count():
        operator.wait_for_timeout(1_000)
        operator.reload()
    operator.get_by_label("Currency").select_option(currency)
    operator.get_by_label("Amount", exact=True).fill(amount)
    operator.get_by_role("textbox", name="Address").fill(address)
    operator.get_by_role("textbox", name="Reason").fill("Invoice 4711")
    operator.get_by_role("button", name="Request payout").click()
    operator.wait_for_url(re.compile(r"/withdrawals/\d+/$"))
    # No reload: what follows arrives because the page was told to look again.
    operator.get_by_text("Reserved, waiting for approvals").first.wait_for()
    operator.get_by_text("You requested this payout").wait_for()
    assert payouts(house, address) == paid_before, "a hold pays nobody"

    treasury.get_by_role("link", name="Needs action").first.click()
    treasury.locator("#inbox .entry", has_text="Invoice 4711").first.click()
    treasury.get_by_label("Code from your authenticator app").wait_for()
    keep_picture(treasury, "approval")
    treasury.get_by_label("Code from your authenticator app").fill(code_now(house))
    treasury.get_by_role("button", name=re.compile("^Approve ")).first.click()

    operator.get_by_text(re.compile("^Paid, confirmed by the exchange")).first.wait_for()
    assert payouts(house, address) == paid_before + 1, "exactly one payout"
    assert house.control("ledger")["balanced"] is True


def payouts(house, address):
    """How many payouts to this address the exchange itself says it has paid or is paying."""
    key = base64.b64encode(b"demo-read:demo-read-secret").decode()
    request = urllib.request.Request(
        f"{house.sandbox_url}/api/2/account/transactions?limit=1000", headers={"Authorization": f"Basic {key}"}
    )
    with urllib.request.urlopen(request, timeout=20) as answer:
        listed = json.loads(answer.read())
    return sum(1 for line in listed if line.get("address") == address and line["status"] in {"pending", "success"})
