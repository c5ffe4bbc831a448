"""Signing a statement off: exactly its figures, by two of treasury, and what becomes of it when a figure changes."""

import html
import json
import re
from datetime import date, timedelta
from decimal import Decimal
from io import BytesIO

import pytest
from django.db import DatabaseError, transaction
from pypdf import PdfReader

from desk import audit_check, clock
from desk.audit import words
from desk.models import AuditEvent
from desk.people import totp
from desk.people.stepup import CannotConfirm
from exchange_ops.shared.periods import Period
from exchange_ops.statements import paper, signing, statement
from exchange_ops.statements.models import SignedStatement, StatementSignature
from tests.desk.staff.keeping import SECRET, answer_at
from tests.exchange_ops import rows
from tests.exchange_ops.statements.conftest import DAY, entry_of

pytestmark = pytest.mark.django_db
MARCH = Period(date(2026, 3, 1), date(2026, 3, 31))


@pytest.fixture
def signers(make_person):
    people = [make_person("treasury", username=name) for name in ("tina", "tom", "tess")]
    for person in people:
        totp.enrol(person, SECRET)
    return people


@pytest.fixture
def ledger(ledger):
    """The same with balances of the trading account, so that every line of March has its figures."""
    rows.price()
    for code in ("BCH", "USD"):
        rows.balance(code, trading="1000", now=clock.now())
    return ledger


def off(account, person):
    return signing.sign_off(statement.of(account, MARCH, person=person, now=clock.now()), person=person)


def signed(account, person, *, step=0, **changes):
    values = {
        "account": account,
        "period": MARCH,
        "person": person,
        "digest": off(account, person).digest,
        "answer": answer_at(step),
        "session_key": "s",
        "now": clock.now(),
    }
    return signing.sign(**(values | changes))


def test_two_of_treasury_sign_exactly_the_figures(ledger, signers, auditor):
    first, second, third = signers
    assert off(ledger, first).why_not == ""
    assert off(ledger, auditor).why_not == "Only treasury can sign statements."
    row = signed(ledger, first).statement
    assert not off(ledger, first).is_done
    assert off(ledger, first).why_not == "You signed these figures; another treasurer must also sign."
    assert signed(ledger, second).statement == row
    state = off(ledger, third)
    assert (state.is_done, state.signed, [each.person for each in state.signatures]) == (True, row, [first, second])
    each = statement.of(ledger, MARCH, person=third, now=clock.now())
    document = PdfReader(BytesIO(paper.as_pdf([(each, state)], period=MARCH, now=clock.now()))).pages[0].extract_text()
    assert f"{row.reference}: signed off by tina, " in document
    assert row.digest in document
    with pytest.raises(signing.CannotSign, match="signed off already"):
        signed(ledger, third)
    assert [event.action for event in AuditEvent.objects.filter(subject=f"statement:{row.pk}").order_by("seq")] == [
        "statement.signed",
        "statement.signed_off",
    ]
    events = list(AuditEvent.objects.filter(subject=f"statement:{row.pk}").order_by("seq"))
    sentence = words.telling(events).sentence(events[1])
    assert sentence.startswith("tom signed statement ST-")
    assert sentence.endswith("off as the second treasurer.")


def test_a_figure_that_changes_makes_it_another_statement(ledger, signers):
    first, second, _ = signers
    row = signed(ledger, first).statement
    before = json.loads(row.content)
    entry_of(ledger, 77, amount=Decimal("0.000000000000000001"))
    state = off(ledger, second)
    assert (state.signed, state.outdated, state.digest == row.digest) == (None, row, False)
    with pytest.raises(signing.CannotSign, match="the figures changed after you opened the page"):
        signed(ledger, second, digest=row.digest)
    newer = signed(ledger, second).statement
    assert newer != row
    assert json.loads(SignedStatement.objects.get(pk=row.pk).content) == before, "what was signed stays as it was"


def test_what_is_not_known_yet_is_not_signed(ledger, signers, make_person):
    person = signers[0]
    today = clock.now().date()
    reasons = {
        Period(today, today): "The period has not ended yet.",
        Period(date(2001, 1, 1), date(2001, 1, 31)): "There is nothing to sign",
    }
    for period, reason in reasons.items():
        state = signing.sign_off(statement.of(ledger, period, person=person, now=clock.now()), person=person)
        assert state.why_not.startswith(reason)
        with pytest.raises(signing.CannotSign, match=re.escape(f"Not signed: {reason[0].lower()}{reason[1:]}")):
            signed(ledger, person, period=period, digest=state.digest)
    with pytest.raises(signing.CannotSign, match="only treasury"):
        signed(ledger, make_person("operator", username="olga"))
    with pytest.raises(CannotConfirm):
        signed(ledger, person, answer={"kind": "totp", "code": "000000"})
    assert not StatementSignature.objects.exists()


def test_before_the_ledger_is_read_to_its_end_it_is_provisional(account, signers):
    state = signing.sign_off(statement.of(account, MARCH, person=signers[0], now=clock.now()), person=signers[0])
    assert "has not been read to its end" in state.why_not


def test_the_database_refuses_a_signature_without_a_second_factor_and_every_change(ledger, signers):
    first, second, _ = signers
    row = signed(ledger, first)
    other = {"statement": row.statement, "person": second, "at": row.at}
    changes = (
        lambda: StatementSignature.objects.create(confirmation_id=row.confirmation_id, **other),
        lambda: StatementSignature.objects.filter(pk=row.pk).update(person=second),
        lambda: SignedStatement.objects.update(content="{}"),
        row.delete,
    )
    for change in changes:
        with pytest.raises(DatabaseError), transaction.atomic():
            change()
    assert not [line for line in audit_check.verify(replay=True) if "statement" in line]


def test_the_page_signs_and_shows_who_signed(ledger, signers, signed_in, auditor):
    first, second, _ = signers
    client, query = signed_in(first), "range=custom&since=2026-03-01&until=2026-03-31"
    page = client.get(f"/statements/?{query}").content.decode()
    form = dict(re.findall(r'name="(\w+)" value="([^"]*)"', page.partition("Sign-off")[2]))
    wrong = client.post("/statements/sign/", form | {"code": "12"})
    assert (wrong.status_code, "Enter the six-digit code." in wrong.content.decode()) == (422, True)
    stale = client.post("/statements/sign/", form | {"code": answer_at(0)["code"], "digest": "0" * 64})
    assert (stale.status_code, "the figures changed" in stale.content.decode()) == (409, True)
    again = html.unescape(re.search(r'hx-get="(/statements/[^"]*)"', stale.content.decode())[1])
    assert client.get(again).context["period"] == MARCH, "a page that was refused still follows its figures"
    made = client.post("/statements/sign/", form | {"code": answer_at(0)["code"]})
    assert (made.status_code, made["Location"].partition("#")[0]) == (302, f"/statements/?{MARCH.query}")
    page = signed_in(second).get(f"/statements/?{query}").content.decode()
    assert "Needs another signature" in page
    signed_in(second).post("/statements/sign/", form | {"code": answer_at(0)["code"]})
    reader = signed_in(auditor)
    page = reader.get(f"/statements/?{query}").content.decode()
    assert "Signed off" in page
    assert "Sign statement" not in page
    file = json.loads(reader.get(SignedStatement.objects.get().url).content)
    assert [each["person"] for each in file["signatures"]] == ["tina", "tom"]
    assert file["signed"]["lines"]


def test_a_statement_of_another_account_is_neither_signed_nor_read(ledger, signers, signed_in):
    client = signed_in(signers[0])
    fields = {"range": "custom", "since": "2026-03-01", "until": "2026-03-31", "digest": "0" * 64}
    sent = client.post("/statements/sign/", fields | {"account": "99", "code": answer_at(0)["code"]})
    assert sent.status_code == 404
    assert client.get("/statements/signed/99.json").status_code == 404


def test_an_entry_that_is_read_late_says_so_beside_the_signatures(ledger, signers, signed_in):
    signed(ledger, signers[0])
    entry_of(ledger, 78, at=DAY + timedelta(days=1), amount=Decimal(1))
    page = signed_in(signers[1]).get("/statements/?range=custom&since=2026-03-01&until=2026-03-31").content.decode()
    assert "Changed since signed" in page
