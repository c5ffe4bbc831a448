"""A customer of the token groups from burning to owning: payloads made by the service, transactions signed elsewhere.

Everything goes over HTTP; only keys and signatures are the test's own.
"""

from typing import Any

import pytest

from chaindata.wire import addresses
from chaindata.wire.scripts import steps
from chaindata.wire.tokens import payloads
from chaindata.wire.transactions import Output
from sandbox.chain.node.terms import Owned
from sandbox.chain.wallet import Purse, signed
from tests.sandbox.chain.conftest import ChainService

BURN = steps.locking(addresses.read("bchreg:pqqqqqqqqqqqqqqqqqqqqqqqqqqqqp0kvc457r8whc"))
FEE_SAT = 1_000
DUST_SAT = 546


class Customer:
    """Somebody with one key and one coin, which every transaction spends."""

    def __init__(self, service: ChainService, name: str, coins: str) -> None:
        self.service, self.purse = service, Purse(77, name)
        self.address = addresses.Address(
            addresses.Network.TEST, self.purse.address.kind, self.purse.address.hash
        ).cash_address
        self.control("chain/pay", {"address": self.address, "amount": coins})
        self.mine()
        self.coin = self._first_coin()

    def control(self, name: str, body: object) -> Any:
        assert self.service.box is not None
        return self.service.box.control(name, body)

    def mine(self, blocks: int = 1) -> None:
        self.control("chain/mine", {"blocks": blocks})

    def _first_coin(self) -> Owned:
        row = self.service.good(f"/v2/address/utxo/{self.address}")["utxos"][0]
        output = Output(row["satoshis"], self.purse.script)
        return Owned(bytes.fromhex(row["txid"])[::-1], row["vout"], output, None, False)

    def say(self, name: str, body: object = None, *, to: str = "", burnt_sat: int = 0) -> str:
        """Lets the service make a payload, sends it to somebody, and mines; the id of the transaction."""
        payload = bytes.fromhex(self.service.good(f"/v2/payloadCreation/{name}", body))
        outputs = [Output(burnt_sat, BURN)] if burnt_sat else []
        outputs.append(Output(0, payloads.carrier(payload)))
        paid_sat = burnt_sat + FEE_SAT + (DUST_SAT if to else 0)
        change = Output(self.coin.output.value_sat - paid_sat, self.purse.script)
        at = len(outputs)
        outputs.append(change)
        if to:
            outputs.append(Output(DUST_SAT, steps.locking(addresses.read(to))))
        made = signed([self.coin], outputs, [self.purse])
        self.coin = Owned(made.txid_bytes, at, change, None, False)
        sent = self.service.good("/v2/rawtransactions/sendRawTransaction", {"hexes": [made.raw.hex()]})
        assert sent == [made.txid]
        self.mine()
        return made.txid

    def balance(self, property_id: int, address: str = "") -> str:
        found = self.service.good(f"/v2/dataRetrieval/balance/{address or self.address}/{property_id}")
        return str(found["balance"])


HEAD = {
    "ecosystem": "1",
    "propertyPrecision": 2,
    "previousId": 0,
    "category": "c",
    "subcategory": "s",
    "name": "Journey",
    "url": "journey.test",
    "data": "d",
}


@pytest.fixture
def ann(service: ChainService) -> Customer:
    if service.box is None:
        pytest.skip("this needs the control plane")
    service.box.control("reset", {"seed": 1})
    return Customer(service, "ann", "9")


def test_from_burning_to_a_property_of_ones_own(service: ChainService, ann: Customer) -> None:
    bob = Customer(service, "bob", "3")
    burnt = ann.say("burnBCH", burnt_sat=2 * 10**8)
    assert service.good(f"/v2/dataRetrieval/transaction/{burnt}")["mature"] is False
    assert ann.balance(1) == "0.00000000"
    ann.mine()
    assert service.good(f"/v2/dataRetrieval/transaction/{burnt}")["mature"] is True
    assert ann.balance(1) == "200.00000000"
    made = ann.say("fixed", HEAD | {"amount": "1000"})
    record = service.good(f"/v2/dataRetrieval/transaction/{made}")
    property_id = record["propertyid"]
    assert (record["valid"], record["amount"], ann.balance(1)) == (True, "1000.00", "199.00000000")
    sent = ann.say("simpleSend", {"propertyId": property_id, "amount": "12.5"}, to=bob.address)
    assert bob.balance(property_id) == "12.50"
    record = service.good(f"/v2/dataRetrieval/transaction/{sent}")
    assert (record["sendingaddress"], record["referenceaddress"], record["fee"]) == (ann.address, bob.address, "1000")
    shared = ann.say("STO", {"propertyId": property_id, "amount": "7", "distributionProperty": property_id})
    answer = service.good(f"/v2/dataRetrieval/STO/{shared}/*")
    assert answer["recipients"] == [{"address": bob.address, "amount": "7.00"}]
    assert (answer["totalstofee"], ann.balance(1)) == ("0.00000001", "198.99999999")
    for name, body, reason in (
        ("simpleSend", {"propertyId": property_id, "amount": "980.51"}, "Sender has insufficient balance"),
        ("grant", {"propertyId": property_id, "amount": "1"}, "Property is not managed"),
        ("closeCrowdSale", {"propertyId": property_id}, "Sender has no active crowdsale"),
    ):
        record = service.good(f"/v2/dataRetrieval/transaction/{ann.say(name, body)}")
        assert (record["valid"], record["invalidreason"]) == (False, reason)
    ann.say("sendAll", {"ecosystem": 1}, to=bob.address)
    assert (ann.balance(property_id), bob.balance(property_id)) == ("0.00", "1000.00")
    assert service.good(f"/v2/dataRetrieval/balancesForAddress/{ann.address}") == "No tokens found."


def test_a_property_that_can_be_frozen_granted_and_handed_over(service: ChainService, ann: Customer) -> None:
    bob = Customer(service, "bob", "3")
    ann.say("burnBCH", burnt_sat=10**8)
    ann.mine()
    made = ann.say("managed", HEAD | {"previousId": 1, "propertyPrecision": 4})
    property_id = service.good(f"/v2/dataRetrieval/transaction/{made}")["propertyid"]
    about = {"propertyId": property_id}
    ann.say("grant", about | {"amount": "10.5", "memo": "for Bob"}, to=bob.address)
    frozen = ann.say("freeze", about | {"toAddress": bob.address})
    record = service.good(f"/v2/dataRetrieval/transaction/{frozen}")
    assert (record["referenceaddress"], record["amount"]) == (bob.address, "10.5000")
    assert service.good(f"/v2/dataRetrieval/frozenBalance/{bob.address}/{property_id}")["frozen"] is True
    refused = bob.say("simpleSend", about | {"amount": "1"}, to=ann.address)
    record = service.good(f"/v2/dataRetrieval/transaction/{refused}")
    assert record["invalidreason"] == "Sender is frozen for the property"
    ann.say("unfreeze", about | {"toAddress": bob.address})
    bob.say("simpleSend", about | {"amount": "4"}, to=ann.address)
    ann.say("revoke", about | {"amount": "1.5"})
    assert (ann.balance(property_id), bob.balance(property_id)) == ("2.5000", "6.5000")
    ann.say("changeIssuer", about, to=bob.address)
    answer = service.good(f"/v2/dataRetrieval/grants/{property_id}")
    assert (answer["issuer"], answer["totaltokens"], len(answer["issuances"])) == (bob.address, "9.0000", 2)


def test_a_sale_is_opened_bought_from_closed_and_undone_by_a_reorganisation(
    service: ChainService, ann: Customer
) -> None:
    bob = Customer(service, "bob", "3")
    ann.say("burnBCH", burnt_sat=10**8)
    bob.say("burnBCH", burnt_sat=10**8)
    ann.mine()
    sale = {
        "propertyIdDesired": 1,
        "tokensPerUnit": "2.5",
        "deadline": 4102444800,
        "earlyBonus": "0",
        "totalNumber": "100",
    }
    made = ann.say("crowdsale", HEAD | sale)
    property_id = service.good(f"/v2/dataRetrieval/transaction/{made}")["propertyid"]
    bought = bob.say("participateCrowdSale", {"amount": "10"}, to=ann.address)
    record = service.good(f"/v2/dataRetrieval/transaction/{bought}")
    assert (record["purchasedpropertyid"], record["purchasedtokens"]) == (property_id, "25.00")
    assert (record["actualInvested"], record["issuertokens"]) == ("10.00000000", "0.00")
    closed = ann.say("closeCrowdSale", {"propertyId": property_id})
    answer = service.good(f"/v2/dataRetrieval/crowdSale/{property_id}?verbose=true")
    assert (answer["active"], answer["closetx"], answer["addedissuertokens"]) == (False, closed, "75.00")
    assert (ann.balance(property_id), bob.balance(property_id), ann.balance(1)) == ("75.00", "25.00", "109.00000000")
    before = service.good("/v2/dataRetrieval/currentConsensusHash")
    ann.control("chain/reorg", {"depth": 2})
    assert service.good(f"/v2/dataRetrieval/crowdSale/{property_id}")["active"] is True
    assert (ann.balance(property_id), bob.balance(property_id), bob.balance(1)) == ("0.00", "0.00", "100.00000000")
    waiting = service.good(f"/v2/dataRetrieval/pendingTransactions/{ann.address}")
    assert {each["txid"] for each in waiting} == {bought, closed}
    for each in waiting:
        assert each["confirmations"] == 0
        assert "valid" not in each
    assert service.good("/v2/dataRetrieval/currentConsensusHash")["consensushash"] != before["consensushash"]
