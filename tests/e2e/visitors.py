"""Somebody with a browser of their own: signs in, asks, reads, decides, and notices when the page was replaced."""

import base64
import json
import re
import sqlite3
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, TypeVar

from playwright.sync_api import Locator, Page, expect

from desk.people import demo, totp
from tests import door
from tests.bounds import stretched
from tests.e2e.craft import traffic
from tests.houses import RunningHouse
from wire.values import Secret

ADDRESS = "bchreg:qzd59qv9a8lctxa6eal3dw4rdmnguzxqlqmnj0xnqg"
CHANGES = ("create_withdrawal", "commit_withdrawal", "rollback_withdrawal")
STEP_MS = stretched(60_000)
SESSION = "sessionid"  # the cookie of a desk without TLS
SECRET = Secret(demo.DEMO_TOTP_SECRET)
expect.set_options(timeout=STEP_MS)
T = TypeVar("T")


@dataclass
class Codes:
    """One-time codes of one person, each given out once, and good for half a minute at least: never the step before.

    The code of the step before is accepted too, and may be too old a moment later, before it has arrived.
    """

    last: int = 0

    def fresh(self) -> str:
        """A code that was not used yet: the present one or the next, and what comes then after a wait."""
        while True:
            step = max(self.last + 1, totp.step_at(datetime.now(UTC)))
            if step <= totp.step_at(datetime.now(UTC)) + 1:
                self.last = step
                return totp.code_at(SECRET, step)
            time.sleep(0.2)

    def newest(self) -> str:
        """The code of the next step, which is good for a minute at least: for a code that is sent twice."""
        newest = totp.step_at(datetime.now(UTC)) + 1
        self.last = max(self.last, newest - 1)
        return self.fresh()


@dataclass
class Visitor:
    """One person in one browser session. `tab` is the one that was opened first, whatever it shows."""

    house: RunningHouse
    name: str
    tab: Page
    codes: Codes = field(default_factory=Codes)

    @property
    def page(self) -> Page:
        """The tab with a page of the desk: the overview, where nothing was opened yet."""
        if self.tab.url == "about:blank":
            self.tab.goto(self.house.url + "/", wait_until="domcontentloaded")
        return self.tab

    def sign_in(self) -> "Visitor":
        """Without drawing the door, nor the overview for somebody who opens another page first.

        The walk of the README, the tests of the second factor and those of the looks go through the door itself.
        """
        door.sign_in(self.tab, self.house.url, self.name, demo.DEMO_PASSWORD)
        return self

    def join(self, session: str) -> "Visitor":
        """Come to a session that this person has signed in to."""
        self.tab.context.add_cookies([{"name": SESSION, "value": session, "url": self.house.url}])
        return self

    def open(self, path: str) -> Page:
        """Go to an address of the desk; the page has then joined what it follows and read it once more."""
        traffic.open_page(self.tab, self.house.url + path)
        return self.tab

    # Asking -----------------------------------------------------------------------------------------------------------

    def fill_in(self, *, amount: str = "1.25", reason: str, address: str = ADDRESS, page: Page | None = None) -> Page:
        """The form of a new withdrawal, filled in and not sent."""
        form = page or self.open("/withdrawals/new/")
        form.get_by_label("Currency").select_option("BCH")
        form.get_by_label("Amount", exact=True).fill(amount)
        form.get_by_role("textbox", name="Address").fill(address)
        form.get_by_role("textbox", name="Reason").fill(reason)
        return form

    def ask(self, *, amount: str = "1.25", reason: str, address: str = ADDRESS) -> int:
        """Ask for a payout of BCH; the number of the withdrawal, whose page is open afterwards."""
        self.fill_in(amount=amount, reason=reason, address=address)
        self.page.get_by_role("button", name="Request payout").click()
        return self.number()

    def ask_and_hold(self, *, amount: str = "1.25", reason: str) -> int:
        """Ask, and wait on the page until the money is reserved and the exchange's record was compared."""
        number = self.ask(amount=amount, reason=reason)
        self.holds()
        expect(self.page.locator("#facts .echo li")).not_to_have_count(0)
        return number

    def holds(self) -> None:
        """Wait until the page says that the money is reserved, and offers what can be decided then.

        The parts are read one after the other: a form of an earlier state that is opened before its part has come
        keeps what is typed, and its buttons rest from then on.
        """
        expect(self.state()).to_have_text("Reserved, waiting for approvals")
        expect(self.page.locator("#decide")).to_have_attribute("data-drawn-for", re.compile("^held:"))

    def number(self) -> int:
        """Of the withdrawal that the page shows."""
        self.page.wait_for_url(re.compile(r"/withdrawals/\d+/$"))
        found = re.search(r"/withdrawals/(\d+)/$", self.page.url)
        assert found
        return int(found[1])

    # Reading ----------------------------------------------------------------------------------------------------------

    def state(self) -> Locator:
        """The state at the head of a withdrawal's page."""
        return self.page.locator("#facts .head .chip")

    def mark(self) -> None:
        """Leave something in this document, and note every state that it shows from now on."""
        self.page.evaluate(
            """() => {
                window.mark = "here";
                window.seen = [];
                const note = () => {
                    const shown = document.querySelector("#facts .head .chip")?.textContent.trim();
                    if (shown && window.seen.at(-1) !== shown) window.seen.push(shown);
                };
                note();
                const all = {childList: true, subtree: true, characterData: true};
                new MutationObserver(note).observe(document.body, all);
            }"""
        )

    def is_same_document(self) -> bool:
        """Whether what `mark` left is still there: the page was not loaded again."""
        return bool(self.page.evaluate("window.mark === 'here'"))

    def seen(self) -> list[str]:
        """The states that the page went through since `mark`."""
        found: list[str] = self.page.evaluate("window.seen")
        return found

    def is_paid(self) -> None:
        """Wait until the exchange has sent it, have blocks found, and wait until it is told as paid, proven or not."""
        expect(self.state()).to_have_text(re.compile("^(On its way|Paid|Paid and proven)$"))
        self.house.control("chain/mine", {"blocks": 2})
        expect(self.state()).to_have_text(re.compile("^Paid( and proven)?$"))

    # Deciding ---------------------------------------------------------------------------------------------------------

    def approve(self, code: str | None = None) -> None:
        """Give the code and press the button of the approval that is open."""
        self.page.get_by_label("Code from your authenticator app").fill(self.codes.fresh() if code is None else code)
        self.page.get_by_role("button", name=re.compile("^Approve and pay")).click()

    def reject(self, reason: str) -> None:
        """Open the rejection, say why, and press its button."""
        self.page.locator("summary", has_text=re.compile("^Reject$")).click()
        self.page.locator("#id_reject-reason").fill(reason)
        self.page.get_by_role("button", name="Reject and release funds").click()

    def post_by_hand(self, path: str, **fields: str) -> tuple[int, str]:
        """Send a form that no page offered, with the person's own session and token; status and text of the answer."""
        answer = self.page.evaluate(
            """async ([path, fields]) => {
                const token = JSON.parse(document.body.getAttribute("hx-headers"))["X-CSRFToken"];
                const answer = await fetch(path, {method: "POST", body: new URLSearchParams(fields),
                                                  headers: {"X-CSRFToken": token}});
                const page = new DOMParser().parseFromString(await answer.text(), "text/html");
                return [answer.status, page.querySelector("main").textContent.replace(/\\s+/g, " ")];
            }""",
            [path, fields],
        )
        return int(answer[0]), str(answer[1])


@dataclass(frozen=True)
class Outside:
    """What the exchange received and did since this was made."""

    house: RunningHouse
    since: int
    others: frozenset[str] = frozenset()

    @classmethod
    def from_now(cls, house: RunningHouse) -> "Outside":
        """Everything before now is left out, and what becomes of the holds that others have left open."""
        every = house.control("calls")["calls"]
        begun = cls(house, every[-1]["number"] if every else 0)
        left = frozenset(line["id"] for line in begun._payouts() if line["status"] == "created")
        return replace(begun, others=left)

    def changes(self) -> list[tuple[str, bool]]:
        """The calls that could change something about money: which, and whether it was executed."""
        received = self.house.control(f"calls?since={self.since}")["calls"]
        changing = [call for call in received if call["operation"] in CHANGES]
        mine = [call for call in changing if call["path"].rsplit("/", 1)[-1] not in self.others]
        return [(call["operation"], call["executed"]) for call in mine]

    def statuses(self, amount: str) -> list[str]:
        """The status of every payout of exactly this amount of BCH in the exchange's own books."""
        return [line["status"] for line in self._payouts() if Decimal(line["amount"]) == Decimal(amount)]

    def _payouts(self) -> list[dict[str, Any]]:
        listed = self._account("transactions?limit=1000&currency=BCH")
        return [line for line in listed if line["type"] == "payout" and line["currency"] == "BCH"]

    def reserved(self) -> Decimal:
        """How much BCH is reserved on the bank account."""
        return Decimal(next(line["reserved"] for line in self._account("balance") if line["currency"] == "BCH"))

    def reserved_for_payouts(self) -> Decimal:
        """How much BCH the payouts that are on their way reserve, with their fees; others' may end at any moment."""
        open_ones = [line for line in self._payouts() if line["status"] in {"created", "pending"}]
        return sum((Decimal(line["amount"]) + Decimal(line.get("fee") or 0) for line in open_ones), Decimal(0))

    def own_address(self) -> str:
        """The account's own deposit address for BCH."""
        return str(self._account("crypto/address/BCH")["address"])

    def _account(self, question: str) -> Any:
        key = base64.b64encode(b"demo-read:demo-read-secret").decode()
        address = f"{self.house.sandbox_url}/api/2/account/{question}"
        request = urllib.request.Request(address, headers={"Authorization": f"Basic {key}"})
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.loads(answer.read())

    def is_balanced(self) -> bool:
        """Whether the exchange's double-entry postings sum to zero."""
        return bool(self.house.control("ledger")["balanced"])


def rows(house: RunningHouse, question: str, *values: Any) -> list[tuple[Any, ...]]:
    """Ask the house's own database, without writing."""
    with sqlite3.connect(f"file:{house.folder}/desk.sqlite3?mode=ro", uri=True, timeout=20) as connection:
        return connection.execute(question, values).fetchall()


def until(condition: Callable[[], T], seconds: float = 60, *, every_s: float = 0.1) -> T:
    """Ask again and again until the answer is true."""
    ends = time.monotonic() + stretched(seconds)
    while not (found := condition()):
        assert time.monotonic() < ends, "waited in vain"
        time.sleep(every_s)
    return found
