"""The account numbers: who changes them, what is refused, and that every version stays."""

import html
import re
from datetime import timedelta

import pytest
from django.db import DatabaseError, transaction

from desk import clock
from desk.audit import words
from desk.models import AuditEvent
from exchange_ops.portfolio import recording
from exchange_ops.portfolio.models import Progress
from exchange_ops.statements import journal
from exchange_ops.statements.bookkeeping import accounts
from exchange_ops.statements.bookkeeping.accounts import Chart, Target
from exchange_ops.statements.models import AccountMapping
from tests.exchange_ops import rows
from tests.exchange_ops.portfolio import held
from tests.exchange_ops.portfolio.held import NOON
from tests.exchange_ops.statements.bookkeeping.conftest import SETTINGS, chart_of
from wire.errors import Unreachable

pytestmark = pytest.mark.django_db
PAGE = "/statements/accounts/"


def changed(chart, person):
    return accounts.change(chart, person=person, session_key="s", now=clock.now())


def text(response):
    return html.unescape(" ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split()))


def sent(response, **changes):
    """The fields of the form as the page has them, with some of them typed anew."""
    form = response.context["form"]
    values = {bound.html_name: bound.value() for bound in form}
    return values | {"version": response.context["version"]} | changes


def test_each_change_is_a_version_in_the_audit_trail(admin):
    first = changed(chart_of(), admin)
    second = changed(chart_of(version=1, bank="1200"), admin)
    assert (first.version, second.version, accounts.current()) == (1, 2, second)
    assert second.names(journal.BANK) == ("1200", "")
    event = AuditEvent.objects.get(subject="account_mapping:2")
    assert event.before == {"Exchange bank wallet": "1301 Exchange bank wallet"}
    assert event.after == {"Exchange bank wallet": "1200", "entries": "Exchange bank wallet"}
    sentence = words.telling([event]).sentence(event)
    assert sentence == f"{admin.username} changed account mapping AM-2: Exchange bank wallet."
    newest, oldest = accounts.history(most=10)
    assert newest.entries == [("Exchange bank wallet", "1301 Exchange bank wallet", "1200")]
    assert len(oldest.entries) == len(journal.ACCOUNTS) + len(SETTINGS)
    assert [change.row.version for change in accounts.history(most=1)] == [2]


def test_a_version_is_neither_edited_nor_removed(mapped):
    for act in (lambda: AccountMapping.objects.update(content="{}"), AccountMapping.objects.all().delete):
        with pytest.raises(DatabaseError), transaction.atomic():
            act()


def test_only_administrators_for_all_accounts_change_it(account, make_person, treasury, signed_in):
    limited = make_person("admin", username="limited", limits=f" admin:{account.pk} ")
    for person in (treasury, limited):
        with pytest.raises(accounts.CannotChange, match="only administrators for all accounts"):
            changed(chart_of(), person)
        client = signed_in(person)
        page = client.get(PAGE)
        assert "Save account numbers" not in text(page)
        assert client.post(PAGE, sent(page, number_bank="1200")).status_code == 403
    assert not AccountMapping.objects.exists()


@pytest.mark.parametrize(
    ("chart", "entry", "sentence"),
    [
        (chart_of(bank="1200;x"), ("number", "bank"), "Use letters"),
        (chart_of(bank="=1+1"), ("number", "bank"), "Use letters"),
        (chart_of(bank="1" * 21), ("number", "bank"), "Use 20 characters"),
        (chart_of(bank="1302"), ("number", "trading"), "Exchange bank wallet has the same number"),
        (Chart(targets={"bank": Target("", "Bank")}), ("number", "bank"), "Enter a number"),
        (Chart(targets={"bank": Target("1", "x" * 81)}), ("name", "bank"), "Use 80 characters"),
        (chart_of(settings={accounts.CONSULTANT: "1000"}), ("setting", accounts.CONSULTANT), "from 1001 to 9999999"),
        (chart_of(settings={accounts.CLIENT: "1e3"}), ("setting", accounts.CLIENT), "from 1 to 99999"),
        (chart_of(settings={accounts.LENGTH: "9"}), ("setting", accounts.LENGTH), "from 4 to 8"),
        (chart_of(settings={accounts.TAX_RATE: "x" * 81}), ("setting", accounts.TAX_RATE), "Use 80 characters"),
    ],
)
def test_what_no_program_could_take_is_refused(chart, entry, sentence, admin):
    assert [key for key, text in accounts.problems(chart).items() if text.startswith(sentence) or sentence in text] == [
        entry
    ]
    with pytest.raises(accounts.CannotChange, match=re.escape(accounts.problems(chart)[entry])):
        changed(chart, admin)


def test_accounts_that_never_stand_against_each_other_may_share_a_number():
    assert not accounts.problems(chart_of(deposits="1360", payouts="1360"))


def test_a_wrong_entry_is_named_and_nothing_that_was_typed_is_lost(admin, signed_in):
    client = signed_in(admin)
    typed = sent(
        client.get(PAGE),
        number_bank="12 00",
        name_bank="Börse",
        setting_datev_client="0",
        setting_xero_tracking="Exchange",
    )
    refused = client.post(PAGE, typed)
    assert refused.status_code == 422
    assert "Nothing was saved. Please fix: Number of Exchange bank wallet : Use letters A to Z" in text(refused)
    assert "DATEV client number (Mandantennummer) : Enter a whole number from 1 to 99999." in text(refused)
    assert {name: sent(refused)[name] for name in typed} == typed | {"version": "0"}
    assert not AccountMapping.objects.exists()
    saved = client.post(PAGE, typed | {"number_bank": "1200", "setting_datev_client": "7"}, follow=True)
    assert "Account numbers saved as AM-1." in text(saved)
    assert "Exchange bank wallet: not set → 1200 Börse" in text(saved)


def test_a_change_over_a_newer_one_is_refused_once(admin, signed_in):
    client = signed_in(admin)
    typed = sent(client.get(PAGE), number_bank="1200")
    changed(chart_of(), admin)
    refused = client.post(PAGE, typed)
    assert refused.status_code == 409
    assert "somebody else saved a change after you opened the page" in text(refused)
    assert sent(refused)["number_bank"] == "1200"
    client.post(PAGE, sent(refused))
    assert accounts.current().of(journal.BANK) == Target("1200")
    assert "you changed nothing" in text(client.post(PAGE, sent(client.get(PAGE))))


def test_prices_in_eur_are_read_once_datev_has_its_numbers(account, admin):
    rows.price(now=NOON)
    rows.balance(now=NOON)
    held.close(NOON.date(), "400")
    held.symbol("BTC", "USD")
    held.symbol("BTC", "EUR")
    held.close(NOON.date(), "1", base="BTC", quote="USD")
    held.close(NOON.date(), "1", base="BCH", quote="BTC")
    Progress.objects.create(account=account, prices_tried_at=NOON, prices_read_at=NOON)
    opened = []

    def open_client():
        opened.append("exchange")
        raise Unreachable("away")

    recording.record(now=NOON + timedelta(minutes=20), open_client=open_client)
    assert not opened
    changed(chart_of(), admin)
    with pytest.raises(Unreachable):
        recording.record(now=NOON + timedelta(minutes=40), open_client=open_client)
    assert opened
