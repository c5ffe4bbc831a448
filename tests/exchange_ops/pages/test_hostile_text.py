"""Text that turns the reading direction, on every page that shows it: isolated, marked, and exact in the API."""

import csv
import io
import re

import pytest

from desk import clock, invisible
from desk.actions import threads
from desk.incidents.models import Incident
from desk.notifications import delivering, finding
from exchange_ops.keys import store as keys
from exchange_ops.policy import freezes
from exchange_ops.wire.catalogue import Right
from tests.exchange_ops import rows
from tests.exchange_ops.orders import order_rows
from wire.values import Secret

pytestmark = pytest.mark.django_db
HOSTILE = "Invoice \u202e000,01\u202c for \u2066K\u200ba\u2069"
MARKED = "Invoice \u2039RLO\u203a000,01\u2039PDF\u203a for \u2039LRI\u203aK\u2039ZWSP\u203aa\u2039PDI\u203a"
# A form keeps what was typed, and a button copies what is there.
EXACT = re.compile(r'<textarea\b[^>]*>.*?</textarea>|\s(?:value|data-copy)="[^"]*"', re.DOTALL)


@pytest.fixture
def hostile(make_person):
    return make_person("operator", username="op\u202erotare")


@pytest.fixture
def pages(hostile, treasury, payable):
    """Rows full of hostile text, and the pages that show them."""
    now = clock.now()
    account = rows.account(now=now)
    order_rows.market(now=now)
    held = rows.held(hostile, now=now, reason=HOSTILE, payment_id="12\u202e34")
    transfer = rows.transfer(hostile, kind="to_user", now=now, reason=HOSTILE)
    order = order_rows.placed(hostile, now=now)
    rows.subaccount(now=now, description=HOSTILE, email="a\u202eb@demo.test")
    rows.entry(1, now=now, sub_type="x\u202ey", error_code="e\u202ef", status="failed")
    key = keys.add(
        account=account, label=HOSTILE, login="lo\u202egin", secret=Secret("s" * 20), rights=[Right.HISTORY],
        actor=treasury, now=now,
    )  # fmt: skip
    freezes.freeze(account=account, person=treasury, reason=HOSTILE, now=now)
    incident = Incident.objects.get(kind="account-frozen")
    threads.comment(subject=incident.subject, person=hostile, text=HOSTILE, request_key="k", now=now)
    finding.notify_due(now=now)
    delivering.sweep(now=now)
    about = f"/action/incidents/{incident.pk}/"
    return [
        "/",
        *("/withdrawals/", f"/withdrawals/{held.pk}/", "/approvals/", "/approvals/?list=others", "/ledger/"),
        *("/transfers/", f"/transfers/{transfer.pk}/", "/orders/", f"/orders/{order.pk}/", "/orders/new/"),
        *("/subaccounts/", "/subaccounts/7001/", "/keys/", f"/keys/{key.pk}/", "/policy/", "/audit/", "/system/"),
        *("/action/?list=all", about, f"/action/threads/incident/{incident.pk}/", "/frame/"),
        *("/mailbox/", "/deliveries/"),
        *(f"/search/?q={HOSTILE}", "/search/?q=W", "/withdrawals/?initiator=op%E2%80%AE", "/account/sessions/"),
    ]


def test_no_page_lets_such_a_character_out(signed_in, make_person, pages):
    client = signed_in(make_person("treasury", "admin", "auditor", "operator", username="everything"))
    marked = 0
    for path in pages:
        response = client.get(path, follow=True)
        assert response.status_code == 200, path
        page = response.content.decode()
        read = EXACT.sub("", page)
        assert invisible.revealed(read) == read, path
        marked += "\u2039RLO\u203a" in page
    assert marked >= 14


def test_the_reason_and_the_person_are_isolated_where_it_is_decided(signed_in, treasury, pages):
    page = signed_in(treasury).get(pages[2]).content.decode()
    mark = '<span class="invisible" title="U+202E right-to-left override">\u2039RLO\u203a</span>'
    assert f"<bdi>Invoice {mark}000,01" in page
    assert f"<bdi>op{mark}rotare</bdi>" in page
    assert f"<bdi>12{mark}34</bdi>" in page
    assert "12\u202e34" in page  # what the button beside it copies


def test_json_is_exact_and_files_for_people_are_marked(signed_in, treasury, pages):
    client = signed_in(treasury)
    assert [item["reason"] for item in client.get("/api/v1/withdrawals/").json()["items"]] == [HOSTILE]
    lines = list(csv.DictReader(io.StringIO(b"".join(client.get("/withdrawals/export.csv")).decode("utf-8-sig"))))
    assert [line["reason"] for line in lines] == [MARKED]
