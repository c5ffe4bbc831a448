"""Files of the journal for DATEV and Xero: their bytes, their balance, and what is refused or left out."""

import csv
import html
import re
import zipfile
from collections import defaultdict
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from io import BytesIO, StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desk.models import AuditEvent
from exchange_ops.shared.models import Account
from exchange_ops.shared.periods import Period, month_of
from exchange_ops.statements import journal
from exchange_ops.statements.bookkeeping import accounts, datev, programs, values, xero
from exchange_ops.statements.bookkeeping.datev_fields import COLUMNS
from exchange_ops.statements.bookkeeping.values import CENT, Batch
from exchange_ops.statements.journal import Movement, Posting
from tests.exchange_ops import rows
from tests.exchange_ops.statements.bookkeeping.conftest import chart_of, close_of
from tests.exchange_ops.statements.conftest import DAY, entry_of

MARCH = month_of(date(2026, 3, 1))
QUERY = "range=custom&since=2026-03-01&until=2026-03-31"
NOW = datetime(2026, 4, 1, 8, 30, 0, 123_456, tzinfo=UTC)
HEADER = (
    '"EXTF";700;21;"Buchungsstapel";13;20260401083000123;;"CS";"Countersign";"";29098;55003;20260101;4;'
    '20260301;20260331;"Countersign 2026-03";"";1;0;0;"EUR";;"";;;"";;;"";""'
)
DESCRIPTION = "Account: Main desk; Quantity: {}; Movement: line-3; Dated at (UTC): 2026-03-05 12:00:00"
amounts = st.decimals(min_value="-99999999", max_value="99999999", places=18, allow_nan=False)


def exported(name, *of, period=MARCH, chart=None):
    return programs.prepare(programs.PROGRAMS[name], of, period=period, chart=chart or chart_of())


def text(response):
    return html.unescape(" ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split()))


@pytest.fixture
def payout(priced):
    """A payout with a fee alone, under a name with a letter and a quotation mark that need care."""
    Account.objects.filter(pk=priced.pk).update(name='Börse "1" €')
    priced.refresh_from_db()
    priced.ledger_entries.exclude(exchange_id="line-3").update(status="failed")
    return priced


@pytest.mark.django_db
def test_the_bytes_of_a_datev_file(payout):
    name, kind, content = exported("datev", payout).file(NOW)
    assert (name, kind) == ("EXTF_Buchungsstapel_2026-03.csv", "text/csv; charset=windows-1252")
    header, heads, *records, end = content.decode("cp1252").split("\r\n")
    assert (header, end) == (HEADER, "")
    assert heads.split(";") == list(COLUMNS)
    assert len(COLUMNS) == len(set(COLUMNS)) == 125
    # 0.7 BCH at 333.33 USD, at 0.8 EUR: 186.6648 EUR; the fee of 0.001 BCH is 0.266664 EUR.
    start = '{};"S";"EUR";;;"";{};1301;"";0503;"line-3";"";;"Börse ""1"" €: Payout {} BCH";;"";;;;"";'
    rest = '"";"";;"";;"";;;;;;"Account";"Börse ""1"" €";"Quantity";"{} BCH";"Movement";"line-3";'
    for record, (value, account, coins) in zip(
        records, (("186,66", "1304", "0.7"), ("0,27", "1308", "0.001")), strict=True
    ):
        assert record.startswith(start.format(value, account, coins) + '"";' * 16 + rest.format(coins))
        fields = next(csv.reader([record], delimiter=";"))
        assert len(fields) == 125
        assert fields[COLUMNS.index("Festschreibung")] == "0"
        assert len(fields[COLUMNS.index("Buchungstext")]) <= 60
    assert content[3:20].isascii()
    assert "Börse".encode("cp1252") in content


@pytest.mark.django_db
def test_the_bytes_of_a_xero_file(priced):
    priced.ledger_entries.exclude(exchange_id="line-3").update(status="failed")
    chart = chart_of(settings={accounts.TAX_RATE: "No VAT", accounts.TRACKING: "Exchange"})
    name, kind, content = exported("xero", priced, chart=chart).file(NOW)
    assert (name, kind) == ("xero_2026-03-01_2026-03-31.csv", "text/csv; charset=utf-8")
    lines = [
        "*Narration,*Date,Description,*AccountCode,*TaxRate,*Amount,"
        "TrackingName1,TrackingOption1,TrackingName2,TrackingOption2"
    ]
    # 0.7 BCH at 333.33 USD is 233.331; the fee of 0.001 BCH is 0.33333.
    for code, value, coins in (("1304", "233.33", "0.7"), ("1308", "0.33", "0.001")):
        for account, signed in ((code, value), ("1301", f"-{value}")):
            description = DESCRIPTION.format(f"{coins} BCH")
            lines.append(
                f"Main desk: Payout line-3,05/03/2026,{description},{account},No VAT,{signed},Exchange,Main desk,,"
            )
    assert content == "".join(f"{line}\r\n" for line in lines).encode()


@given(st.lists(st.tuples(amounts, amounts), min_size=1, max_size=8))
def test_both_sides_of_each_movement_are_equal_and_its_value_is_kept_to_the_cent(pairs):
    account, chart = Account(name="Main desk"), chart_of()
    batch, exact = Batch("EUR"), defaultdict(Decimal)
    for number, (first, fee) in enumerate(pairs):
        postings = (Posting("trading", "trades", first, "BCH"), Posting("trading fees", "trading", fee, "BCH"))
        batch.add(account, Movement(NOW + timedelta(days=number * 5), str(number), "trades", postings), [first, fee])
        exact["1302"] += first - fee
        exact["1307"] -= first
        exact["1309"] += fee
    sums, journals = defaultdict(Decimal), defaultdict(Decimal)
    period = Period(NOW.date(), NOW.date() + timedelta(days=60))
    for _, content in xero.files(batch, chart, period, NOW):
        for line in list(csv.reader(StringIO(content.decode())))[1:]:
            sums[line[3]] += Decimal(line[5])
            journals[line[0], line[1]] += Decimal(line[5])
    assert set(journals.values()) <= {0}
    posted = defaultdict(Decimal)
    for _, content in datev.files(batch, chart, period, NOW):
        for record in content.decode("cp1252").splitlines()[2:]:
            fields = next(csv.reader([record], delimiter=";"))
            assert re.fullmatch(r"(?!0+,00)\d{1,10},\d{2}", fields[0])
            value = Decimal(fields[0].replace(",", "."))
            posted[fields[6]] += value
            posted[fields[7]] -= value
    assert posted == sums
    assert batch.count + batch.small == 2 * len(pairs)
    for number, value in exact.items():
        assert abs(sums[number] - value) <= CENT / 2 * 2 * len(pairs)


@pytest.mark.django_db
def test_what_has_no_price_is_left_out_as_a_whole_and_named(priced):
    entry_of(priced, 6, currency="XRP", amount=Decimal(5))
    entry_of(priced, 7, amount=Decimal("0.00001"))
    rows.trade(3, account=priced, timestamp=DAY, symbol="GONEUSD")
    export = exported("datev", priced)
    assert (export.problems, export.batch.unvalued, export.unpriced, export.batch.small) == (
        [],
        2,
        ["GONEUSD", "XRP"],
        1,
    )
    assert [each.movement.number for each in export.batch.movements] == ["line-2", "line-3", "line-4"]
    late = Period(date(2026, 3, 20), date(2026, 3, 31))
    entry_of(priced, 8, at=DAY + timedelta(days=20))
    assert exported("xero", priced, period=late).problems == [
        "No movement of this period has a value, so there is nothing to export."
    ]


@pytest.mark.django_db
def test_what_a_program_could_not_take_is_refused_with_who_can_set_it(priced):
    who = "An administrator for all accounts can change it under Journal accounts."
    chart = chart_of(settings={}, bank="", deposits="13-60", payouts="123456", trading="12345678901")
    assert exported("datev", priced, chart=chart).problems == [
        f"No account number: Exchange bank wallet. {who}",
        f"Not set: DATEV consultant number (Beraternummer), DATEV client number (Mandantennummer). {who}",
        "DATEV takes account numbers of digits only, 5 at most: Exchange trading wallet (12345678901), "
        f"Deposits received (13-60), Payouts made (123456). {who}",
    ]
    assert exported("xero", priced, chart=chart).problems == [
        f"No account number: Exchange bank wallet. {who}",
        f"Not set: Xero tax rate. {who}",
        f"Xero takes account codes of 10 characters at most: Exchange trading wallet (12345678901). {who}",
    ]
    other = Account.objects.create(name="Second desk", quote_currency="EUR")
    assert exported("xero", priced, other).problems == [
        "Xero takes one currency in a file, and the accounts are valued in several: EUR, USD. "
        "Export one account at a time."
    ]
    assert not exported("datev", priced, other).problems
    entry_of(priced, 6, amount=Decimal("100000000"))
    assert exported("datev", priced).problems == [
        "DATEV takes amounts of ten digits before the comma at most: Main desk: Deposit line-6. Post them by hand."
    ]


@pytest.mark.django_db
def test_a_period_that_is_too_long_is_refused(priced, monkeypatch):
    monkeypatch.setattr(values, "MOST", 3)
    assert "amounts. Choose a shorter period." in exported("xero", priced).problems[0]


@pytest.mark.django_db
def test_datev_gets_a_file_for_each_month_within_its_fiscal_year(priced):
    entry_of(priced, 6, at=DAY + timedelta(days=30))
    close_of("BCHUSD", "333.33", day=DAY + timedelta(days=30))
    close_of("EURUSD", "1.25", day=DAY + timedelta(days=30))
    chart = replace(chart_of(), settings=chart_of().settings | {accounts.YEAR: "4", accounts.LENGTH: "6"})
    period = Period(date(2026, 3, 3), date(2026, 4, 10))
    name, kind, content = exported("datev", priced, period=period, chart=chart).file(NOW)
    assert (name, kind) == ("datev_2026-03-03_2026-04-10.zip", "application/zip")
    with zipfile.ZipFile(BytesIO(content)) as archive:
        heads = {each: archive.read(each).decode("cp1252").split(";")[12:16] for each in archive.namelist()}
    assert heads == {
        "EXTF_Buchungsstapel_2026-03.csv": ["20250401", "6", "20260303", "20260331"],
        "EXTF_Buchungsstapel_2026-04.csv": ["20260401", "6", "20260401", "20260410"],
    }


@pytest.mark.django_db
def test_xero_gets_300_lines_in_a_file_and_no_movement_in_two(priced):
    for number in range(10, 110):
        entry_of(priced, number, type="payout", amount=Decimal(1), fee=Decimal("0.01"))
    _, _, content = exported("xero", priced).file(NOW)
    with zipfile.ZipFile(BytesIO(content)) as archive:
        files = [list(csv.reader(StringIO(archive.read(each).decode())))[1:] for each in archive.namelist()]
    assert [len(lines) for lines in files] == [300, 108]
    assert not {line[0] for line in files[0]} & {line[0] for line in files[1]}


@pytest.mark.django_db
def test_accounts_face_each_other_only_where_the_mapping_keeps_them_apart(priced):
    entry_of(priced, 6, type="withdraw", sub_type="swap", amount=Decimal("0.2"))
    entry_of(priced, 7, type="teleport")
    rows.trade(1, account=priced, timestamp=DAY)
    facing = {frozenset((key, other)) for key, others in journal.FACING.items() for other in others}
    used = {
        frozenset((posting.debit, posting.credit))
        for movement in journal.of(priced, MARCH)
        for posting in movement.postings
    }
    assert len(used) == 8
    assert used <= facing


@pytest.mark.django_db
def test_the_page_says_what_is_left_out_before_the_download_is_recorded(priced, mapped, auditor, signed_in):
    entry_of(priced, 6, currency="XRP", amount=Decimal(5))
    client = signed_in(auditor)
    page = client.get(f"/statements/journal/datev/?{QUERY}")
    assert (
        "1 movement has no value in EUR and is left out. There is no price of that day for XRP . Post it by hand"
        in text(page)
    )
    assert f'href="/statements/journal.csv?{QUERY.replace("&", "&amp;")}"' in page.content.decode()
    assert not AuditEvent.objects.filter(action="journal.exported").exists()
    answer = client.get(f"/statements/journal/datev/file?{QUERY}")
    assert answer["Content-Disposition"] == 'attachment; filename="EXTF_Buchungsstapel_2026-03.csv"'
    assert answer.content.startswith(b'"EXTF";700;21;')
    facts = AuditEvent.objects.get(action="journal.exported", actor=auditor).after
    assert facts == {
        "accounts": ["Main desk"],
        "days": "2026-03-01 to 2026-03-31",
        "program": "DATEV",
        "mapping": "AM-1",
        "amounts": 4,
        "movements": 3,
        "left_out": 1,
        "too_small": 0,
    }
    own = b"".join(client.get(f"/statements/journal.csv?{QUERY}")).decode("utf-8-sig")
    line = next(csv.DictReader(StringIO(own)))
    assert (line["journal account"], line["number"], line["name"]) == (
        *("Exchange bank wallet", "1301", "Exchange bank wallet"),
    )


@pytest.mark.django_db
def test_nothing_leaves_and_nothing_is_recorded_without_numbers(priced, auditor, signed_in):
    client = signed_in(auditor)
    refused = client.get(f"/statements/journal/xero/file?{QUERY}", follow=True)
    assert refused.redirect_chain == [(f"/statements/journal/xero/?{QUERY}", 302)]
    assert "Nothing was exported. No account number: Exchange bank wallet," in text(refused)
    assert "Download" not in text(refused)
    for path in ("xero/", "xero/file"):
        bad = client.get(f"/statements/journal/{path}?since=2026-03-02&until=2026-03-01", follow=True)
        assert "Nothing was exported. To: The end date is before the start date." in text(bad)
    assert not AuditEvent.objects.filter(action="journal.exported").exists()
