"""The rules of the property-token layer: what each operation does, and every reason for which it does nothing."""

from hashlib import sha256

import pytest

from chaindata.wire.tokens import payloads
from chaindata.wire.tokens.amounts import MOST_UNITS
from chaindata.wire.tokens.payloads import (
    Burn,
    ChangeIssuer,
    CloseCrowdsale,
    CreateCrowdsale,
    CreateFixed,
    CreateManaged,
    DestroyCollectible,
    Freeze,
    Grant,
    IssueCollectible,
    IssueCollectibles,
    Participate,
    Revoke,
    SendAll,
    SendToOwners,
    SimpleSend,
    TransferCollectible,
    Unfreeze,
)
from sandbox.chain.tokens import properties_hashes
from sandbox.chain.tokens.properties_terms import BURN_ADDRESS, COIN_SAT, Share
from tests.sandbox.chain.tokens.token_layers import START_S, Layer, picture

A, B, C, D, E = "bchtest:a", "bchtest:b", "bchtest:c", "bchtest:d", "bchtest:e"
TOKEN = 10**8
FAR_S = START_S + 10**9


def fixed(amount: int = 1_000, **more: object) -> CreateFixed:
    return CreateFixed(**{"precision": 0, "name": "Fixed", "amount": amount, **more})


def managed(*, can_freeze: bool = False, **more: object) -> CreateManaged:
    return CreateManaged(**{"precision": 0, "name": "Managed", "previous_id": int(can_freeze), **more})


def crowdsale(**more: object) -> CreateCrowdsale:
    usual = {"precision": 0, "name": "Sold", "tokens_per_unit": 2 * TOKEN, "deadline": FAR_S, "early_bonus": 0}
    return CreateCrowdsale(**{**usual, "total": 1_000, **more})


@pytest.fixture
def layer() -> Layer:
    made = Layer()
    made.enrich(A, B)
    return made


# Burning -------------------------------------------------------------------------------------------------------------


def test_burnt_coins_become_a_hundred_tokens_each_a_block_later():
    layer = Layer()
    record = layer.good(Burn(), A, burnt_sat=COIN_SAT * 3 // 2)
    assert record.effect.units == 150 * TOKEN
    assert layer.state.balance(1, A) == 0
    layer.block()
    assert (layer.state.balance(1, A), layer.state.total(1)) == (150 * TOKEN, 150 * TOKEN)
    layer.block()
    assert layer.state.balance(1, A) == 150 * TOKEN


def test_matured_tokens_can_be_sent_in_the_very_block():
    layer = Layer()
    layer.good(Burn(), A, burnt_sat=COIN_SAT)
    layer.good(SimpleSend(1, 100 * TOKEN), A, B)
    assert layer.state.holders(1) == [(B, 100 * TOKEN)]


@pytest.mark.parametrize("burnt_sat", [0, 1, COIN_SAT - 1])
def test_less_than_a_coin_is_burnt_for_nothing(burnt_sat):
    assert Layer().reason(Burn(), A, burnt_sat=burnt_sat) == "burn BCH is less 1 BCH"


def test_before_its_first_block_the_layer_sees_nothing():
    layer = Layer(height=100)
    assert layer.block(layer.carried(Burn(), A, burnt_sat=COIN_SAT)) == []
    assert layer.good(Burn(), A, burnt_sat=COIN_SAT).moment.height == 101
    layer.block()
    assert layer.state.balance(1, A) == 100 * TOKEN


def test_a_payload_that_means_nothing_is_not_seen(layer):
    carried = layer.carried(Burn(), A)
    assert layer.block(type(carried)(carried.txid, b"\x00\x00\xff\xff", None, A, B, 0)) == []


# Sending -------------------------------------------------------------------------------------------------------------


def test_a_send_moves_tokens_and_without_receiver_nothing(layer):
    layer.good(SimpleSend(1, 30 * TOKEN), A, C)
    assert layer.state.holders(1) == [(A, 70 * TOKEN), (B, 100 * TOKEN), (C, 30 * TOKEN)]
    layer.good(SimpleSend(1, 70 * TOKEN), A)
    assert layer.state.balance(1, A) == 70 * TOKEN
    layer.good(SimpleSend(1, 70 * TOKEN), A, C)
    assert layer.state.holders(1) == [(B, 100 * TOKEN), (C, 100 * TOKEN)]


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        (SimpleSend(1, 0), "Value out of range or zero"),
        (SimpleSend(1, MOST_UNITS + 1), "Value out of range or zero"),
        (SimpleSend(2, 1), "Property does not exist"),
        (SimpleSend(2**32 - 1, 1), "Property does not exist"),
        (SimpleSend(1, 100 * TOKEN + 1), "Sender has insufficient balance"),
        (SendAll(2), "Ecosystem is invalid"),
        (SendAll(0), "Ecosystem is invalid"),
    ],
)
def test_what_can_not_be_sent_has_its_reason(layer, payload, said):
    assert layer.reason(payload, A, B) == said


def test_everything_is_sent_property_by_property(layer):
    layer.good(fixed(), A)
    record = layer.good(SendAll(), A, C)
    assert record.effect.shares == (Share(1, 99 * TOKEN), Share(3, 1_000))
    assert list(layer.state.holdings(C)) == [(1, 99 * TOKEN), (3, 1_000)]
    assert layer.reason(SendAll(), A, C) == "Sender has no tokens to send"


# Sending to owners ---------------------------------------------------------------------------------------------------


def test_owners_get_their_part_rounded_up_the_largest_first():
    layer = Layer()
    layer.enrich(A, B)
    layer.good(fixed(100), A)
    layer.good(fixed(30), B)
    for receiver, units in ((C, 10), (D, 10)):
        layer.good(SimpleSend(4, units), B, receiver)
    record = layer.good(SendToOwners(3, 10, 4), A)
    # 30 tokens among B, C and D: ceil(10/3) = 4, 4, and what is left.
    assert record.effect.shares == (Share(B, 4), Share(C, 4), Share(D, 2))
    assert record.effect.paid == 3
    assert layer.state.balance(1, A) == 99 * TOKEN - 3
    assert layer.state.holders(3) == [(A, 90), (B, 4), (C, 4), (D, 2)]


def test_the_largest_owner_comes_first_and_among_equals_the_first_address(layer):
    layer.good(fixed(100), A)
    layer.good(fixed(11), B)
    for receiver, units in ((C, 1), (D, 7), (E, 1)):
        layer.good(SimpleSend(4, units), B, receiver)
    record = layer.good(SendToOwners(3, 10, 4), A)
    # 11 tokens: ceil(70/11) = 7 for D, ceil(20/11) = 2 for B, and one that is left for C, not for E.
    assert record.effect.shares == (Share(D, 7), Share(B, 2), Share(C, 1))


def test_owners_for_whom_nothing_is_left_get_nothing_and_cost_nothing():
    layer = Layer()
    layer.enrich(A, B)
    layer.good(fixed(100), A)
    layer.good(fixed(30), B)
    for receiver, units in ((C, 9), (D, 1)):
        layer.good(SimpleSend(4, units), B, receiver)
    record = layer.good(SendToOwners(3, 1, 4), A)
    assert (record.effect.shares, record.effect.paid) == ((Share(B, 1),), 1)


def test_the_sender_and_the_frozen_are_no_owners(layer):
    layer.good(managed(can_freeze=True), A)
    layer.good(Grant(3, 100), A, B)
    layer.good(Grant(3, 50), A, C)
    layer.good(Grant(3, 10), A, A)
    layer.good(Freeze(3, 1, C), A, C)
    record = layer.good(SendToOwners(3, 10, 3), A)
    assert record.effect.shares == (Share(B, 10),)
    layer.good(Freeze(3, 1, B), A, B)
    layer.good(Grant(3, 10), A, A)
    assert layer.reason(SendToOwners(3, 10, 3), A) == "No other owners of the property"


def test_what_can_not_be_sent_to_owners_has_its_reason(layer):
    layer.good(fixed(), A)
    for payload, said in (
        (SendToOwners(3, 0, 1), "Value out of range or zero"),
        (SendToOwners(4, 1, 1), "Property does not exist"),
        (SendToOwners(3, 1, 4), "Property does not exist"),
        (SendToOwners(3, 1_001, 1), "Sender has insufficient balance"),
        (SendToOwners(3, 1, 3), "No other owners of the property"),
        (SendToOwners(1, 99 * TOKEN, 1), "Sender has insufficient balance to pay for fee"),
    ):
        assert layer.reason(payload, A) == said
    layer.good(SimpleSend(1, 99 * TOKEN), A, B)
    assert layer.reason(SendToOwners(3, 1, 1), A) == "Sender has insufficient balance to pay for fee"


# Creations -----------------------------------------------------------------------------------------------------------


def test_a_creation_costs_one_token_which_the_burn_address_gets(layer):
    record = layer.good(fixed(123, precision=2, category="c", subcategory="s", url="u", data="d"), A)
    made = layer.state.properties[3]
    assert record.effect.property_id == 3
    assert (made.name, made.precision, made.issuer, made.txid) == ("Fixed", 2, A, record.carried.txid)
    assert (made.category, made.subcategory, made.url, made.data) == ("c", "s", "u", "d")
    assert (made.is_fixed, made.is_managed, layer.state.total(3)) == (True, False, 123)
    assert layer.state.holders(1) == [(A, 99 * TOKEN), (B, 100 * TOKEN), (BURN_ADDRESS, TOKEN)]
    assert layer.good(managed(), B).effect.property_id == 4
    assert layer.good(fixed(MOST_UNITS), B).effect.property_id == 5
    assert (layer.state.total(4), layer.state.total(5)) == (0, MOST_UNITS)


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        (fixed(ecosystem=2), "Ecosystem is invalid"),
        (managed(ecosystem=0), "Ecosystem is invalid"),
        (crowdsale(ecosystem=3), "Ecosystem is invalid"),
        (fixed(0), "Value out of range or zero"),
        (fixed(MOST_UNITS + 1), "Value out of range or zero"),
        (fixed(precision=9), "Invalid property type"),
        (managed(precision=65535), "Invalid property type"),
        (fixed(name=""), "Property name is empty"),
        (crowdsale(name=""), "Property name is empty"),
        (fixed(previous_id=1), "Property does not exist"),
        (managed(previous_id=2), "Property does not exist"),
        (crowdsale(total=0), "Value out of range or zero"),
        (crowdsale(tokens_per_unit=0), "Value out of range or zero"),
        (crowdsale(tokens_per_unit=10**16 + 1), "Value out of range or zero"),
        (crowdsale(desired_id=2), "Property does not exist"),
        (crowdsale(deadline=START_S), "Deadline is in the past"),
        (crowdsale(deadline=2**63), "Deadline is in the past"),
    ],
)
def test_what_can_not_be_created_has_its_reason(layer, payload, said):
    assert layer.reason(payload, A) == said


def test_who_can_not_pay_creates_nothing(layer):
    layer.good(SimpleSend(1, 99 * TOKEN + 1), A, B)
    for payload in (fixed(), managed(), crowdsale(), IssueCollectibles("N", "S", "", "", 1)):
        assert layer.reason(payload, A) == "No enough WHC to pay for create a New property"


# Managed properties --------------------------------------------------------------------------------------------------


def test_grants_and_revocations_make_and_take_tokens(layer):
    layer.good(managed(), A)
    layer.good(Grant(3, 500), A, C)
    layer.good(Grant(3, 100), A)
    layer.good(Revoke(3, 40), A)
    assert (layer.state.holders(3), layer.state.total(3)) == ([(A, 60), (C, 500)], 560)
    for payload, said in (
        (Revoke(3, 61), "Sender has insufficient balance"),
        (Revoke(3, 0), "Value out of range or zero"),
        (Grant(3, 0), "Value out of range or zero"),
        (Grant(3, MOST_UNITS - 559), "Attempt to grant more than the maximum number of tokens"),
        (Grant(4, 1), "Property does not exist"),
        (Grant(1, 1), "Property is not managed"),
        (Revoke(1, 1), "Property is not managed"),
    ):
        assert layer.reason(payload, A, C) == said
    assert layer.reason(Grant(3, 1), B) == layer.reason(Revoke(3, 1), C) == "Sender is not the issuer of the property"
    layer.good(Grant(3, MOST_UNITS - 560), A, C)


def test_the_issuer_changes(layer):
    layer.good(managed(), A)
    assert layer.reason(ChangeIssuer(4), A, B) == "Property does not exist"
    assert layer.reason(ChangeIssuer(3), B, A) == "Sender is not the issuer of the property"
    assert layer.reason(ChangeIssuer(3), A) == "Receiver is empty"
    layer.good(ChangeIssuer(3), A, B)
    assert layer.reason(Grant(3, 1), A) == "Sender is not the issuer of the property"
    layer.good(Grant(3, 1), B)
    layer.good(crowdsale(), A)
    assert layer.reason(ChangeIssuer(4), A, B) == "Sender has an active crowdsale already"
    assert layer.reason(ChangeIssuer(3), B, A) == "Receiver has an active crowdsale"


def test_frozen_tokens_stay_until_they_are_free_again(layer):
    layer.good(managed(can_freeze=True), A)
    for address in (B, C):
        layer.good(Grant(3, 100), A, address)
    record = layer.good(Freeze(3, 7, B), A, B)
    assert record.effect.units == 100
    assert layer.state.is_frozen(3, B)
    assert layer.reason(SimpleSend(3, 1), B, C) == "Sender is frozen for the property"
    assert layer.reason(SimpleSend(3, 1), C, B) == "Receiver is frozen for the property"
    assert layer.reason(SendToOwners(3, 1, 3), B) == "Sender is frozen for the property"
    assert layer.reason(Freeze(3, 1, B), A, B) == "Address is already frozen"
    assert layer.good(SendAll(), B, D).effect.shares == (Share(1, 100 * TOKEN),)
    assert layer.reason(SendAll(), B, D) == "Sender has no tokens to send"
    assert layer.reason(SendAll(), C, B) == "Sender has no tokens to send"
    layer.good(Unfreeze(3, 1, B), A, B)
    assert layer.reason(Unfreeze(3, 1, B), A, B) == "Address is not frozen"
    layer.good(SimpleSend(3, 100), B, C)
    assert layer.state.holders(3) == [(C, 200)]


def test_only_the_issuer_of_what_can_be_frozen_freezes_and_not_itself(layer):
    layer.good(managed(), A)
    layer.good(managed(can_freeze=True), A)
    for payload in (Freeze, Unfreeze):
        assert layer.reason(payload(3, 1, B), A, B) == "Freezing is not enabled for the property"
        assert layer.reason(payload(4, 1, B), B, B) == "Sender is not the issuer of the property"
        assert layer.reason(payload(4, 1, A), A, A) == "Issuer can not freeze or unfreeze its own tokens"
        assert layer.reason(payload(1, 1, B), A, B) == "Property is not managed"
        assert layer.reason(payload(9, 1, B), A, B) == "Property does not exist"


# Crowdsales: the arithmetic has its own tests ------------------------------------------------------------------------


def test_a_sale_pays_its_issuer_and_gives_back_what_is_left_when_it_is_closed(layer):
    layer.good(crowdsale(total=500), A)
    record = layer.good(Participate(10 * TOKEN), B, A)
    assert (record.effect.property_id, record.effect.units, record.effect.paid) == (3, 20, 10 * TOKEN)
    assert layer.state.total(3) == 500
    close = layer.good(CloseCrowdsale(3), A)
    sale = layer.state.sales[3]
    assert layer.state.holders(3) == [(A, 480), (B, 20)]
    assert layer.state.balance(1, A) == 109 * TOKEN
    assert (sale.sold, sale.raised) == (20, 10 * TOKEN)
    assert sale.ending is not None
    assert (sale.ending.is_early, sale.ending.is_sold_out, sale.ending.returned) == (True, False, 480)
    assert (sale.ending.txid, sale.ending.time_s) == (close.carried.txid, close.moment.time_s)
    assert layer.reason(CloseCrowdsale(3), A) == "Sender has no active crowdsale"
    assert layer.reason(Participate(TOKEN), B, A) == "the receive address no have active crowd property"


def test_a_sale_that_sells_out_ends(layer):
    layer.good(crowdsale(total=20), A)
    record = layer.good(Participate(50 * TOKEN), B, A)
    assert (record.effect.units, record.effect.paid) == (20, 10 * TOKEN)
    assert layer.state.balance(1, B) == 90 * TOKEN
    ending = layer.state.sales[3].ending
    assert ending is not None
    assert (ending.is_early, ending.is_sold_out, ending.returned, ending.txid) == (True, True, 0, "")
    layer.good(crowdsale(), A)


def test_a_sale_is_open_in_the_second_of_its_deadline_and_over_in_the_next():
    layer = Layer()
    layer.enrich(A, B)
    layer.good(crowdsale(deadline=layer.moment.time_s + 1_000), A)
    layer.good(Participate(TOKEN), B, A, later_s=400)
    (record,) = layer.block(layer.carried(Participate(TOKEN), B, A), later_s=1)
    assert record.reason == "the receive address no have active crowd property"
    ending = layer.state.sales[3].ending
    assert ending is not None
    assert (ending.is_early, ending.is_sold_out, ending.returned) == (False, False, 998)
    assert layer.state.balance(3, A) == 998


@pytest.mark.parametrize(
    ("payload", "sender", "receiver", "said"),
    [
        (Participate(0), B, A, "Value out of range or zero"),
        (Participate(1, 3), B, A, "Property identifier mismatch"),
        (Participate(1, 9), B, A, "Property does not exist"),
        (Participate(100 * TOKEN + 1), B, A, "Sender has insufficient balance"),
        (Participate(1), B, C, "the receive address no have active crowd property"),
        (Participate(1), B, "", "the receive address no have active crowd property"),
        (Participate(1), A, A, "the crowdsale sender and issuer have same address"),
        (CloseCrowdsale(9), A, "", "Property does not exist"),
        (CloseCrowdsale(1), A, "", "Property identifier mismatch"),
        (CloseCrowdsale(3), B, "", "Sender has no active crowdsale"),
        (crowdsale(), A, "", "Sender has an active crowdsale already"),
        (crowdsale(desired_id=3), B, "", "Property identifier mismatch"),
    ],
)
def test_what_can_not_be_done_with_a_sale_has_its_reason(layer, payload, sender, receiver, said):
    layer.good(crowdsale(), A)
    assert layer.reason(payload, sender, receiver) == said


# Collectibles --------------------------------------------------------------------------------------------------------


def issued(layer: Layer, token_id: int = 0, receiver: str = "") -> int:
    return layer.good(IssueCollectible(1, token_id, 7, "u"), A, receiver).effect.token_id


def test_collectibles_are_issued_transferred_and_destroyed(layer):
    assert layer.good(IssueCollectibles("Cats", "CAT", "d", "u", 4), A).effect.property_id == 1
    assert layer.state.balance(1, A) == 99 * TOKEN
    assert [issued(layer), issued(layer, 3, B), issued(layer), issued(layer)] == [1, 3, 2, 4]
    gallery = layer.state.gallery
    assert [each.id for each in gallery.owned(1, A)] == [1, 2, 4]
    layer.good(TransferCollectible(1, 2), A, B)
    assert [each.id for each in gallery.owned(1, B)] == [2, 3]
    assert layer.reason(TransferCollectible(1, 2), A, C) == "Sender is not the owner of the token"
    layer.good(DestroyCollectible(1, 2), B)
    assert [each.id for each in gallery.owned(1, BURN_ADDRESS)] == [2]
    family = gallery.families[1]
    assert (family.most, family.issued, family.destroyed) == (4, 4, 1)
    # What is destroyed is issued all the same.
    assert layer.reason(IssueCollectible(1, 0, 0, ""), A) == "Attempt to grant more than the maximum number of tokens"


def test_what_can_not_be_done_with_collectibles_has_its_reason(layer):
    layer.good(IssueCollectibles("Cats", "CAT", "d", "u", 2), A)
    issued(layer)
    for payload, sender, said in (
        (IssueCollectibles("", "CAT", "", "", 1), A, "Property name is empty"),
        (IssueCollectibles("N", "CAT", "", "", 0), A, "Value out of range or zero"),
        (IssueCollectible(2, 0, 0, ""), A, "Property does not exist"),
        (IssueCollectible(1, 0, 0, ""), B, "Sender is not the issuer of the property"),
        (IssueCollectible(1, 1, 0, ""), A, "Token exists already"),
        (TransferCollectible(2, 1), A, "Property does not exist"),
        (TransferCollectible(1, 2), A, "Token does not exist"),
        (TransferCollectible(1, 1), A, "Receiver is empty"),
        (DestroyCollectible(1, 1), B, "Sender is not the owner of the token"),
        (DestroyCollectible(1, 2**256 - 1), A, "Token does not exist"),
    ):
        assert layer.reason(payload, sender) == said


def test_collectibles_begin_later_than_the_rest():
    layer = Layer(height=101)
    layer.enrich(A)
    while layer.moment.height < 108:
        layer.block()
    for payload in payloads.KINDS.values():
        if payload.key[0] == 9:
            values = {"property_id": 1, "token_id": 0, "attribute": 0, "name": "N", "symbol": "", "data": "", "url": ""}
            wanted = {form.name for form in payload.layout}
            made = payload(**{name: value for name, value in {**values, "most": 1}.items() if name in wanted})
            before = picture(layer.state)
            (record,) = layer.block(layer.carried(made, A, B))
            if layer.moment.height < 110:
                assert record.reason == "Transaction type or version not permitted"
                assert picture(layer.state) == before
    assert layer.good(IssueCollectibles("N", "", "", "", 1), A).moment.height >= 110


# Digests -------------------------------------------------------------------------------------------------------------


def reversed_sha256(text: str) -> str:
    return sha256(text.encode()).digest()[::-1].hex()


def test_the_digests_are_of_the_documented_texts(layer):
    layer.good(fixed(77), B)
    layer.good(crowdsale(), A)
    layer.good(SimpleSend(3, 7), B, A)
    layer.good(Participate(TOKEN), B, A)
    balances = [
        f"{A}|1|10000000000|0|0|0",
        f"{A}|3|7|0|0|0",
        f"{B}|1|9800000000|0|0|0",
        f"{B}|3|70|0|0|0",
        f"{B}|4|2|0|0|0",
        f"{BURN_ADDRESS}|1|200000000|0|0|0",
    ]
    sales, issuers = [f"4|1|{FAR_S}|2|0"], [f"1|{BURN_ADDRESS}", f"3|{B}", f"4|{A}"]
    assert properties_hashes.consensus(layer.state) == reversed_sha256("".join(balances + sales + issuers))
    assert properties_hashes.balances(layer.state, 3) == reversed_sha256(f"{A}|3|7|0|0|0{B}|3|70|0|0|0")
    assert properties_hashes.balances(layer.state, 99) == reversed_sha256("")


def test_the_burn_address_is_the_one_of_regression_test_chains():
    assert BURN_ADDRESS == "bchtest:" + BURN_ADDRESS.partition(":")[2]
    assert BURN_ADDRESS.partition(":")[2].startswith("pqqqqqqqqqqqqqqqqqqqqqqqqqqqqp")
