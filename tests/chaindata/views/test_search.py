"""The one search box: everything on the chain beside what the desk itself has, and a single hit opens at once."""

import re

import pytest

from chaindata.cache.models import ChainAnswer
from desk import clock
from tests.chaindata.views import rows
from tests.chaindata.views.rows import OURS, h
from tests.exchange_ops import rows as desk_rows

pytestmark = pytest.mark.django_db

TXID = h(5, "e")


def found(client, text):
    """Where a search leads: an address, or the addresses that its page lists."""
    response = client.get("/search/", {"q": text})
    if response.status_code == 302:
        return response["Location"]
    assert response.status_code == 200
    main = response.content.decode().partition('<main id="main"')[2]
    return re.findall(r'<a href="([^"]*)" data-row-link', main.partition("<footer")[0])


@pytest.mark.parametrize(
    "text",
    [
        OURS.cash_address,
        f"  {OURS.legacy_address} ",
        OURS.slp_address.upper(),
        OURS.cash_address.partition(":")[2],
    ],
)
def test_an_address_in_any_form_opens_its_page(client, text):
    assert found(client, text) == f"/chain/address/{OURS.cash_address}/"


def test_a_height_opens_its_block_as_far_as_the_chain_goes(client):
    rows.tip(9, at=clock.now())
    assert found(client, "9") == "/chain/block/9/"
    assert found(client, "007") == "/chain/block/7/"
    assert found(client, "10") == []


def test_a_hash_of_a_block_opens_the_block_and_any_other_the_transaction(client):
    rows.tip(9, at=clock.now())
    assert found(client, h(9).upper()) == f"/chain/block/{h(9)}/"
    assert found(client, TXID) == f"/chain/tx/{TXID}/"


def test_a_token_is_found_by_its_id_and_by_its_name(client):
    token = {"id": TXID, "decimals": 2, "symbol": "MEOW", "name": "Cats"}
    rows.answered("get_slp_token", token, at=clock.now(), tokenId=TXID)
    rows.answered("get_slp_tokens", [token], at=clock.now())
    assert found(client, TXID) == [f"/chain/tokens/{TXID}/", f"/chain/tx/{TXID}/"]
    assert found(client, "meow") == f"/chain/tokens/{TXID}/"
    assert found(client, "CATS") == f"/chain/tokens/{TXID}/"
    assert [hit for hit in found(client, "cat") if hit.startswith("/chain/")] == []


def test_a_property_is_found_by_its_number_and_by_its_name(client):
    listed = {"propertyid": 3, "name": "Gold", "category": "", "subcategory": "", "data": "", "url": "", "precision": 0}
    rows.answered("get_properties", [listed], at=clock.now())
    assert found(client, "3") == "/chain/tokens/3/"
    assert found(client, "gold") == "/chain/tokens/3/"


def test_our_own_withdrawal_opens_first_and_leads_on_to_its_transaction(client, operator):
    row = desk_rows.held(operator, now=clock.now())
    type(row).objects.filter(pk=row.pk).update(hash=TXID)
    assert found(client, TXID) == f"/withdrawals/{row.pk}/"


def test_an_address_that_we_paid_lists_both(client, operator):
    row = desk_rows.held(operator, now=clock.now())
    hits = found(client, desk_rows.ADDRESS)
    assert any(hit.startswith("/chain/address/") for hit in hits)
    assert f"/withdrawals/{row.pk}/" in hits


def test_a_number_of_a_withdrawal_that_is_a_height_too_lists_both(client, operator):
    row = desk_rows.held(operator, now=clock.now())
    rows.tip(row.pk + 5, at=clock.now())
    assert found(client, str(row.pk)) == [f"/chain/block/{row.pk}/", f"/withdrawals/{row.pk}/"]
    assert found(client, f"W-{row.pk}") == f"/withdrawals/{row.pk}/"


@pytest.mark.parametrize("text", ["", "\0", "'; --", "x" * 200, "9" * 40, "0x" + "a" * 64, "#", "a#1", "%", "é" * 60])
def test_an_odd_text_is_only_a_text(client, text):
    assert client.get("/search/", {"q": text}).status_code == 200


def test_what_nobody_has_met_is_asked_for_when_its_page_opens(client):
    found(client, TXID)
    wanted = ChainAnswer.objects.filter(operation="get_transaction_details")
    assert [row.arguments for row in wanted] == [{"txid": TXID}]


def test_a_name_is_looked_for_in_lists_that_come_later(client):
    page = client.get("/search/", {"q": "EMBR"}).content.decode()
    assert "Searching the blockchain" in page
    token = {"id": TXID, "decimals": 2, "symbol": "EMBR", "name": "Ember"}
    rows.answered("get_slp_tokens", [token], at=clock.now())
    part = client.get("/search/?q=EMBR", headers={"HX-Request": "true", "HX-Target": "places"})
    assert part.status_code == 200, "what htmx asks for is never led elsewhere"
    assert f"/chain/tokens/{TXID}/" in part.content.decode()
