"""What waits reaches people who look elsewhere, by mail, webhook and open tab, and again as time runs out."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import expect

from desk import clock
from desk.notifications import signing
from tests.e2e.visitors import rows, until

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(900),
    pytest.mark.thorough("every message and channel is proven without a browser"),
]

MINUTE_MS = 60_000
# Several mails of one minute leave together at its end, or that of the next one where it is nearly over.
MAILED_S = 150
SECRET = signing.new_secret()
_ADD_CHANNEL = """
import django; django.setup()
import sys
from desk import clock
from desk.models import Person
from desk.notifications.models import Channel
from desk.sealing import seal
from wire.values import Secret
row = Channel(kind="webhook", name=sys.argv[1], host="127.0.0.1", made_by=Person.objects.get(username="admin"),
    made_at=clock.now())
row.address_sealed = seal(Secret(sys.argv[2]), context=f"desk.channel:{row.uid}:address")
row.secret_sealed = seal(Secret(sys.argv[3]), context=f"desk.channel:{row.uid}:secret")
row.save()
"""
_END_CHANNEL = """
import django; django.setup()
import sys
from desk import clock
from desk.notifications.models import Channel
row = Channel.objects.get(name=sys.argv[1])
row.ended_at = clock.now()
row.save()
"""
_GIVE_MAIL = """
import django; django.setup()
import sys
from desk.models import Person
for name in sys.argv[1:]:
    person = Person.objects.get(username=name)
    person.email = name + "@desk.test"
    person.save()
"""
# The browser of the test shows none; what the page asks it to show is noted where all tabs can count it.
_NOTED = """
Object.defineProperty(Notification, "permission", { get: () => "granted" });
window.Notification = class extends EventTarget {
  static get permission() { return "granted"; }
  constructor(title, options) {
    super();
    const key = "noted-" + options.body;
    localStorage.setItem(key, 1 + Number(localStorage.getItem(key) || 0));
  }
  close() {}
};
"""


class Receiver:
    """A receiver of webhooks on this machine: the facts of each message whose signature holds."""

    def __init__(self):
        self.facts, receiver = [], self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                sent = {name.lower(): value for name, value in self.headers.items()}
                signing.verify(body, sent, SECRET, now=clock.now())
                receiver.facts.append(json.loads(body))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/hook"

    def types(self, reference):
        return [each["type"] for each in self.facts if each["data"]["reference"] == reference]


@pytest.fixture
def receiver(house):
    found = Receiver()
    house.python("-c", _ADD_CHANNEL, found.url, found.url, SECRET.reveal())
    yield found
    house.python("-c", _END_CHANNEL, found.url)
    found.server.shutdown()
    found.server.server_close()


def mails(house, person, reference):
    """The stages at which somebody was mailed about it, as far as the mails were delivered, alone or in a digest."""
    found = rows(
        house,
        "SELECT n.stage, n.phase FROM desk_delivery d JOIN desk_notification n ON n.id = d.notification_id "
        "JOIN desk_person p ON p.id = d.person_id "
        "WHERE p.username = ? AND n.reference = ? "
        "AND (d.state = 'delivered' OR d.last_problem = 'Sent in a digest.' AND EXISTS ("
        "SELECT 1 FROM desk_delivery g JOIN desk_notification m ON m.id = g.notification_id WHERE m.kind = 'digest' "
        "AND g.person_id = d.person_id AND g.id > d.id AND g.state = 'delivered')) ORDER BY d.id",
        person,
        reference,
    )
    return [" ".join(filter(None, (stage, phase if phase == "asked" else ""))) for stage, phase in found]


def test_a_payout_that_nobody_decides_is_told_three_times_and_its_end_once(house, visit, receiver):
    operator, treasury, auditor = visit("operator"), visit("treasury"), visit("auditor")
    for one in (treasury, auditor):
        one.tab.context.add_init_script(_NOTED)
    house.python("-c", _GIVE_MAIL, operator.name, treasury.name, auditor.name)
    treasury.open("/markets/")
    second = treasury.tab.context.new_page()
    second.goto(f"{house.url}/ledger/", wait_until="networkidle")
    auditor.open("/audit/")
    number = operator.ask_and_hold(amount="1.2613", reason="Nobody is awake")
    reference = f"W-{number}"

    until(lambda: receiver.types(reference) == ["decision.opened"])
    until(lambda: mails(house, treasury.name, reference) == ["opened"], seconds=MAILED_S)
    body = f"Approve: payout ({reference})"
    counted = f"localStorage.getItem('noted-{body}')"
    until(lambda: treasury.page.evaluate(counted) == "1")

    seen = treasury.open("/mailbox/")
    # Of all that waits in the house, this person may have got other mails as well, or this in one with others.
    letter = seen.locator("details", has_text=f"{treasury.name}@desk.test").filter(has_text=f"({reference})").first
    expect(letter).to_contain_text("Links never approve anything.")

    for passed, stage in ((35, "escalated"), (8, "everybody"), (12, "ended")):
        house.control("clock", {"advance_ms": passed * MINUTE_MS})
        until(lambda stage=stage: mails(house, treasury.name, reference)[-1] == stage, seconds=MAILED_S)
    expected = ["opened", "escalated", "everybody", "ended"]
    assert mails(house, treasury.name, reference) == expected
    until(lambda: receiver.types(reference) == [f"decision.{stage}" for stage in expected])
    # Whoever asked hears of the end alone, and as the one who asked; an auditor who decides nothing hears nothing.
    until(lambda: mails(house, operator.name, reference) == ["ended asked"], seconds=MAILED_S)
    assert mails(house, auditor.name, reference) == []
    assert auditor.page.evaluate(counted) is None
    assert treasury.page.evaluate(counted) == "1"
