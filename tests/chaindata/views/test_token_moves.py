"""What an address did with tokens, what of it is frozen, whom a send to owners reached, and the state of the layer."""

import pytest

from chaindata.cache.models import ChainAnswer
from chaindata.wire.tokens import payloads
from desk import clock
from tests.chaindata.views import rows
from tests.chaindata.views.rows import OURS, THEIRS, h
from tests.chaindata.views.test_token_pages import text_of

pytestmark = pytest.mark.django_db
ADDRESS, TXID = OURS.cash_address, h(7, "e")
PAGE = f"/chain/address/{ADDRESS}/"


@pytest.fixture(autouse=True)
def _networks(settings):
    settings.CHAIN_NETWORKS = ("regtest", "test")
    rows.tip(20, at=clock.now())


def moved(**changes):
    members = {"txid": TXID, "fee": "300", "sendingaddress": ADDRESS, "ismine": False, "version": 0}
    members |= {"type_int": 3, "type": "Send To Owners", "confirmations": 1, "propertyid": 4, "propertyname": "Quay"}
    return members | {"amount": "2.5", "valid": True} | changes


def past(amounts, **changes):
    outputs = [{"address": address, "amount": amount} for address, amount in amounts]
    detail = {"decimals": 2, "tokenIdHex": h(1, "b"), "transactionType": "SEND", "versionType": 1, "symbol": "EMBR"}
    return {"txid": TXID, "tokenDetails": {"valid": True, "detail": detail | {"outputs": outputs}} | changes}


def test_what_waits_and_what_was_in_any_form_of_the_address(client):
    rows.answered("get_pending_token_transactions", [moved(valid=None)], at=clock.now(), address=ADDRESS)
    sent = past([(OURS.slp_address, "25"), (THEIRS.slp_address, "3"), (OURS.legacy_address, "1.5")])
    rows.answered("get_slp_history_of_address", [sent], at=clock.now(), address=ADDRESS)
    text = text_of(client.get(PAGE))
    assert "Send To Owners of property 4, Quay" in text
    assert "26.5 EMBR" in text
    assert "Send of EMBR" in text


def test_what_went_elsewhere_and_what_was_not_valid_is_said(client):
    rows.answered("get_pending_token_transactions", [], at=clock.now(), address=ADDRESS)
    lost = past([("no address", "3")], valid=False, invalidReason="Outputs exceed inputs.")
    rows.answered("get_slp_history_of_address", [lost], at=clock.now(), address=ADDRESS)
    text = text_of(client.get(PAGE))
    for piece in ("no tokens received", "Invalid", "Outputs exceed inputs."):
        assert piece in text, piece


def test_an_address_without_tokens_says_so_once_it_was_read(client):
    assert "It moved no tokens" not in text_of(client.get(PAGE))
    rows.answered("get_pending_token_transactions", [], at=clock.now(), address=ADDRESS)
    rows.answered("get_slp_history_of_address", [], at=clock.now(), address=ADDRESS)
    assert "No SLP token transactions and nothing unconfirmed." in text_of(client.get(PAGE))


def test_a_long_past_is_cut_and_counted(client):
    many = [past([(ADDRESS, "1")]) for _ in range(40)]
    rows.answered("get_slp_history_of_address", many, at=clock.now(), address=ADDRESS)
    assert "25 of 40." in text_of(client.get(PAGE))


def test_frozen_balances_are_marked_and_asked_for_only_where_there_are_properties(client):
    rows.answered("get_slp_balances_of_address", [], at=clock.now(), address=ADDRESS)
    rows.answered("get_token_balances_of_address", "No tokens found.", at=clock.now(), address=ADDRESS)
    client.get(PAGE)
    frozen = ChainAnswer.objects.filter(operation="get_frozen_balances_of_address")
    assert not frozen.exists()
    owned = [{"propertyid": number, "balance": "5", "reserved": "0"} for number in (4, 5)]
    rows.answered("get_token_balances_of_address", owned, at=clock.now(), address=ADDRESS)
    balances = [{"propertyid": 4, "balance": "5"}]
    rows.answered("get_frozen_balances_of_address", balances, at=clock.now(), address=ADDRESS)
    text = text_of(client.get(PAGE))
    assert text.count("Frozen by issuer") == 1
    assert text.index("property 4") < text.index("Frozen by issuer") < text.index("property 5")


def sent_to_owners():
    shared = payloads.SendToOwners(property_id=4, amount=250, distribution_property=4)
    script = payloads.carrier(shared.raw).hex()
    vout = [rows.output(0, "0.00000000", script), rows.output(1, "0.5", rows.paying(THEIRS))]
    rows.answered("get_transaction_details", rows.details(TXID, vout=vout), at=clock.now(), txid=TXID)


def test_the_owners_whom_a_send_reached_are_listed_the_largest_first(client):
    sent_to_owners()
    rows.answered("get_token_transaction", moved(), at=clock.now(), txid=TXID)
    reached = [{"address": THEIRS.cash_address, "amount": "0.5"}, {"address": ADDRESS, "amount": "2"}]
    answer = moved(totalstofee="0.00000002", recipients=reached)
    rows.answered("get_send_to_owners", answer, at=clock.now(), txid=TXID, recipientFilter="*")
    text = text_of(client.get(f"/chain/tx/{TXID}/"))
    assert "Sent to 2 holders" in text
    assert "0.00000002 WHC" in text
    after = text.partition("Sent to 2 holders")[2]
    assert after.index(" 2 ") < after.index("0.5")


def test_recipients_are_asked_for_only_of_a_valid_send_to_owners(client):
    sent_to_owners()
    for changes in ({"valid": False}, {"type_int": 0}):
        rows.answered("get_token_transaction", moved(**changes), at=clock.now(), txid=TXID)
        client.get(f"/chain/tx/{TXID}/")
    assert not ChainAnswer.objects.filter(operation="get_send_to_owners").exists()


def test_the_bytes_of_a_message_stand_beside_those_that_the_layer_read(client):
    sent_to_owners()
    client.get(f"/chain/tx/{TXID}/")
    assert not ChainAnswer.objects.filter(operation="get_payload").exists(), "only of what the layer knows"
    rows.answered("get_token_transaction", moved(valid=False), at=clock.now(), txid=TXID)
    raw = payloads.SendToOwners(property_id=4, amount=250, distribution_property=4).raw.hex()
    text = text_of(client.get(f"/chain/tx/{TXID}/"))
    assert raw in text
    assert "The layer read" not in text
    rows.answered("get_payload", {"payload": raw.upper(), "payloadsize": 20}, at=clock.now(), txid=TXID)
    assert "The service decoded the same payload." in text_of(client.get(f"/chain/tx/{TXID}/"))
    rows.answered("get_payload", {"payload": "00000000", "payloadsize": 4}, at=clock.now(), txid=TXID)
    assert "The service decoded a different payload: 00000000" in text_of(client.get(f"/chain/tx/{TXID}/"))


def test_the_last_blocks_with_transactions_of_the_layer_are_linked(client):
    state = {"tokenprotocolversion": "0.2.1", "block": 150, "blocktime": 1_763_700_000, "blocktransactions": 1}
    rows.answered("get_token_layer", state | {"totaltransactions": 9, "alerts": []}, at=clock.now())
    assert "of the last 100" not in text_of(client.get("/chain/"))
    window = {"startBlock": 51, "endBlock": 150}
    rows.answered("get_seed_blocks", [60, 149], at=clock.now(), **window)
    response = client.get("/chain/")
    assert "149 , 60 in the last 100" in text_of(response)
    assert 'href="/chain/block/149/"' in response.content.decode()
    rows.answered("get_seed_blocks", list(range(60, 75)), at=clock.now(), **window)
    assert "63 and 3 more in the last 100" in text_of(client.get("/chain/"))
    rows.answered("get_seed_blocks", [], at=clock.now(), **window)
    assert "none in the last 100" in text_of(client.get("/chain/"))


def test_the_state_of_the_layer_and_its_alerts(client):
    state = {"tokenprotocolversion": "0.2.1", "block": 19, "blocktime": 1_763_700_000, "blocktransactions": 1}
    state |= {"totaltransactions": 2034, "alerts": ["Upgrade <b>now</b>"]}
    rows.answered("get_token_layer", state, at=clock.now())
    digest = {"block": 19, "blockhash": h(19), "consensushash": h(3, "c")}
    rows.answered("get_consensus_hash", digest, at=clock.now())
    response = client.get("/chain/")
    text = text_of(response)
    for piece in ("block 19", "2,034", "0.2.1", h(3, "c"), "Upgrade <b>now</b>"):
        assert piece in text, piece
    assert "<b>now" not in response.content.decode()


def test_transactions_of_a_block_that_move_property_tokens_are_marked(client):
    txids = [h(1, "e"), TXID]
    rows.answered("get_block_by_height", rows.block(7, txids=txids, tip_height=20), at=clock.now(), height=7)
    for txid in txids:
        rows.answered("get_transaction_details", rows.details(txid, height=7), at=clock.now(), txid=txid)
    assert "property tokens" not in text_of(client.get("/chain/block/7/"))
    rows.answered("get_token_transactions_of_block", [TXID], at=clock.now(), index=7)
    text = text_of(client.get("/chain/block/7/"))
    assert text.count("property tokens") == 1
    assert text.index("2 transactions") < text.rindex(TXID[-8:]) < text.index("property tokens")


def test_a_block_off_the_chain_is_not_asked_about_by_its_height(client):
    lost = rows.block(7, txids=[TXID], tip_height=20, isMainChain=False)
    rows.answered("get_block_by_hash", lost, at=clock.now(), hash=h(7))
    client.get(f"/chain/block/{h(7)}/")
    assert not ChainAnswer.objects.filter(operation="get_token_transactions_of_block").exists()
