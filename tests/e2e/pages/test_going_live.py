"""From an empty server to the first payout that the chain proves, as docs/running.md says and by nothing else.

The desk is no demo and speaks by TLS under a name of its own; the exchange is a sealed sandbox elsewhere; mail goes to
a mail server. What only the wait of a second factor's first day would add is left out (tests/live_settings.py).
"""

import os
import re
from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect

from desk.people import roles, totp
from tests import browsers
from tests.bounds import stretched
from tests.e2e.pages.live_desk import NAME, LiveDesk
from tests.e2e.test_second_factor import virtual_passkey
from tests.e2e.visitors import ADDRESS, rows, until
from wire.values import Secret

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(580),
    pytest.mark.thorough(
        "a desk of its own by docs/running.md; its parts are proven one by one in going_live and staff"
    ),
]
PASSWORD = "a-good-long-password-9"


@pytest.fixture
def live(tmp_path):
    (tmp_path / "desk").mkdir()
    desk = LiveDesk(tmp_path)
    try:
        desk.house.wait_until_ready()
        yield desk
    finally:
        desk.stop()


@pytest.fixture
def chromium(browser, live):
    """A browser that knows where the desk's name leads, and trusts its certificate."""
    found = browsers.find()
    started = browser.browser_type.launch(
        executable_path=found.program,
        env={**os.environ, **found.environment},
        args=[
            "--no-sandbox",
            "--disable-dev-shm-usage",
            f"--host-resolver-rules=MAP {NAME} 127.0.0.1",
            f"--ignore-certificate-errors-spki-list={live.proxy.pin}",
        ],
    )
    yield started
    started.close()


class Colleague:
    """Somebody who came by a one-time link, with an authenticator app set up before the first page."""

    def __init__(self, chromium, live, link, *, email=""):
        self.live, self.last = live, 0
        self.page = chromium.new_context(viewport={"width": 1280, "height": 900}).new_page()
        self.page.set_default_timeout(stretched(30_000))
        self.page.goto(link)
        if email:
            self.page.get_by_label("The e-mail address you were invited with").fill(email)
        for label in ("New password", "New password confirmation"):
            self.page.get_by_label(label, exact=True).fill(PASSWORD)
        self.page.get_by_role("button", name="Set password").click()
        self.page.wait_for_url(re.compile("/account/second-factor/$"))
        self.page.get_by_role("link", name="Set up app").click()
        self.page.get_by_role("textbox", name="Password").fill(PASSWORD)
        self.page.get_by_role("button", name="Confirm", exact=True).click()
        self.secret = Secret(re.sub(r"\s", "", self.page.locator(".address").first.inner_text()))
        self.page.get_by_label("Code").fill(self.code())
        self.page.get_by_role("button", name="Set up app").click()
        self.page.wait_for_load_state("networkidle")

    def code(self):
        """The next code that was not used yet, as soon as the desk takes it."""
        step = until(lambda: max(self.last + 1, now) if (now := _step()) >= self.last else 0, seconds=90)
        self.last = step
        return totp.code_at(self.secret, step)

    def open(self, path):
        self.page.goto(self.live.proxy.url + path, wait_until="networkidle")
        return self.page

    def confirm(self, button):
        self.page.get_by_label("Code from your authenticator app").fill(self.code())
        self.page.get_by_role("button", name=button, exact=isinstance(button, str)).first.click()


def administrator(chromium, live, name):
    """Somebody whom the keeper of the machine made."""
    made = live.house.python("manage.py", "create_admin", name, "--email", f"{name}@firm.test")
    return Colleague(chromium, live, re.search(r"https://\S+", made)[0])


def invite(root, second, chromium, name, role):
    """Invite a person as the page People does, have the roles confirmed by another administrator, and come in."""
    page = root.open("/people/invite/")
    page.get_by_label("Username").fill(name)
    page.get_by_label("E-mail").fill(f"{name}@firm.test")
    page.get_by_label(roles.LABELS[role]).check()
    root.confirm(re.compile("^Invite "))
    theirs = second.open("/action/")
    theirs.get_by_role("link", name=re.compile(f"Change roles: {name}")).first.click()
    second.confirm("Confirm change")
    expect(theirs.locator("main")).to_contain_text("decided by")
    link = until(lambda: mailed_link(root.live, f"{name}@firm.test"))
    return Colleague(chromium, root.live, link, email=f"{name}@firm.test")


def mailed_link(live, address):
    """The link that went by mail to this address, which no page shows."""
    links = (re.search(r"https://\S+code=inv_\w+", text) for text in live.mail.mails if f"To: {address}" in text)
    return next((link[0] for link in links if link), "")


def welcome(colleague, name):
    """Confirm a new colleague of treasury."""
    page = colleague.open("/action/")
    page.get_by_role("link", name=re.compile("Confirm a new colleague")).first.click()
    expect(page.locator("main")).to_contain_text(name)
    colleague.confirm("Confirm colleague")
    page.wait_for_load_state("networkidle")


def _step():
    return totp.step_at(datetime.now(UTC))


def add_passkey(person):
    """Beside the app, as the page of one's own factors says."""
    virtual_passkey(person.page)
    page = person.open("/account/second-factor/")
    page.get_by_role("link", name="Add passkey").click()
    person.confirm("Confirm")
    page.get_by_label("Name").fill("This device")
    page.get_by_role("button", name="Add passkey").click()
    page.wait_for_load_state("networkidle")
    expect(person.open("/account/second-factor/passkeys/").locator("main")).to_contain_text("This device")


def sign_a_trial(person):
    """The proxy has a port of its own, so this is a passkey at an address with a port."""
    person.open("/going-live/").get_by_role("button", name="Make a trial signature").click()
    expect(person.page.locator("main")).to_contain_text("Trial signature verified")


def tighten(author, other):
    """Rules of the company, stricter than those of a fresh desk: in force with the second word."""
    page = author.open("/policy/draft/")
    page.get_by_label("Limit 1, at most").fill("1000000")
    page.get_by_label("Reason for the change").fill("Ours from now on")
    page.get_by_role("button", name="Review changes").click()
    author.confirm("Propose rule change")
    page.wait_for_url(re.compile(r"/policy/changes/\d+/$"))
    other.page.goto(page.url)
    other.confirm("Approve and publish now")
    expect(other.page.locator("#change .head .chip")).to_have_text("Published")


def add_paying_key(root):
    page = root.open("/keys/new/")
    page.get_by_label("Name", exact=True).fill("Payouts")
    page.get_by_label("API key", exact=True).fill("demo-withdraw")
    page.get_by_label("Secret").fill("demo-withdraw-secret")
    for name in ("Payment information", "Withdraw cryptocurrencies"):
        page.get_by_role("checkbox", name=re.compile(name)).check()
    root.confirm("Add key")
    page.wait_for_url(re.compile(r"/keys/\d+/$"))


def pay(live, olga, ada, ben):
    """The smallest payout, approved first: nobody saw yet how a forgotten reservation ends."""
    page = olga.open("/withdrawals/new/")
    page.get_by_label("Currency").select_option("BCH")
    page.get_by_label("Amount", exact=True).fill("0.05")
    page.get_by_role("textbox", name="Address").fill(ADDRESS)
    page.get_by_role("textbox", name="Reason").fill("The first of all")
    page.get_by_role("button", name="Request payout").click()
    page.wait_for_url(re.compile(r"/withdrawals/\d+/$"))
    chip = page.locator("#facts .head .chip")
    until(lambda: any("Approve: " in mail for mail in live.mail.mails))
    for person, before in ((ada, "Waiting for approvals before the hold"), (ben, "Reserved, waiting for approvals")):
        expect(chip).to_have_text(before, timeout=stretched(60_000))
        assert not rows(live.house, "SELECT 1 FROM exchange_ops_withdrawal WHERE state = 'committed'")
        person.page.goto(page.url, wait_until="networkidle")
        person.confirm(re.compile("^Approve"))
    expect(chip).to_have_text("Paid and proven", timeout=stretched(90_000))


def items_of(root):
    """The titles of what holds, and of what is open."""
    page = root.open("/going-live/")
    found = {"Done": set(), "Open": set()}
    for panel in page.locator("section.panel").all():
        found[panel.locator(".chip").inner_text().strip()].add(panel.locator("h2").inner_text().partition(". ")[2])
    return found


def test_a_company_goes_live_by_following_one_page(live, chromium):
    house = live.house
    root, second = (administrator(chromium, live, name) for name in ("root", "second"))
    assert {"TLS on the desk's host name", "Two administrators"} <= items_of(root)["Done"]
    ada = invite(root, second, chromium, "ada", roles.TREASURY)
    welcome(second, "ada")
    ben = invite(root, second, chromium, "ben", roles.TREASURY)
    welcome(ada, "ben")
    olga = invite(root, second, chromium, "olga", roles.OPERATOR)
    for person in (ada, ben):
        add_passkey(person)
        sign_a_trial(person)
    reader = ["--new-account", "--account=Main", "--label=Reader", "--login=demo-read"]
    reader += ["--right=payments", "--right=history", "--secret-from-stdin"]
    house.python("manage.py", "add_key", *reader, typed="demo-read-secret\n")
    until(lambda: "Read-only key" in items_of(root)["Done"], every_s=1)
    assert "No key can withdraw yet" in root.page.locator("main").inner_text()
    until(lambda: "Reconciliation balanced" in items_of(root)["Done"], every_s=1)
    add_paying_key(root)
    until(
        lambda: rows(house, "SELECT 1 FROM exchange_ops_apikey WHERE login = 'demo-withdraw' AND probed_at IS NOT NULL")
    )
    assert "rollback_is_confirmed" in house.python("manage.py", "probe_exchange")
    tighten(ada, ben)
    pay(live, olga, ada, ben)
    for name in ("Secrets and key ring backed up", "Backup restored once"):
        panel = root.open("/going-live/").locator("section.panel", has=root.page.get_by_role("heading", name=name))
        panel.locator("summary").click()
        panel.get_by_label("Where and how").fill("In the safe of the second office")
        panel.get_by_role("button", name="Confirm").click()
        root.page.wait_for_load_state("networkidle")
    found = items_of(root)
    # The rows of this test are in SQLite, and a sealed exchange has no clock that would end the hour of a reservation.
    assert found["Open"] == {"Database and broker", "Exchange behaviour verified"}
    assert not any(ADDRESS in mail.partition("\n\n")[0] for mail in live.mail.mails)
