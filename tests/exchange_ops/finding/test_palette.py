"""The palette of the search box: what a text names, of every kind, for who may see it, in the account in view."""

import re

import pytest

from desk import clock
from desk.web.search import Scope
from exchange_ops.market.models import Symbol
from exchange_ops.orders.models import Order
from exchange_ops.shared.models import Account
from exchange_ops.withdrawals.room import searches
from tests.exchange_ops import rows
from tests.exchange_ops.incidents import provoked
from tests.exchange_ops.orders import order_rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def look(signed_in):
    """`look(person, "text")`: the hits as (kind, label, address), in their order."""

    def hits_of(person, text, at="/search/palette/"):
        page = signed_in(person).get(at, {"q": text})
        assert page.status_code == 200
        kind, found = "", []
        pattern = r'<h2 id="hits-\d+">(.*?)</h2>|<a href="(.*?)" data-hit>.*?<span class="strong">(.*?)</span>'
        for heading, url, label in re.findall(pattern, page.content.decode(), re.DOTALL):
            kind = heading or kind
            if url:
                found.append((kind, re.sub("<.*?>", "", label), url))
        return found

    return hits_of


@pytest.mark.usefixtures("account")
def test_pages_and_actions_are_those_of_the_person(look, operator, treasury, admin, auditor):
    assert ("Actions", "New withdrawal", "/withdrawals/new/") in look(operator, "new w")
    assert look(auditor, "new withdrawal") == []
    assert ("Pages", "Keys", "/keys/") in look(admin, "keys")
    assert [hit for hit in look(operator, "keys") if hit[0] == "Pages"] == []
    assert ("Actions", "Propose a rule change", "/policy/draft/") in look(treasury, "rule")
    assert look(operator, "LEDGER")[0] == ("Pages", "Ledger", "/ledger/")


def test_what_is_named_exactly_comes_first(look, operator, payable):
    row = rows.held(operator, now=clock.now())
    found = look(operator, row.reference)
    assert found[0] == ("Withdrawals", row.reference, f"/withdrawals/{row.pk}/")
    assert look(operator, row.reference.lower())[0] == found[0]


def test_an_address_is_found_by_a_piece_and_as_a_destination(look, operator, payable):
    row = rows.held(operator, now=clock.now())
    kinds = {kind for kind, _, _ in look(operator, row.address[6:18])}
    assert {"Withdrawals", "Destinations"} <= kinds
    assert look(operator, row.address[6:8]) == [], "too short a piece names nothing"


def test_a_destination_tells_what_is_paid_from_what_is_pending_and_what_is_not_paid(operator, account, payable):
    now, scope = clock.now(), Scope(operator, [account], [], clock.now())
    held = rows.held(operator, now=now)
    (hit,) = searches.destinations(held.address, scope)
    assert hit.words == "BCH, 1 payout (1 pending)"
    rows.ended(operator, now=now)
    provoked.overdue(operator)
    (hit,) = searches.destinations(held.address, scope)
    assert hit.words == "BCH, 3 payouts (1 paid, 1 pending, 1 not paid)"
    words = [hit.words for hit in searches.withdrawals(held.address, scope)]
    assert [one.rpartition(", ")[2] for one in words] == ["awaiting broadcast", "expired", "waiting for approvals"]


def test_orders_markets_currencies_people_and_operations(look, operator, admin, account, payable):
    now = clock.now()
    rates = {"quantity_increment": 1, "tick_size": 1, "take_liquidity_rate": 1, "provide_liquidity_rate": 1}
    named = {"base_currency": "ETH", "quote_currency": "BTC", "fee_currency": "BTC", "read_at": now}
    Symbol.objects.create(code="ETHBTC", **named, **rates)
    rows.currency(now=now)
    assert ("Markets", "ETHBTC", "/markets/ETHBTC/") in look(operator, "eth/btc")
    assert ("Currencies", "BCH", "/funds/?text=BCH&amp;empty=on") in look(operator, "bch")
    assert ("People", operator.username, f"/people/{operator.pk}/") in look(admin, operator.username)
    assert [hit for hit in look(operator, operator.username) if hit[0] == "People"] == []
    assert ("Console", "get_balances", "/console/exchange/get_balances/") in look(operator, "get_bal")
    assert not Order.objects.exists()


def symbol(base, quote):
    rates = {"quantity_increment": 1, "tick_size": 1, "take_liquidity_rate": 1, "provide_liquidity_rate": 1}
    named = {"base_currency": base, "quote_currency": quote, "fee_currency": quote, "read_at": clock.now()}
    Symbol.objects.create(code=base + quote, **named, **rates)


def test_a_currency_names_its_own_markets_first_and_buying_it_is_an_action(look, signed_in, operator, auditor, payable):
    """A payout whose reason mentions it, and markets that are only priced in it, come after them."""
    for base, quote in (("BCH", "BTC"), ("ETH", "BTC"), ("BTC", "USDT"), ("BTC", "USD"), ("BTCX", "USD")):
        symbol(base, quote)
    rows.held(operator, now=clock.now(), reason="For the btc desk")
    hits = look(operator, "btc")
    assert [label for _, label, _ in hits[:5]] == ["BTCUSD", "BTCUSDT", "BTCXUSD", "BCHBTC", "ETHBTC"]
    assert hits[0][0] == "Markets"
    opened = signed_in(operator).get("/search/", {"q": "btc", "first": "on"})
    assert opened.headers["Location"] == "/markets/BTCUSD/", "Enter opens the first hit of the box"
    assert look(operator, "buy btc")[0] == ("Actions", "Buy BTCUSD", "/markets/BTCUSD/?side=buy")
    assert look(operator, "sell btc")[0][2] == "/markets/BTCUSD/?side=sell"
    assert [hit for hit in look(auditor, "buy btc") if hit[0] == "Actions"] == []
    whole = signed_in(operator).get("/search/", {"q": "btc"}).content.decode()
    assert "/markets/BTCUSD/" in whole, "the page lists what the box lists"
    assert "No results" not in whole


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("sign out", "/sign-out/"),
        ("log out", "/sign-out/"),
        ("statement", "/ledger/"),
        ("p&l", "/profit/"),
        ("positions", "/margin/"),
        ("payouts", "/withdrawals/"),
        ("orders", "/orders/"),
    ],
)
@pytest.mark.usefixtures("account")
def test_pages_are_found_by_the_other_words_for_them_and_enter_opens_them(look, signed_in, operator, text, url):
    assert [hit[2] for hit in look(operator, text)][:1] == [url]
    assert signed_in(operator).get("/search/", {"q": text, "first": "on"}).headers["Location"] == url


def test_nothing_of_another_account_is_found(look, operator, payable):
    row = rows.held(operator, now=clock.now())
    other = Account.objects.create(name="Other", quote_currency="USD")
    assert look(operator, row.reference, at=f"/accounts/{other.pk}/search/palette/") == []
    found = look(operator, row.reference, at=f"/accounts/{row.account_id}/search/palette/")
    assert found == [("Withdrawals", row.reference, f"/accounts/{row.account_id}/withdrawals/{row.pk}/")]


@pytest.mark.parametrize("text", ["", " ", "\x00", "<b>x</b>", "%_%", "' OR 1=1", "x" * 5000, "\u202e", "9" * 60, "/"])
def test_odd_texts_find_nothing_and_break_nothing(look, signed_in, operator, payable, text):
    assert [hit for hit in look(operator, text) if hit[0] not in {"Console"}] == []
    assert "<b>x</b>" not in signed_in(operator).get("/search/palette/", {"q": text}).content.decode()


def test_as_many_questions_for_one_row_as_for_three(signed_in, operator, payable, django_assert_num_queries):
    client = signed_in(operator)
    rows.held(operator, now=clock.now())
    client.get("/search/palette/", {"q": "paid"})
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as first:
        client.get("/search/palette/", {"q": "paid"})
    rows.held(operator, now=clock.now())
    rows.held(operator, now=clock.now())
    with django_assert_num_queries(len(first)):
        client.get("/search/palette/", {"q": "paid"})


def test_what_is_ones_own_and_what_is_done_with_a_currency(look, operator, auditor, account, payable):
    for text, url in (
        ("api tok", "/account/tokens/"),
        ("sessions", "/account/sessions/"),
        ("your set", "/account/settings/"),
    ):
        assert url in [found for _, _, found in look(auditor, text)], text
    assert ("Actions", "Deposit BCH", "/funds/BCH/deposit/") in look(auditor, "deposit bch")
    assert ("Actions", "Withdraw BCH", "/withdrawals/new/?currency=BCH") in look(operator, "withdraw bc")
    assert look(auditor, "withdraw bch") == []


def test_a_line_of_the_ledger_is_found_by_id_index_and_hash(look, operator, account, payable):
    row = rows.entry(7_200_001, now=clock.now(), hash="ab" * 32)
    for text in (row.exchange_id, "7200001", "ab" * 32, "AB" * 32):
        found = [hit for hit in look(operator, text) if hit[0] == "Ledger"]
        assert found == [("Ledger", "7200001", f"/ledger/?text={row.exchange_id}")], text
    assert [hit for hit in look(operator, "720000") if hit[0] == "Ledger"] == []


def test_a_margin_action_is_found_by_its_reference_and_by_no_other_mark(look, operator, account):
    row = rows.margin_action(operator, now=clock.now())
    assert ("Margin", row.reference, f"/margin/actions/{row.pk}/") in look(operator, f"m-{row.pk}")
    for text in (str(row.pk), f"BR-{row.pk}", f"CM-{row.pk}", "M-" + "9" * 30, "M-"):
        assert [hit for hit in look(operator, text) if hit[0] == "Margin"] == [], text


def test_an_order_is_found_by_its_reference_and_the_exchanges_id(look, operator, account):
    row, other = (order_rows.elsewhere(now=clock.now(), number=number) for number in (94_100_000_021, 94_100_000_022))
    hit = ("Orders", row.reference, f"/orders/{row.pk}/")
    for text in (row.reference, row.reference.lower(), "94100000021"):
        assert [each for each in look(operator, text) if each[0] == "Orders"] == [hit], text
    assert look(operator, other.client_order_id)[0][1] == other.reference


def test_a_sub_account_is_found_by_number_mail_and_description(look, operator, account):
    rows.subaccount(7001, description="Market making")
    rows.subaccount(7002)
    for text in ("7001", "desk+7001", "market mak"):
        found = [hit for hit in look(operator, text) if hit[0] == "Sub-accounts"]
        assert found == [("Sub-accounts", "7001", "/subaccounts/7001/")], text


def test_a_payment_is_found_on_the_chain_by_its_line_or_reference(look, operator, account, payable):
    now = clock.now()
    rows.entry(7_200_001, now=now, hash="ab" * 32)
    rows.entry(7_200_002, now=now, hash="cd" * 32, currency="BTC")
    on_chain = ("On the chain", f"{'ab' * 5}\u2026{'ab' * 5}", f"/chain/tx/{'ab' * 32}/")
    assert on_chain in look(operator, "7200001")
    assert [hit for hit in look(operator, "7200002") if "/chain/tx/" in hit[2]] == [], "not on the chain of the desk"
    row = rows.held(operator, now=now)
    assert [hit for hit in look(operator, row.reference) if "/chain/tx/" in hit[2]] == [], "nothing is sent yet"
