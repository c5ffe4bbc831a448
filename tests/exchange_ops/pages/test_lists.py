"""Lists: what they show, how they page, and that a longer list asks the database no more often."""

import csv
import io
import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from desk import clock
from desk.models import AuditEvent
from tests.exchange_ops import rows

pytestmark = pytest.mark.django_db


def text_of(response):
    """The body of an answer as text, streamed or not."""
    body = b"".join(response) if response.streaming else response.content
    return body.decode("utf-8-sig")


def queries_of(client, path, **headers):
    client.get(path, headers=headers)
    with CaptureQueriesContext(connection) as seen:
        assert client.get(path, headers=headers).status_code == 200
    return [query["sql"] for query in seen.captured_queries]


def test_three_rows_take_as_many_queries_as_one(signed_in, treasury, operator, payable):
    client, now = signed_in(treasury), clock.now()
    paths = ("/", "/withdrawals/", "/approvals/", "/approvals/?list=others", "/ledger/", "/system/")
    rows.held(operator, now=now)
    rows.entry(1, now=now, withdrawal=rows.ended(operator, now=now), type="payout")
    one = {path: len(queries_of(client, path)) for path in paths}
    for number in (2, 3):
        rows.held(operator, now=now)
        rows.entry(number, now=now, withdrawal=rows.ended(operator, now=now), type="payout")
    assert {path: len(queries_of(client, path)) for path in paths} == one


def test_the_detail_asks_no_more_for_a_longer_story(signed_in, treasury, operator, payable):
    client = signed_in(treasury)
    short, long = rows.requested(operator, now=clock.now()), rows.ended(operator, now=clock.now())
    few = len(queries_of(client, f"/withdrawals/{short.pk}/"))
    assert len(queries_of(client, f"/withdrawals/{long.pk}/")) <= few + 3


def test_the_trail_asks_no_more_for_more_events(signed_in, auditor, operator, payable):
    client = signed_in(auditor)
    rows.requested(operator, now=clock.now())
    one = len(queries_of(client, "/audit/"))
    rows.ended(operator, now=clock.now())
    assert len(queries_of(client, "/audit/")) == one


def test_filters_stand_in_the_address_and_narrow_the_list(signed_in, treasury, operator, make_person, payable):
    other = make_person("operator", username="operator2")
    kept, gone = rows.held(operator, now=clock.now()), rows.ended(other, now=clock.now(), reason="Salaries")
    client = signed_in(treasury)
    for query in ("state=held", "state=open", "turn=person", "initiator=operator", f"text={kept.reference}"):
        page = text_of(client.get(f"/withdrawals/?{query}"))
        assert kept.reference in page, query
        assert gone.reference not in page, query
    assert gone.reference in text_of(client.get("/withdrawals/?text=salar"))
    assert "No withdrawals match" in text_of(client.get("/withdrawals/?currency=xrp"))


@pytest.mark.parametrize(
    "query", ["state=nonsense", "before=x", "before=-1", "after=99999999999999999999", "text=%00", "before=٣"]
)
def test_a_filter_that_makes_no_sense_filters_nothing(signed_in, treasury, operator, payable, query):
    row = rows.held(operator, now=clock.now())
    response = signed_in(treasury).get(f"/withdrawals/?{query}")
    assert response.status_code == 200
    assert row.reference in text_of(response) or "after" in query


def test_pages_follow_each_other_without_loss_or_repetition(signed_in, treasury, operator, payable):
    made = {rows.requested(operator, now=clock.now()).reference for _ in range(120)}
    client, address, seen = signed_in(treasury), "/withdrawals/?state=draft", []
    while address:
        listing = client.get(address).context["list"]
        seen += [row.reference for row in listing.rows]
        address = f"/withdrawals/{listing.older}" if listing.older else ""
        assert "state=draft" in listing.older or not listing.older
    assert len(seen) == 120
    assert set(seen) == made
    back = client.get(f"/withdrawals/{client.get('/withdrawals/?before=60').context['list'].newer}").context["list"]
    assert [row.pk for row in back.rows][-1] >= 60


def test_a_list_with_a_long_history_answers_from_the_key_alone(signed_in, treasury, operator, payable):
    rows.held(operator, now=clock.now())
    listing = [sql for sql in queries_of(signed_in(treasury), "/withdrawals/?before=1000") if "LIMIT 51" in sql]
    assert len(listing) == 1
    assert "OFFSET" not in listing[0]


def test_foreign_lines_of_the_ledger_are_marked(signed_in, auditor, payable):
    rows.entry(1, type="payout", foreign=True, now=clock.now())
    rows.entry(2, now=clock.now())
    client = signed_in(auditor)
    assert text_of(client.get("/ledger/")).count("Made outside Countersign") == 2  # the mark and the filter's word
    assert "line-2" not in text_of(client.get("/ledger/?origin=foreign"))


def test_an_unknown_status_of_the_exchange_is_shown_as_it_is(signed_in, auditor, payable):
    rows.entry(1, status="vaporised", type="teleport", now=clock.now())
    page = text_of(signed_in(auditor).get("/ledger/"))
    assert "vaporised" in page
    assert "teleport" in page


def test_an_export_is_written_into_the_trail_and_carries_no_formula(signed_in, auditor, operator, payable):
    rows.requested(operator, now=clock.now(), reason='=HYPERLINK("http://x")')
    rows.requested(operator, now=clock.now(), reason="  @SUM(1)", amount=Decimal("0.100000000000000000"))
    response = signed_in(auditor).get("/withdrawals/export.csv?state=draft")
    lines = list(csv.DictReader(io.StringIO(text_of(response))))
    assert response["Content-Type"].startswith("text/csv")
    assert re.search(
        r'attachment; filename="withdrawals_state-draft_\d{8}T\d{6}Z\.csv"', response["Content-Disposition"]
    )
    assert [line["reason"] for line in lines] == ["'  @SUM(1)", '\'=HYPERLINK("http://x")']
    assert [line["amount"] for line in lines] == ["0.1", "1.25"]
    event = AuditEvent.objects.get(action="withdrawals.exported")
    assert event.actor == auditor
    assert event.after == {"state": "draft"}


def test_the_overview_shows_values_deadline_holds_and_lines(signed_in, treasury, operator, payable):
    now = clock.now()
    row = rows.held(operator, now=now - timedelta(minutes=33))
    rows.currency("XRP", now=now)
    rows.balance("XRP", bank="7", trading="0", now=now)
    rows.entry(5, now=now)
    page = text_of(signed_in(treasury).get("/"))
    assert "255,000.00 USD" in page  # (500 + 10) BCH at 500
    assert "in the bank and trading accounts" in page
    assert "Not in total (no current price): XRP." in page
    assert "19 min left" in page or "20 min left" in page
    assert f"Without a decision, the funds will be released at {row.rollback_at:%Y-%m-%d %H:%M:%S} UTC" in page
    followed = re.search(r'id="work"[^>]*data-follow="([^"]+)"', page)
    assert {"approvals", "incidents", "policy", "people"} <= set(followed[1].split())
    assert "0.50000000" not in page
    assert "0.5000" in page


def test_the_total_of_the_funds_says_what_it_leaves_out(signed_in, treasury, payable):
    page = text_of(signed_in(treasury).get("/funds/"))
    assert "255,000.00 USD" in page
    assert "in the bank and trading accounts" in page


def test_an_amount_in_a_sentence_has_its_thousands_separated(signed_in, operator, payable):
    typed = {"currency": "BCH", "amount": "1234567890123.5", "fee_from": "on_top"}
    page = text_of(signed_in(operator).post("/withdrawals/new/figures/", typed))
    assert "1,234,567,890,123.501 BCH would be debited including the fee, but only 500 " in page


@pytest.mark.parametrize("path", ["/ledger/", "/orders/"])
def test_a_filter_offers_words_and_no_raw_enumerations(signed_in, auditor, payable, path):
    choices = re.findall(r"<option[^>]*>([^<]*)</option>", text_of(signed_in(auditor).get(path)))
    assert len(choices) > 6
    assert not [word for word in choices if re.search(r"^[a-z]|[a-z][A-Z]|_", word)]


def test_an_empty_desk_says_what_would_appear(signed_in, treasury):
    client = signed_in(treasury)
    for path, words in {
        "/": "No balances synced yet",
        "/withdrawals/": "No payouts yet",
        "/approvals/": "No approvals pending",
        "/ledger/": "The ledger is empty",
        "/search/?q=nothing": "No results",
    }.items():
        assert words in text_of(client.get(path)), path


def test_the_search_box_opens_a_single_hit(signed_in, auditor, operator, payable):
    row, twin = rows.held(operator, now=clock.now()), rows.held(operator, now=clock.now())
    client = signed_in(auditor)
    for words in (row.reference, row.reference.lower(), f" {row.pk} ", row.exchange_id):
        assert client.get("/search/", {"q": words}).headers["Location"] == f"/withdrawals/{row.pk}/", words
    both = text_of(client.get("/search/", {"q": rows.ADDRESS[10:30]}))
    assert row.reference in both
    assert twin.reference in both
    assert "Enter a search term" in text_of(client.get("/search/?q="))
    assert client.get("/search/", {"q": "W-" + "9" * 30}).status_code == 200


def test_the_overview_names_what_changed_in_words(signed_in, auditor, operator, payable):
    row = rows.held(operator, now=clock.now())
    page = text_of(signed_in(auditor).get("/"))
    assert f"System recorded that the exchange reserved the funds for payout {row.reference}: 1.25 BCH to" in page
    assert "withdrawal.hold" not in page
