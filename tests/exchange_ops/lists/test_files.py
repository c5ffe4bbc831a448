"""A list's file says of each row what the row itself says, read without an object for each and in one question."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from desk import clock
from desk.fields import ExactDecimalField
from desk.lists import exports, reading
from desk.lists.declared import LISTS, Totals
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.portfolio.models import Profit
from exchange_ops.reconciliation import files
from exchange_ops.shared import facts
from exchange_ops.withdrawals.evidence import reconciliation
from tests.cases import crossed
from tests.exchange_ops import rows
from tests.exchange_ops.ledger.test_list_plans import ADDRESSES
from tests.exchange_ops.orders import order_rows
from tests.exchange_ops.orders.brackets import bracket_rows
from tests.exchange_ops.permissions.subjects.payees import added
from tests.exchange_ops.withdrawals.schedules import plans

pytestmark = pytest.mark.django_db
# What adds up rows of other tables for each of its own is read as its page is, and so are the sentences of the trail.
AS_OBJECTS = {"addresses", "brackets", "trail"}


@pytest.fixture
def reader(signed_in, make_person, payable):
    """Somebody who may see every list, with rows in each in several states."""
    now = clock.now()
    person = make_person("operator", "admin", "auditor", username="reader")
    order_rows.market(now=now)
    rows.currency(now=now, transfer_enabled=True)
    rows.requested(person, now=now)
    rows.held(person, now=now)
    paid = rows.ended(person, now=now)
    moved = rows.transfer(person, kind="bank_to_trading", now=now)
    rows.transfer(person, kind="to_user", now=now)
    added(person)
    plans.due(person)
    order_rows.requested(person, now=now)
    order_rows.elsewhere(now=now)
    order_rows.placed(person, now=now, status="filled", filled="1")
    bracket_rows.asked_for(person, now=now)
    bracket_rows.without_a_stop(person, now=now)
    for number in (1, 2, 3):
        rows.trade(number, now=now - timedelta(minutes=number))
    rows.entry(1, now=now, type="payout", withdrawal=paid, address=rows.ADDRESS)
    rows.entry(2, now=now, type="payin", fee=None, confirmations=None)
    rows.entry(3, now=now, type="transfer", transfer=moved, foreign=True)
    return signed_in(person)


def listing_of(client, name):
    listing = client.get(ADDRESSES[name]).context["list"]
    assert listing.declared is LISTS[name]
    return listing, listing.narrowed.order_by(*listing.order.names)


@pytest.mark.parametrize("name", ADDRESSES)
def test_each_value_is_what_the_row_itself_says(reader, name):
    listing, found = listing_of(reader, name)
    paths = [path for _, path in listing.declared.exported]
    objects = list(found)
    if listing.prepare:
        listing.prepare(objects)
    expected = [[reading.value(row, path) for path in paths] for row in objects]
    read = reading.values(found, paths, reads=listing.declared.reads, prepare=listing.prepare)
    assert [list(line) for line in read] == expected
    assert objects or name == "deliveries", f"no row of {name} was looked at"


@pytest.mark.parametrize("name", sorted(set(ADDRESSES) - AS_OBJECTS))
def test_the_rows_are_read_in_one_question_and_as_columns(reader, name):
    listing, found = listing_of(reader, name)
    paths = [path for _, path in listing.declared.exported]

    def objects_are_made(_):
        raise AssertionError("an object was made for a row")

    with CaptureQueriesContext(connection) as seen:
        list(reading.values(found, paths, reads=listing.declared.reads, prepare=objects_are_made))
    read = [query["sql"] for query in seen.captured_queries if query["sql"].startswith("SELECT")]
    # PostgreSQL's cursor with a name is not among what Django captured: then there is nothing beside it.
    assert len(read) == (0 if connection.vendor == "postgresql" else 1), read


@crossed({"name": ADDRESSES, "kind": ("csv", "json")}, together=1)
def test_every_list_leaves_as_a_file(reader, name, kind):
    _, _, query = ADDRESSES[name].partition("?")
    listing, found = listing_of(reader, name)
    count = found.count() + (name == "trail")  # where the export itself is told before its first row leaves
    text = b"".join(reader.get(f"{listing.file_url(kind).partition('?')[0]}?{query}")).decode()
    if kind == "json":
        whole = json.loads(text)
        assert (len(whole["rows"]), whole["totals"]["count"]) == (count, count)
    else:
        assert len(list(csv.reader(io.StringIO(text)))) >= count + 1


FORMULAS = ("=1+1", "rent;=1+1;x", "a\t+1\n-1", "b|@SUM(1)", ' \uff1d1;" =2', "\u202e;=3")


def formulas(text):
    """The cells that begin a formula, wherever a reader splits the lines."""
    cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
    for sign in (";", "\t", "|"):
        cells += [cell for row in csv.reader(io.StringIO(text), delimiter=sign, quoting=csv.QUOTE_NONE) for cell in row]
    return [cell for cell in cells if cell.lstrip(' "')[:1] in {*"=+-@\uff1d"}]


def test_no_file_has_a_cell_that_begins_a_formula(reader, monkeypatch):
    """Whatever a column is of: here each one holds each of the texts."""
    monkeypatch.setattr(reading, "values", lambda _, paths, **__: [[text] * len(paths) for text in FORMULAS])
    for name in ADDRESSES:
        text = b"".join(reader.get(f"{ADDRESSES[name].partition('?')[0]}export.csv")).decode("utf-8-sig")
        assert (name, formulas(text)) == (name, [])
        assert text.count("rent;'=1+1") == len(LISTS[name].exported)
    assert formulas("x,rent;=1\r\n")


@pytest.mark.parametrize("name", FORMULAS)
def test_no_figures_of_an_account_have_a_cell_that_begins_a_formula(account, auditor, signed_in, name):
    rows.entry(1, now=clock.now())
    type(account).objects.filter(pk=account.pk).update(name=name)
    reading = {"held": {"BCH": "1"}, "through": 1}
    facts.note(account=account, name=reconciliation.READING, value=reading, now=clock.now())
    nothing = {field.name: 0 for field in Profit._meta.fields if isinstance(field, ExactDecimalField)}
    Profit.objects.create(account=account, method="fifo", coin="BCH", computed_at=clock.now(), **nothing)
    for path in (
        "/profit/export.csv",
        "/reconciliation/export.csv",
        "/statements/export.csv",
        "/statements/journal.csv",
    ):
        text = b"".join(signed_in(auditor).get(path)).decode("utf-8-sig")
        assert (len(text.splitlines()) > 1, formulas(text)) == (True, []), path


def test_every_fee_has_its_currency_beside_it(reader):
    """A rebate can't be booked without it: the fee of a trade is in the symbol's own currency."""
    for name in ADDRESSES:
        heads = [head for head, _ in LISTS[name].exported]
        for place, head in enumerate(heads):
            is_fee = head.endswith(("fee", "fees")) and head != "result after fees"
            assert not is_fee or heads[place + 1] == "fee currency", name
    assert files.COLUMNS[files.COLUMNS.index("fees") + 1] == "fee currency"
    text = b"".join(reader.get("/orders/fills/export.csv")).decode("utf-8-sig")
    assert {line["fee currency"] for line in csv.DictReader(io.StringIO(text))} == {"USD"}
    heads = reader.get("/profit/export.csv").content.decode("utf-8-sig").splitlines()[0].split(",")
    assert heads[heads.index("fees") + 1] == "fee currency"


def test_ids_of_the_exchange_are_text_in_json(reader):
    number = 2**53 + 1
    rows.trade(number, now=clock.now(), timestamp=clock.now())
    rows_of = json.loads(b"".join(reader.get("/orders/fills/export.json")))["rows"]
    assert (
        {type(row["exchange id"]) for row in rows_of} == {type(row["order's exchange id"]) for row in rows_of} == {str}
    )
    assert str(number) in {row["exchange id"] for row in rows_of}
    columns = {"exchange_id": "beyond", "index": number, "type": "payin", "status": "success", "currency": "BCH"}
    times = dict.fromkeys(("created_at", "updated_at", "first_seen_at", "seen_at"), clock.now())
    LedgerEntry.objects.create(account=rows.account(now=clock.now()), amount=1, **columns, **times)
    indexes = [row["index"] for row in json.loads(b"".join(reader.get("/ledger/export.json")))["rows"]]
    assert sorted(map(str, indexes)) == ["1", "2", "3", str(number)]
    assert {type(each) for each in indexes} == {int, str}


class TestBytes:
    """The file of two lines, letter by letter: what somebody's spreadsheet reads today it reads tomorrow."""

    def export(self, zone, name):
        at = datetime(2026, 1, 2, 3, 4, 5, 678_900, tzinfo=UTC)
        rows.entry(7, now=at, amount=Decimal("1.50"), fee=None, address="=1+1", hash="a\u202eb", confirmations=0)
        rows.entry(8, now=at, amount=Decimal("-0.00000001"), fee=Decimal(2), address='say "so", then', foreign=True)
        LedgerEntry.objects.filter(index__in=[7, 8]).update(created_at=at)
        columns = [(one, one.replace(" ", "_")) for one in ("index", "currency", "amount", "fee", "address", "hash")]
        columns += [
            ("confirmations", "confirmations"),
            ("made elsewhere", "foreign"),
            ("made at ({zone})", "created_at"),
        ]
        return exports.Export(
            name="ledger",
            rows=LedgerEntry.objects.order_by("index"),
            columns=columns,
            zone=zone,
            zone_name=name,
            filters={"currency": "BCH"},
            order="index",
            now=at,
            totals=Totals(by=("currency",), sums={"amount": "", "fee": ""}, units={"amount": "currency"}),
        )

    def content(self, rf, auditor, client, export, kind):
        request = rf.get("/")
        request.user, request.session = auditor, client.session
        return b"".join(exports.answer(request, export, kind=kind)).decode()

    def test_csv(self, rf, auditor, client, payable):
        export = self.export(ZoneInfo("Europe/Berlin"), "Europe/Berlin")
        assert self.content(rf, auditor, client, export, "csv") == (
            "\ufeffindex,currency,amount,fee,address,hash,confirmations,made elsewhere,made at (Europe/Berlin)\r\n"
            "7,BCH,1.5,,'=1+1,a\u2039RLO\u203ab,0,no,2026-01-02T04:04:05+01:00\r\n"
            '8,BCH,-0.00000001,2,"say ""so"", then",,,yes,2026-01-02T04:04:05+01:00\r\n'
        )

    def test_json(self, rf, auditor, client, payable):
        export = self.export(UTC, "UTC")
        assert self.content(rf, auditor, client, export, "json") == (
            '{"list": "ledger", "exported_at": "2026-01-02T03:04:05Z", "zone": "UTC", "order": "index", '
            '"filters": {"currency": "BCH"}, "rows": [\n'
            '{"index": 7, "currency": "BCH", "amount": "1.5", "fee": null, "address": "=1+1", "hash": "a\u202eb", '
            '"confirmations": 0, "made elsewhere": false, "made at": "2026-01-02T03:04:05Z"},\n'
            '{"index": 8, "currency": "BCH", "amount": "-0.00000001", "fee": "2", "address": "say \\"so\\", then", '
            '"hash": "", "confirmations": null, "made elsewhere": true, '
            '"made at": "2026-01-02T03:04:05Z"}\n'
            '], "totals": {"count": 2, "sums": '
            '[{"currency": "BCH", "count": 2, "amount": "1.49999999", "fee": "2"}]}}\n'
        )
