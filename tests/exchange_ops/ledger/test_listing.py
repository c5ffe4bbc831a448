"""The component of lists, shown with the ledger: order, places, days, totals, files, and what a person keeps."""

import csv
import io
import json
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from desk import clock
from desk.lists import places
from desk.lists.models import ListChoice, SavedFilter
from desk.models import AuditEvent
from exchange_ops.ledger.models import LedgerEntry
from tests.exchange_ops import rows

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def listed(client, query=""):
    response = client.get(f"/ledger/{query}")
    assert response.status_code == 200
    return response.context["list"]


def indexes(found):
    return [row.index for row in found.rows]


def text_of(response):
    return b"".join(response).decode("utf-8-sig")


def kept(client, **fields):
    return client.post("/lists/ledger/keep/", fields)


@pytest.mark.parametrize("sort", ["amount", "-amount", "kind", "-changed", "index"])
def test_sorted_pages_follow_each_other_whatever_is_equal(signed_in, auditor, payable, sort):
    for number in range(1, 61):
        kind = "payin" if number % 3 else "payout"
        rows.entry(number, now=clock.now(), amount=Decimal(number % 4), type=kind, currency=("BCH", "BTC")[number % 2])
    client, seen, query = signed_in(auditor), [], f"?sort={sort}"
    assert kept(client, column=["kind", "amount"], size="25").status_code == 302
    while query:
        found = listed(client, query)
        seen += indexes(found)
        query = found.older
    assert sorted(seen) == list(range(1, 61))
    fields = {"amount": ("currency", "amount", "pk"), "kind": ("type", "updated_at", "pk")}
    named = fields.get(sort.lstrip("-"), ("index",))
    order = [f"-{name}" for name in named] if sort.startswith("-") else named
    assert seen == list(LedgerEntry.objects.order_by(*order).values_list("index", flat=True))
    last = listed(client, f"?sort={sort}")
    assert indexes(listed(client, listed(client, last.older).newer)) == indexes(last)


def test_new_rows_above_shift_no_page_that_is_being_read(signed_in, auditor, payable):
    for number in range(1, 61):
        rows.entry(number, now=clock.now())
    client = signed_in(auditor)
    second = listed(client).older
    before = indexes(listed(client, second))
    for number in range(61, 90):
        rows.entry(number, now=clock.now())
    assert indexes(listed(client, second)) == before


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("sort=secret_sealed", "can’t be sorted by that"),
        ("sort=password", "can’t be sorted by that"),
        ("before=%5B1%2C2%5D", "Invalid page link"),
        ("before=1.5", "Invalid page link"),
        ("before=null", "Invalid page link"),
        ("before=" + "%5B" * 500, "Invalid page link"),
        ("sort=changed&before=%5B%22yesterday%22%2C1%5D", "Invalid page link"),
        ("sort=amount&before=%5B%22BCH%22%2C%22NaN%22%2C1%5D", "Invalid page link"),
        ("sort=amount&before=%5B%22BCH%22%2C%221e999999%22%2C1%5D", "Invalid page link"),
        ("since=-0001-01-01", "From: Enter a valid date"),
        ("since=2026-02-30", "From: Enter a valid date"),
        ("since=2026-05-02&until=2026-05-01", "The end date is before the start date"),
        ("zone=Mars/Olympus", "Unknown time zone"),
        ("zone=../../etc/passwd", "Unknown time zone"),
        ("range=century", "Dates: Select a valid choice"),
        ("text=" + "x" * 10_000, "at most 200 characters"),
        ("text=%00", "Null characters are not allowed"),
        ("type=teleport", "Kind: Select a valid choice"),
    ],
)
def test_what_makes_no_sense_is_named_and_hides_nothing(signed_in, auditor, payable, query, sentence):
    rows.entry(1, now=clock.now())
    response = signed_in(auditor).get(f"/ledger/?{query}")
    page = response.content.decode().replace("&#x27;", "’")
    assert response.status_code == 200
    assert sentence in page
    assert "Invalid filters were ignored" in page
    assert indexes(response.context["list"]) == [1]


@pytest.mark.parametrize("query", ["since=0001-01-01", "until=9999-12-31&zone=Pacific/Kiritimati", "totals=all"])
def test_the_ends_of_the_calendar_are_days_as_well(signed_in, auditor, payable, query):
    rows.entry(1, now=clock.now())
    assert indexes(listed(signed_in(auditor), f"?{query}")) == [1]


def test_days_are_those_of_the_zone_that_is_asked_for(signed_in, auditor, payable):
    for number, hour in enumerate((21, 22, 23), start=1):
        rows.entry(number, now=clock.now(), updated_at=datetime(2026, 6, 30, hour, 30, tzinfo=UTC))
    client = signed_in(auditor)
    july = "?since=2026-07-01&until=2026-07-01"
    assert indexes(listed(client, july)) == []
    assert indexes(listed(client, f"{july}&zone=Europe/Berlin")) == [3, 2]
    page = client.get(f"/ledger/{july}&zone=Europe/Berlin").content.decode()
    assert "2026-07-01 00:30" in page
    assert "Changed (Berlin time)" in page


def test_presets_count_whole_days_and_today(signed_in, auditor, payable):
    now = clock.now()
    for number, days in enumerate((29, 30, 6, 7, 0), start=1):
        rows.entry(number, now=now, updated_at=now - days * DAY)
    client = signed_in(auditor)
    assert set(indexes(listed(client, "?range=today"))) == {5}
    assert set(indexes(listed(client, "?range=7d"))) == {5, 3}
    assert set(indexes(listed(client, "?range=30d"))) == {5, 3, 4, 1}
    assert 5 in indexes(listed(client, "?range=month"))


def test_totals_are_exact_by_currency_and_of_what_is_filtered(signed_in, auditor, payable):
    tiny = Decimal("0.000000000000000001")
    rows.entry(1, now=clock.now(), amount=Decimal("123456789012345678"), fee=tiny)
    rows.entry(2, now=clock.now(), amount=tiny)
    rows.entry(3, now=clock.now(), amount=Decimal(7), currency="USD")
    client = signed_in(auditor)
    page = client.get("/ledger/").content.decode()
    assert "123,456,789,012,345,678.000000000000000001 BCH" in page
    assert "7.00 USD" in page
    assert "3 lines" in page
    found = listed(client, "?currency=usd").totals
    assert (found.count, [line.of for line in found.lines]) == (1, [("USD",)])


def test_totals_tell_in_out_moved_and_fees_apart_and_amounts_have_a_sign(signed_in, auditor, payable):
    """A payout of 1 is not 1 more, a transfer between our wallets changes nothing, and what failed never happened."""
    lines = (
        ("payin", "success", "5", None),
        ("payout", "success", "1", "0.1"),
        ("bankToExchange", "success", "2", None),
        ("withdraw", "success", "0.5", None),
        ("payout", "pending", "0.3", "0.1"),
        ("payout", "failed", "9", "0.1"),
        ("airdrop", "success", "4", None),
    )
    for number, (kind, status, amount, fee) in enumerate(lines, start=1):
        columns = {"type": kind, "status": status, "amount": Decimal(amount), "fee": fee and Decimal(fee)}
        rows.entry(number, now=clock.now(), **columns)
    client = signed_in(auditor)
    (line,) = listed(client).totals.lines
    figures = {"in": "5", "out": "1.5", "moved": "2", "other": "4", "fees": "0.1", "net": "3.4", "pending": "-0.4"}
    assert {label: value for label, value, unit in line.figures} == {
        name: Decimal(one) for name, one in figures.items()
    }
    assert {unit for _, _, unit in line.figures} == {"BCH"}
    whole = json.loads(text_of(client.get("/ledger/export.json?sort=index")))
    assert whole["totals"]["sums"] == [{"currency": "BCH", "count": 7} | figures]
    signed = ["5", "-1", "2", "-0.5", "-0.3", "-9", "4"]
    assert [each["amount"] for each in whole["rows"]] == signed
    table = list(csv.DictReader(io.StringIO(text_of(client.get("/ledger/export.csv?sort=index")))))
    assert [each["amount"] for each in table] == signed
    assert [each["direction"] for each in table] == ["in", "out", "moved", "out", "out", "out", "other"]
    assert [each["change"] for each in table] == ["5", "-1.1", "0", "-0.5", "0", "0", "0"]
    (newest, *_) = client.get("/api/v1/ledger/?type=payout&status=success").json()["items"]
    assert (newest["amount"], newest["direction"], newest["change"]) == ("1", "out", "-1.1")
    page = re.sub(r"<[^>]*>", "", client.get("/ledger/?sort=index").content.decode()).replace("\u2212", "-")
    assert "+5" in page
    assert "-9" in page
    (deposited,) = client.get("/deposits/").context["list"].totals.lines
    assert [(label, value) for label, value, _ in deposited.figures] == [("in", 5), ("net", 5)]


def test_too_many_rows_are_added_up_on_request_alone(signed_in, auditor, payable, monkeypatch):
    from desk.lists import totals

    for number in range(1, 6):
        rows.entry(number, now=clock.now())
    monkeypatch.setattr(totals, "AT_ONCE", 2)
    client = signed_in(auditor)
    assert 'hx-trigger="load, hint"' in client.get("/ledger/").content.decode()
    part = {"HX-Request": "true", "HX-Target": "totals"}
    assert "2.5000 BCH" in client.get("/ledger/", headers=part).content.decode()
    monkeypatch.setattr(totals, "MOST", 4)
    late = client.get("/ledger/", headers=part).content.decode()
    assert "More than 4 lines: totals on request" in late
    assert "2.5000 BCH" in client.get("/ledger/?totals=all").content.decode()


def test_a_file_holds_what_is_filtered_in_its_order_and_says_so(signed_in, auditor, payable):
    moment = datetime(2026, 7, 1, 10, tzinfo=UTC)
    for number, amount in enumerate((3, 1, 2), start=1):
        rows.entry(number, now=moment, amount=Decimal(amount), address="=1+1", payment_id="a\u202eb")
    rows.entry(4, now=moment, type="payout")
    client, query = signed_in(auditor), "?type=payin&sort=amount&zone=Europe/Berlin&before=1"
    text = text_of(client.get(f"/ledger/export.csv{query}"))
    table = list(csv.DictReader(io.StringIO(text)))
    assert [line["amount"] for line in table] == ["1", "2", "3"]
    assert {line["address"] for line in table} == {"'=1+1"}
    assert table[0]["created at (Europe/Berlin)"] == "2026-07-01T12:00:00+02:00"
    whole = json.loads(text_of(client.get(f"/ledger/export.json{query}")))
    assert whole["filters"] == {"type": "payin", "zone": "Europe/Berlin"}
    assert [line["amount"] for line in whole["rows"]] == ["1", "2", "3"]
    assert {line["payment id"] for line in whole["rows"]} == {"a\u202eb"}, "JSON is exact"
    assert whole["rows"][0]["created at"] == "2026-07-01T12:00:00+02:00"
    nothing = dict.fromkeys(("out", "moved", "other", "fees", "pending"), "0")
    assert whole["totals"] == {"count": 3, "sums": [{"currency": "BCH", "count": 3, "in": "6", "net": "6"} | nothing]}
    assert AuditEvent.objects.filter(action="ledger.exported", actor=auditor).count() == 2
    assert client.get("/ledger/export.xml").status_code == 404


@pytest.mark.parametrize("text", ['"; x="', "a" * 190, "../../b", "\u202e\r\nB: c"])
def test_a_file_is_named_after_its_filters_in_plain_letters(signed_in, auditor, payable, text):
    answer = signed_in(auditor).get("/ledger/export.csv", {"text": text, "currency": "BCH"})
    name = re.fullmatch(r'attachment; filename="([A-Za-z0-9._-]{1,144})"', answer["Content-Disposition"])
    assert name
    assert re.search(r"^ledger_.*_\d{8}T\d{6}Z\.csv$", name[1])
    assert "/" not in name[1]


def test_a_file_never_leaves_a_filter_out(signed_in, auditor, payable):
    rows.entry(1, now=clock.now())
    client = signed_in(auditor)
    answer = client.get("/ledger/export.csv?type=teleport", follow=True)
    assert "Nothing was exported. Kind: Select a valid choice" in answer.content.decode()
    assert not AuditEvent.objects.filter(action="ledger.exported").exists()


def test_what_is_chosen_is_exported_and_nothing_else(signed_in, auditor, payable):
    kept_rows = [rows.entry(number, now=clock.now()) for number in range(1, 5)]
    client = signed_in(auditor)
    chosen = {"row": [kept_rows[0].pk, kept_rows[2].pk, "x", "9" * 30]}
    lines = json.loads(text_of(client.post("/ledger/export.json", chosen)))["rows"]
    assert [line["index"] for line in lines] == [3, 1]
    empty = client.post("/ledger/export.json", follow=True).content.decode()
    assert "Select the rows to export first" in empty


def test_columns_and_page_size_are_kept_for_one_person_alone(signed_in, auditor, treasury, payable):
    for number in range(1, 31):
        rows.entry(number, now=clock.now(), hash="ab" * 32)
    client = signed_in(auditor)
    kept(client, column=["amount", "hash"], size="25", query="sort=amount")
    found = listed(client)
    assert [column.name for column in found.columns] == ["kind", "amount", "hash"]
    assert len(found.rows) == 25
    page = client.get("/ledger/").content.decode()
    assert "Copy hash" in page
    assert 'class="l-to' not in page
    assert [column.name for column in listed(signed_in(treasury)).columns][-1] == "index"


@pytest.mark.parametrize("fields", [{"column": "password", "size": "50"}, {"size": "51"}, {"size": "9" * 9}, {}])
def test_an_odd_column_or_size_changes_nothing(signed_in, auditor, payable, fields):
    client = signed_in(auditor)
    kept(client, column=["amount"], size="100")
    answer = client.post("/lists/ledger/keep/", fields, follow=True).content.decode()
    assert "Not saved" in answer
    assert ListChoice.objects.get().size == 100


def test_a_filter_is_saved_renamed_made_the_default_and_deleted(signed_in, auditor, payable):
    rows.entry(1, now=clock.now())
    rows.entry(2, now=clock.now(), currency="USD")
    client = signed_in(auditor)
    query = "currency=usd&sort=-amount&before=12&type="
    answer = client.post("/lists/ledger/saved/", {"name": "  My   dollars ", "query": query})
    saved = SavedFilter.objects.get()
    assert (saved.name, saved.query) == ("My dollars", "currency=usd&sort=-amount")
    assert answer["Location"] == "/ledger/?currency=usd&sort=-amount"
    assert "My dollars" in client.get("/ledger/").content.decode()
    change = f"/lists/ledger/saved/{saved.pk}/"
    client.post(change, {"action": "rename", "name": "Dollars"})
    client.post(change, {"action": "default"})
    assert client.get("/ledger/")["Location"] == "/ledger/?currency=usd&sort=-amount"
    assert indexes(listed(client, "?saved=none")) == [2, 1], "all of them stay within reach"
    client.post(change, {"action": "no-default"})
    assert client.get("/ledger/").status_code == 200
    assert SavedFilter.objects.get().name == "Dollars"
    client.post(change, {"action": "delete"})
    assert not SavedFilter.objects.exists()


@pytest.mark.parametrize(
    "case",
    [
        ("", "type=payin", "Enter a name for the filter"),
        ("x" * 10_000, "type=payin", "up to 60 characters; this one is 10,000"),
        ("Mine", "before=1", "Nothing to save"),
        ("Mine", "text=" + "x" * 10_000, "too long to save"),
        ("Known", "type=payin", "You already have a saved filter with this name"),
    ],
)
def test_a_filter_that_can_not_be_saved_says_why_and_loses_nothing(signed_in, auditor, payable, case):
    client, (name, query, sentence) = signed_in(auditor), case
    client.post("/lists/ledger/saved/", {"name": "Known", "query": "type=payout"})
    answer = client.post("/lists/ledger/saved/", {"name": name, "query": query})
    assert answer.status_code == 422
    page = answer.content.decode()
    assert sentence in page
    assert f'value="{name}"' in page, "what was typed is still there"
    assert [(one.name, one.query) for one in SavedFilter.objects.all()] == [("Known", "type=payout")]


def test_a_saved_filter_of_somebody_else_is_not_there(signed_in, auditor, treasury, payable):
    signed_in(auditor).post("/lists/ledger/saved/", {"name": "Mine", "query": "type=payin"})
    saved = SavedFilter.objects.get()
    client = signed_in(treasury)
    for action in ("rename", "default", "delete"):
        fields = {"action": action, "name": "Theirs"}
        assert client.post(f"/lists/ledger/saved/{saved.pk}/", fields).status_code == 404
    assert "Mine" not in client.get("/ledger/").content.decode()
    saved.refresh_from_db()
    assert (saved.name, saved.is_default) == ("Mine", False)
    assert client.post("/lists/nothing/keep/").status_code == 404


def test_a_filter_is_a_chip_that_leads_to_the_list_without_it(signed_in, auditor, payable):
    rows.entry(1, now=clock.now())
    found = listed(signed_in(auditor), "?type=payin&range=today&sort=amount")
    assert (found.chips[0].label, found.chips[0].value) == ("Kind", "Payin")
    assert found.chips[0].url == "?range=today&sort=amount"
    assert found.chips[1].url == "?type=payin&sort=amount"


def test_a_place_is_read_back_as_it_was_written():
    order = places.Order(("currency", "amount", "updated_at", "pk"))
    row = LedgerEntry(pk=7, currency='B"C', amount=Decimal("1E+3"), updated_at=datetime(2026, 1, 2, 3, 4, 5, 6, UTC))
    assert places.read(LedgerEntry, order, places._text(row, order)) == [
        *('B"C', Decimal(1000), datetime(2026, 1, 2, 3, 4, 5, 6, UTC), 7)
    ]
