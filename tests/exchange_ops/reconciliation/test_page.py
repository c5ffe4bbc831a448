"""The page of reconciliation: the figures of the command, of one moment, and never a zero that was not read."""

import csv
import json
import re
from datetime import timedelta
from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from desk import clock
from desk.incidents import review
from desk.incidents.models import Incident
from desk.models import AuditEvent
from desk.rows import retention
from exchange_ops.keys import store as keys
from exchange_ops.ledger import refresh as copies
from exchange_ops.ledger import sync as ledger
from exchange_ops.reconciliation import scheduled_checks, statements
from exchange_ops.shared import facts
from exchange_ops.shared.models import Account, Fact
from exchange_ops.withdrawals.evidence import reconciliation
from tests.exchange_ops.ledger.test_sync import transaction
from tests.exchange_ops.withdrawals.evidence.test_reconciliation import live_a_little

pytestmark = pytest.mark.django_db


def text(response):
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


@pytest.fixture
def busy_account(account, demo_keys, sandbox, client_as):
    """An account with some life, reconciled before and after it."""
    client = client_as("demo-read")
    reconciliation.reconcile(account=account, client=client, now=clock.now())
    live_a_little(sandbox, client_as("demo-full"))
    copies.sync_ledgers(now=clock.now(), client_for=keys.client_for)
    reconciliation.reconcile(account=account, client=client, now=clock.now())
    return account


def statement(account, person, *, later=timedelta(), first=None, after=None):
    return statements.of(account, person=person, first=first, after=after, now=clock.now() + later)


def line(account, person, code="BTC", **days):
    return next(each for each in statement(account, person, **days).lines if each.figures.currency == code)


def misstate_opening(account):
    """Move the opening figure of BTC, so that a quarter of one is there that no line explains."""
    opening = facts.newest(account=account, name=reconciliation.OPENING)
    value = {**opening.value, "BTC": str(Decimal(opening.value["BTC"]) - Decimal("0.25"))}
    facts.note(account=account, name=reconciliation.OPENING, value=value, now=clock.now())


def test_old_readings_are_removed_and_the_newest_of_an_account_never_is(busy_account, auditor, settings):
    """The statement is made of the newest; opening figures stay as well."""
    before = statement(busy_account, auditor)
    opening = set(Fact.objects.filter(name=reconciliation.OPENING).values_list("pk", flat=True))
    assert Fact.objects.filter(name=reconciliation.READING).count() == 2
    retention.purge(now=clock.now() + timedelta(days=settings.ANSWERS_KEPT_DAYS - 1))
    assert Fact.objects.filter(name=reconciliation.READING).count() == 2
    retention.purge(now=clock.now() + timedelta(days=settings.ANSWERS_KEPT_DAYS + 1))
    newest = facts.newest(account=busy_account, name=reconciliation.READING)
    assert list(Fact.objects.filter(name=reconciliation.READING)) == [newest]
    assert set(Fact.objects.filter(name=reconciliation.OPENING).values_list("pk", flat=True)) == opening
    assert statement(busy_account, auditor).lines == before.lines


def test_every_movement_of_a_currency_has_its_column(busy_account, auditor):
    one = line(busy_account, auditor)
    figures, done = one.figures, busy_account.ledger_entries.filter(currency="BTC", status="success")
    sums = {type_: sum(row.amount for row in done.filter(type=type_)) for type_ in done.values_list("type", flat=True)}
    assert set(sums) == {"payin", "payout", "bankToExchange", "exchangeToBank"}
    assert (figures.incoming, figures.outgoing) == (sums["payin"], sums["payout"])
    assert figures.moved == sums["exchangeToBank"] - sums["bankToExchange"]
    assert figures.fees == sum(row.fee for row in done.filter(type="payout")) > 0
    assert figures.opening + sums["payin"] - sums["payout"] + figures.moved - figures.fees == figures.reported
    assert (one.state, one.difference) == (statements.AGREES, 0)


def test_the_page_differs_where_the_command_does_and_by_the_same_figure(busy_account, auditor, signed_in, capsys):
    misstate_opening(busy_account)
    with pytest.raises(CommandError):
        call_command("reconcile")
    assert "DIFFERS  BTC: 0.25 BTC not explained by any transaction" in capsys.readouterr().out
    differing = [each for each in statement(busy_account, auditor).lines if each.state == statements.DIFFERS]
    assert [(each.figures.currency, each.difference) for each in differing] == [("BTC", Decimal("0.25"))]
    page = signed_in(auditor).get("/reconciliation/")
    assert 'class="tone-bad"' in page.content.decode()
    assert "1 currency differs. This check moves no money. It runs again every hour" in text(page)


def test_a_difference_leads_to_its_incident(busy_account, auditor, signed_in):
    misstate_opening(busy_account)
    scheduled_checks.run_due(now=clock.now(), client_for=keys.client_for)
    review.review(now=clock.now())
    incident = Incident.objects.get(kind="reconciliation")
    page = signed_in(auditor).get("/reconciliation/").content.decode()
    assert f'href="/action/incidents/{incident.pk}/"' in page
    assert "BTC: 0.25 BTC not explained by any transaction." in page


def test_what_was_never_read_is_no_zero(account, auditor, signed_in):
    assert statement(account, auditor).lines == []
    assert "Not synced yet. Nothing to compare." in text(signed_in(auditor).get("/reconciliation/"))


def test_figures_that_are_out_of_date_have_no_difference(busy_account, auditor):
    fresh, late = statements.STALE_AFTER - timedelta(minutes=1), statements.STALE_AFTER + timedelta(minutes=1)
    assert line(busy_account, auditor, later=fresh).difference == 0
    one = line(busy_account, auditor, later=late)
    assert (one.state, one.difference) == (statements.STALE, None)
    assert one.figures.closing is not None
    before_the_fall = line(busy_account, auditor, later=timedelta(hours=-1))
    assert (before_the_fall.state, before_the_fall.difference) == (statements.STALE, None)


def test_a_type_without_a_known_sign_proves_nothing(busy_account, auditor, client_as):
    through = statement(busy_account, auditor).through
    strange = transaction(index=through + 1, type="teleport", currency="BTC")
    ledger.apply(account=busy_account, transactions=[strange], source="rest", now=clock.now())
    value = {"through": through + 1, "held": {"BTC": "1"}}
    facts.note(account=busy_account, name=reconciliation.READING, value=value, now=clock.now())
    one = line(busy_account, auditor)
    assert (one.state, one.difference) == (statements.UNPROVABLE, None)
    assert "teleport" in one.reason


def test_what_the_ledger_brought_after_the_reading_waits_for_the_next_one(busy_account, auditor, sandbox):
    """Later lines and newer versions of counted lines change neither side: both are of one moment."""
    before = statement(busy_account, auditor)
    sandbox.control("deposit", {"currency": "BTC", "amount": "4"})
    sandbox.control("clock", {"advance_ms": 600_000})
    copies.sync_ledgers(now=clock.now(), client_for=keys.client_for)
    after = statement(busy_account, auditor)
    assert after.lines == before.lines
    assert after.differing == 0


def test_days_begin_with_what_was_there_and_compare_only_when_they_reach_the_reading(busy_account, auditor):
    old = busy_account.ledger_entries.filter(currency="BTC", updated_at__lt=clock.now() - timedelta(minutes=10))
    middle = old.order_by("updated_at").last().updated_at
    whole, early = line(busy_account, auditor), line(busy_account, auditor, after=middle)
    late = line(busy_account, auditor, first=middle)
    assert early.figures.net != 0 != late.figures.net
    assert early.figures.opening == whole.figures.opening
    assert early.figures.closing == late.figures.opening
    assert late.figures.closing == whole.figures.closing
    assert (late.state, late.difference) == (statements.AGREES, 0)
    past = line(busy_account, auditor, after=clock.now() - timedelta(days=400))
    assert (past.state, past.difference, past.reported) == (statements.PAST, None, None)


def test_the_days_are_chosen_as_in_other_lists(busy_account, auditor, signed_in):
    client = signed_in(auditor)
    assert "Agrees" in text(client.get("/reconciliation/?range=month"))
    assert "Not compared" in text(client.get("/reconciliation/?range=custom&since=2001-01-01&until=2001-02-01"))
    wrong = text(client.get("/reconciliation/?since=2001-02-01&until=2001-01-01"))
    assert "The end date is before the start date." in wrong
    refused = client.get("/reconciliation/export.csv?since=2001-02-01&until=2001-01-01", follow=True)
    assert "Reconciliation not exported." in text(refused)


def test_the_files_have_the_figures_of_the_page(busy_account, auditor, signed_in):
    client = signed_in(auditor)
    table = client.get("/reconciliation/export.csv")
    rows = {row["currency"]: row for row in csv.DictReader(StringIO(table.content.decode("utf-8-sig")))}
    one = line(busy_account, auditor)
    figures, written = one.figures, rows["BTC"]
    names = ("opening", "in", "out", "moved", "fees", "closing", "exchange reports")
    amounts = [figures.opening, figures.incoming, figures.outgoing, figures.moved, figures.fees, figures.closing]
    assert [Decimal(written[name]) for name in names] == [*amounts, figures.reported]
    assert (written["difference"], written["state"]) == ("0", "Agrees")
    exact = json.loads(client.get("/reconciliation/export.json").content)
    assert next(row for row in exact["rows"] if row["currency"] == "BTC")["out"] == written["out"]
    assert AuditEvent.objects.filter(action="reconciliation.exported", actor=auditor).count() == 2
    assert client.get("/reconciliation/export.xml").status_code == 404


def test_a_stale_file_has_no_difference(busy_account, auditor, signed_in):
    long_ago = clock.now() - statements.STALE_AFTER - timedelta(minutes=1)
    reading = facts.newest(account=busy_account, name=reconciliation.READING)
    Fact.objects.filter(name=reconciliation.READING).delete()
    facts.note(account=busy_account, name=reconciliation.READING, value=reading.value, now=long_ago)
    table = signed_in(auditor).get("/reconciliation/export.csv").content.decode("utf-8-sig")
    row = next(each for each in csv.DictReader(StringIO(table)) if each["currency"] == "BTC")
    assert (row["difference"], row["state"]) == ("", "Out of date")


def test_each_account_has_a_table_and_people_of_one_see_only_theirs(busy_account, make_person, signed_in):
    other = Account.objects.create(name="Second desk", quote_currency="USD")
    page = text(signed_in(make_person("auditor", username="all")).get("/reconciliation/"))
    assert "Main desk" in page
    assert "Second desk" in page
    limited = make_person("treasury", username="limited", limits=f" treasury:{other.pk} ")
    client = signed_in(limited)
    page = text(client.get("/reconciliation/"))
    assert "Second desk" in page
    assert "Main desk" not in page
    assert client.get(f"/accounts/{busy_account.pk}/reconciliation/").status_code == 404
    assert "Main desk" not in client.get("/reconciliation/export.csv").content.decode()
