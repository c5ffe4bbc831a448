"""Funds and deposit addresses: both wallets side by side, an address to scan, and who may ask for a new one."""

import re
import uuid
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from desk import clock
from exchange_ops.addresses import deposits, machine
from exchange_ops.addresses.models import AddressBook, AddressRequest, DepositAddress
from exchange_ops.ledger.models import Balance
from exchange_ops.shared.models import Account
from exchange_ops.wire import records
from tests.exchange_ops import rows
from tests.rows import unguarded

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("payable")]
ADDRESS = "bchreg:qzd59qv9a8lctxa6eal3dw4rdmnguzxqlqmnj0xnqg"
HOSTILE = '"><script>alert(1)</script>'


def text(response):
    """What a person reads, on one line."""
    body = re.sub(r"<svg.*?</svg>", "", response.content.decode(), flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", body).split())


def codes(response):
    return re.findall(r'class="b-code">(?:<a [^>]*>)?([A-Z0-9]+)', response.content.decode())


def reading_of(*addresses, current=None, used=()):
    made = [records.DepositAddress(address=address, payment_id=tag) for address, tag in addresses]
    return deposits.Reading(
        made[0] if current is None and made else current,
        made,
        [records.UsedAddress(address=address, payment_id=tag) for address, tag in used],
    )


def read(reading, code="BCH", *, now=None):
    """What a worker does when the exchange answered."""
    now = now or clock.now()
    account = rows.account(now=now)
    book, _ = AddressBook.objects.get_or_create(account=account, currency=code, defaults={"requested_at": now})
    deposits.store(account=account, currency=code, reading=reading, now=now)
    AddressBook.objects.filter(pk=book.pk).update(answered_at=now)


def test_both_wallets_stand_side_by_side_with_their_value_and_age(signed_in, auditor, operator):
    now = clock.now()
    rows.held(operator, now=now)
    Balance.objects.filter(wallet="bank").update(reserved=Decimal("1.5"), read_at=now - timedelta(minutes=5))
    page = text(signed_in(auditor).get("/funds/"))
    assert "500.0000" in page
    assert "10.0000" in page
    assert "1.2510 BCH for our payouts" in page, "the amount and the fee of the hold"
    assert "0.2490 BCH unexplained, in the bank account" in page
    assert "255,750.00 USD" in page, "511.5 BCH at 500"
    assert "5 min ago" in page, "the older of both readings"


def test_a_currency_without_a_price_is_named_and_not_counted(signed_in, auditor):
    rows.currency("XYZ", now=clock.now())
    rows.balance("XYZ", now=clock.now())
    page = text(signed_in(auditor).get("/funds/"))
    assert "Not in total (no current price): XYZ." in page
    assert "255,000.00 USD" in page


def test_empty_currencies_show_only_when_asked_for_or_searched(signed_in, auditor):
    rows.currency("LTC", now=clock.now(), full_name="Litecoin")
    client = signed_in(auditor)
    assert codes(client.get("/funds/")) == ["BCH"]
    assert codes(client.get("/funds/?empty=on")) == ["BCH", "LTC"]
    assert codes(client.get("/funds/?text=litec")) == ["LTC"]
    assert codes(client.get("/funds/?text=bCh")) == ["BCH"]
    assert "No matching currency" in text(client.get("/funds/?text=nothing"))


def test_the_order_is_chosen_in_the_address(signed_in, auditor):
    now = clock.now()
    for number, code in enumerate(("AAA", "ZZZ")):
        rows.currency(code, now=now)
        rows.balance(code, now=now - timedelta(minutes=number + 1))
    client = signed_in(auditor)
    assert codes(client.get("/funds/")) == ["BCH", "AAA", "ZZZ"]
    assert codes(client.get("/funds/?sort=currency")) == ["AAA", "BCH", "ZZZ"]
    assert codes(client.get("/funds/?sort=age")) == ["ZZZ", "AAA", "BCH"]


@pytest.mark.parametrize(
    "query", ["sort=nothing", "sort=" + "x" * 999, f"text={HOSTILE}", "empty=\x00", "text=" + "x" * 9999]
)
def test_a_filter_that_makes_no_sense_is_no_error(signed_in, auditor, query):
    response = signed_in(auditor).get(f"/funds/?{query}")
    assert response.status_code == 200
    assert b"<script>alert" not in response.content
    assert "Funds" in text(response)


def test_more_currencies_take_no_more_queries(signed_in, auditor, operator):
    client, now = signed_in(auditor), clock.now()
    rows.held(operator, now=now)

    def queries():
        with CaptureQueriesContext(connection) as seen:
            client.get("/funds/")
        return len(seen)

    queries()
    one = queries()
    for code in ("AAA", "BBB"):
        rows.currency(code, now=now)
        rows.balance(code, now=now)
        rows.held(operator, now=now)
    assert queries() == one


def test_without_an_account_the_page_says_what_would_appear(signed_in, auditor):
    Balance.objects.all().delete()
    from exchange_ops.shared.models import Fact

    Fact.objects.all().delete()
    Account.objects.all().delete()
    assert "No balances synced yet" in text(signed_in(auditor).get("/funds/?empty="))


def test_the_address_is_shown_in_groups_with_a_code_to_scan(signed_in, auditor):
    read(reading_of((ADDRESS, None), ("bchreg:older", None), used=[("bchreg:theirs", "77")]))
    response = signed_in(auditor).get("/funds/BCH/deposit/")
    body = response.content.decode()
    assert "<span>qzd5</span><span>9qv9</span>" in body
    assert f'data-copy="{ADDRESS}"' in body
    assert "Payment ID none" in text(response)
    assert re.search(r'<svg class="qr" role="img" aria-label="[^"]+" viewBox="0 0 (\d+) \1"', body)
    assert "style=" not in re.search(r'<svg class="qr".*?</svg>', body, re.DOTALL)[0]
    assert body.count("bchr") >= 3
    assert "77" in text(response)


def test_the_code_holds_the_whole_address(signed_in, auditor):
    import qrcode

    read(reading_of((ADDRESS, None)))
    body = signed_in(auditor).get("/funds/BCH/deposit/").content.decode()
    drawn = re.search(r'<svg class="qr".*?d="([^"]+)"', body, re.DOTALL)[1]
    dark = set()
    for x, y, length in re.findall(r"M(\d+) (\d+)h(\d+)v1h-\d+z", drawn):
        dark |= {(int(x) + step, int(y)) for step in range(int(length))}
    code = qrcode.QRCode(border=4, error_correction=qrcode.constants.ERROR_CORRECT_M)
    code.add_data(ADDRESS)
    assert dark == {(x, y) for y, line in enumerate(code.get_matrix()) for x, on in enumerate(line) if on}


def test_a_payment_id_is_said_to_be_needed(signed_in, auditor):
    rows.currency("XRP", now=clock.now(), payin_payment_id=True, payin_confirmations=1)
    read(reading_of(("rAddress", "12345")), "XRP")
    page = text(signed_in(auditor).get("/funds/xrp/deposit/"))
    assert "12345" in page
    assert "Required for every deposit" in page
    assert "after 1 confirmation." in page
    read(reading_of(("rAddress", None)), "XRP")
    assert "the exchange returned none" in text(signed_in(auditor).get("/funds/XRP/deposit/"))


def test_a_public_key_stands_beside_its_address(signed_in, auditor):
    made = records.DepositAddress(address="NXT-1", public_key="ab" * 32)
    read(deposits.Reading(made, [made], []))
    assert "Public key " + "ab" * 32 in text(signed_in(auditor).get("/funds/BCH/deposit/"))


def test_closed_deposits_are_said_first_and_no_new_address_is_offered(signed_in, operator):
    rows.currency(now=clock.now(), payin_enabled=False)
    read(reading_of((ADDRESS, None)))
    response = signed_in(operator).get("/funds/BCH/deposit/")
    assert "suspended BCH deposits. Do not send anything" in text(response)
    assert b"/funds/BCH/deposit/new/" not in response.content


def test_an_address_of_the_exchange_is_escaped(signed_in, auditor):
    read(reading_of((HOSTILE, HOSTILE), used=[(HOSTILE, HOSTILE)]))
    assert b"<script>alert" not in signed_in(auditor).get("/funds/BCH/deposit/").content


def test_an_old_copy_asks_for_a_fresh_one_by_itself_and_a_fresh_one_does_not(signed_in, treasury):
    client = signed_in(treasury)
    asks = b'hx-trigger="load"'
    assert asks in client.get("/funds/BCH/deposit/").content
    assert not AddressBook.objects.exists(), "looking writes nothing"
    part = client.post("/funds/BCH/deposit/read/", headers={"HX-Request": "true", "HX-Target": "addresses"})
    assert part.content.decode().lstrip().startswith('<div id="addresses"')
    assert asks not in part.content, "it was asked for just now"
    assert AddressBook.objects.get().requested_by == treasury
    read(reading_of((ADDRESS, None)))
    assert asks not in client.get("/funds/BCH/deposit/").content
    AddressBook.objects.update(answered_at=clock.now() - timedelta(minutes=1))
    assert asks in client.get("/funds/BCH/deposit/").content


def test_an_auditor_only_looks(signed_in, auditor):
    client = signed_in(auditor)
    page = client.get("/funds/BCH/deposit/")
    assert b'hx-trigger="load"' not in page.content
    assert "It loads when an operator opens this page" in text(page)
    assert client.post("/funds/BCH/deposit/read/").status_code == 403
    assert not AddressBook.objects.exists()


def test_reading_without_scripts_leads_back(signed_in, operator):
    response = signed_in(operator).post("/funds/bch/deposit/read/")
    assert (response.status_code, response["Location"]) == (302, "/funds/BCH/deposit/")


@pytest.mark.parametrize("path", ["/funds/NOSUCH/deposit/", "/funds/EUR/deposit/", "/funds/" + "A" * 99 + "/deposit/"])
def test_what_has_no_addresses_is_not_there(signed_in, operator, path):
    rows.currency("EUR", now=clock.now(), crypto=False)
    client = signed_in(operator)
    assert client.get(path).status_code == 404
    assert client.post(f"{path}read/").status_code == 404
    assert client.post(f"{path}new/", {"request_key": str(uuid.uuid4())}).status_code == 404
    assert not AddressBook.objects.exists()


def test_an_operator_asks_for_a_new_address_once(signed_in, operator):
    client, key = signed_in(operator), str(uuid.uuid4())
    page = client.get("/funds/BCH/deposit/")
    assert "Request a new BCH address" in text(page)
    assert "5 of 5 left (24-hour limit)" in text(page)
    for _ in range(2):
        assert client.post("/funds/BCH/deposit/new/", {"request_key": key}).status_code == 302
    row = AddressRequest.objects.get()
    assert (row.state, row.initiator, row.initiated_via) == ("asked", operator, "page")
    reread = text(client.get("/funds/BCH/deposit/"))
    assert "Queued" in reread
    assert "Request a new BCH address" not in reread


@pytest.mark.parametrize("key", ["", "not-a-key", "x" * 500])
def test_a_form_without_its_key_asks_for_nothing(signed_in, operator, key):
    response = signed_in(operator).post("/funds/BCH/deposit/new/", {"request_key": key})
    assert response.status_code == 422
    assert "No new address was requested" in text(response)
    assert not AddressRequest.objects.exists()


def test_the_sixth_of_a_day_is_refused_on_the_page_with_the_hour(signed_in, operator):
    now = clock.now()
    with unguarded(machine.GUARDS):
        for number in range(5):
            row = DepositAddress.objects.create(
                account=rows.account(), currency="BCH", address=f"a-{number}", first_seen_at=now, seen_at=now
            )
            AddressRequest.objects.create(
                account=rows.account(),
                currency="BCH",
                initiator=operator,
                request_key=f"k-{number}",
                state="made",
                made=row,
                sent_at=now - timedelta(hours=number + 1),
                created_at=now,
                updated_at=now,
            )
    client = signed_in(operator)
    hour = f"{now - timedelta(hours=5) + timedelta(hours=24):%Y-%m-%d %H:%M:%S} UTC"
    page = text(client.get("/funds/BCH/deposit/"))
    assert "0 of 5 left (24-hour limit)" in page
    assert f"from {hour}" in page
    response = client.post("/funds/BCH/deposit/new/", {"request_key": str(uuid.uuid4())})
    assert response.status_code == 409
    limit = "The exchange issues at most 5 new BCH addresses per 24 hours"
    assert f"No new address was requested. {limit}" in text(response)
    assert AddressRequest.objects.count() == 5


@pytest.mark.parametrize("role", ["treasury", "admin", "auditor"])
def test_others_see_no_button_and_are_refused(signed_in, make_person, role):
    client = signed_in(make_person(role, username=f"a-{role}"))
    read(reading_of((ADDRESS, None)))
    page = client.get("/funds/BCH/deposit/")
    assert b"/funds/BCH/deposit/new/" not in page.content
    assert "Only operators can request new addresses" in text(page)
    response = client.post("/funds/BCH/deposit/new/", {"request_key": str(uuid.uuid4())})
    assert response.status_code == 403
    assert not AddressRequest.objects.exists()
