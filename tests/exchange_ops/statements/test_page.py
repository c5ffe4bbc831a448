"""The page of statements and its files: the same figures, and each leads to exactly its lines."""

import csv
import json
import re
from decimal import Decimal
from io import BytesIO, StringIO

import pytest
from pypdf import PdfReader

from desk import clock
from desk.models import AuditEvent
from exchange_ops.ledger import sync
from exchange_ops.shared.models import Account
from tests.exchange_ops import rows
from tests.exchange_ops.ledger.test_sync import transaction
from tests.exchange_ops.statements.conftest import DAY

pytestmark = pytest.mark.django_db
MARCH = "range=custom&since=2026-03-01&until=2026-03-31"


def text(response):
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


@pytest.fixture
def traded(ledger):
    """The same account with a trade in March, one in April and one that was a liquidation."""
    rows.price()
    for code in ("BCH", "USD"):
        rows.balance(code, trading="1000", now=clock.now())
    rows.trade(1, account=ledger, timestamp=DAY, read_at=DAY)
    rows.trade(2, account=ledger, timestamp=DAY, read_at=DAY, liquidation=True)
    return ledger


def test_each_figure_leads_to_exactly_its_lines(traded, auditor, signed_in):
    client = signed_in(auditor)
    page = client.get(f"/statements/?{MARCH}")
    table = [row for _, rows_, *_ in page.context["statements"] for row in rows_]
    links = {cell.url: cell.movement for row in table for cell in row.cells if cell.movement.count}
    assert len(links) == 8
    for url, movement in links.items():
        assert url.replace("&", "&amp;") in page.content.decode()
        path, _, query = url.partition("?")
        answer = json.loads(b"".join(client.get(f"{path}export.json?{query}")))
        assert answer["totals"]["count"] == movement.count, url


def test_the_page_says_what_arrived_late_and_that_nothing_is_reconciled(ledger, auditor, signed_in):
    arrived = transaction(index=9, id="late", type="payin", currency="BCH", updated_at=DAY, created_at=DAY)
    sync.apply(account=ledger, transactions=[arrived], source=sync.REST, now=clock.now())
    page = text(signed_in(auditor).get(f"/statements/?{MARCH}"))
    assert "1 record dated before the end of this period was read late." in page
    assert "Not reconciled yet" in page
    assert "4 ledger entries: 0 proven on-chain, 1 confirmed by the exchange’s ledger, 3 notified" in page
    assert "Provisional" not in page


def test_a_period_before_the_ledger_and_an_empty_ledger_have_no_figures(read_account, auditor, signed_in):
    client = signed_in(auditor)
    assert "The ledger has no entries yet." in text(client.get("/statements/"))
    rows.entry(1, account=read_account, updated_at=DAY)
    early = text(client.get("/statements/?since=2020-01-01&until=2020-01-31"))
    assert "This period is before the first ledger entry" in early
    assert "Provisional" not in early


def test_a_bad_period_is_an_error_and_exports_nothing(ledger, auditor, signed_in):
    client = signed_in(auditor)
    page = client.get("/statements/?since=2026-03-02&until=2026-03-01")
    assert page.status_code == 422
    assert "The end date is before the start date." in text(page)
    for name in ("export.csv", "export.json", "export.pdf", "journal.csv"):
        refused = client.get(f"/statements/{name}?since=2026-03-02&until=2026-03-01", follow=True)
        assert "Nothing was exported. To: The end date is before the start date." in text(refused)
    assert not AuditEvent.objects.filter(action__endswith=".exported").exists()
    assert client.get("/statements/export.xml").status_code == 404


def test_the_files_have_the_figures_of_the_page_and_are_in_the_audit_trail(ledger, auditor, signed_in):
    client = signed_in(auditor)
    table = client.get(f"/statements/export.csv?{MARCH}").content.decode("utf-8-sig")
    row = next(
        each for each in csv.DictReader(StringIO(table)) if (each["wallet"], each["currency"]) == ("bank", "BCH")
    )
    named = {name: row[name] for name in ("opening", "deposits", "payouts", "transfers", "fees", "closing", "price of")}
    assert named == {
        "opening": "2.000000000000000001",
        "deposits": "1.5",
        "payouts": "-0.7",
        "transfers": "-0.3",
        "fees": "-0.001",
        "closing": "2.499000000000000001",
        "price of": "no price",
    }
    exact = json.loads(client.get(f"/statements/export.json?{MARCH}").content)["statements"][0]
    line = next(each for each in exact["lines"] if (each["wallet"], each["currency"]) == ("bank", "BCH"))
    assert (line["closing"], line["movements"]["payouts"]) == (row["closing"], {"amount": "-0.7", "count": 1})
    assert line["price"] is None
    journal = b"".join(client.get(f"/statements/journal.csv?{MARCH}")).decode("utf-8-sig")
    debits = [each for each in csv.DictReader(StringIO(journal)) if each["debit"]]
    assert sum(Decimal(each["debit"]) for each in debits) == Decimal("2.501")
    actions = AuditEvent.objects.filter(actor=auditor, action__endswith=".exported")
    assert sorted(actions.values_list("action", flat=True)) == ["journal.exported", *["statements.exported"] * 2]


def test_the_document_says_what_the_page_says(traded, auditor, signed_in):
    client = signed_in(auditor)
    answer = client.get(f"/statements/export.pdf?{MARCH}")
    assert answer["Content-Type"] == "application/pdf"
    (page,) = (each.extract_text() for each in PdfReader(BytesIO(answer.content)).pages)
    document = " ".join(page.split())
    assert "BCH Bank 2.000000000000000001 +1.5 \u22120.7 0 \u22120.3 \u22120.001 2.499000000000000001 none" in document
    on_the_page = text(client.get(f"/statements/?{MARCH}"))
    for sentence in (
        "Statement: Main desk",
        "2026-03-01 to 2026-03-31, whole days in UTC.",
        "Sign-off Not signed",
        "Not reconciled yet",
    ):
        assert sentence in document
    assert "Not reconciled yet" in on_the_page
    assert AuditEvent.objects.filter(actor=auditor, action="statements.exported").count() == 1


def test_people_of_one_account_see_only_theirs(ledger, make_person, signed_in):
    other = Account.objects.create(name="Second desk", quote_currency="USD")
    client = signed_in(make_person("treasury", username="limited", limits=f" treasury:{other.pk} "))
    assert "Main desk" not in text(client.get(f"/statements/?{MARCH}"))
    for name in ("", "export.csv", "journal.csv"):
        assert client.get(f"/accounts/{ledger.pk}/statements/{name}?{MARCH}").status_code == 404
    assert "Main desk" not in client.get(f"/statements/export.csv?{MARCH}").content.decode()
    assert "line-2" not in b"".join(client.get(f"/statements/journal.csv?{MARCH}")).decode()
