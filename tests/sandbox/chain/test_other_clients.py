"""A client that others wrote for this interface runs against the sandbox unchanged: bitcash, by its own calls."""

from decimal import Decimal

import pytest
from bitcash import PrivateKeyRegtest
from bitcash.network.APIs.BitcoinDotComAPI import BitcoinDotComAPI
from bitcash.network.meta import Unspent
from bitcash.types import Network

from chaindata.wire import addresses
from chaindata.wire.scripts import steps
from tests.sandbox.chain.conftest import ChainService

SAT = 100_000_000


@pytest.fixture
def api(service: ChainService) -> BitcoinDotComAPI:
    """bitcash's own client of this interface."""
    if service.box is None:
        pytest.skip("it pays from the sandbox's own coins")
    return BitcoinDotComAPI(service.url + "/v2/", network=Network.regtest)


def test_a_key_is_funded_pays_and_is_seen_to_have_paid(service: ChainService, api: BitcoinDotComAPI) -> None:
    payer, payee = PrivateKeyRegtest(), PrivateKeyRegtest()
    service.box.control("chain/pay", {"address": payer.address, "amount": "2.5"})
    assert api.get_balance(payer.address) == 5 * SAT // 2
    assert [coin.confirmations for coin in api.get_unspent(payer.address)] == [0]
    height = api.get_blockheight()
    service.box.control("chain/mine", {"blocks": 1})
    assert api.get_blockheight() == height + 1
    coins = api.get_unspent(payer.address)
    assert [(coin.amount, coin.confirmations) for coin in coins] == [(5 * SAT // 2, 1)]

    raw = payer.create_transaction([(payee.address, 1, "bch")], unspents=coins, fee=2)
    assert api.broadcast_tx(raw)
    bent = raw[:-12] + ("0" if raw[-12] != "0" else "1") + raw[-11:]
    assert not api.broadcast_tx(bent), "a signature is good for these outputs alone"
    (txid,) = api.get_transactions(payee.address)
    paid = api.get_transaction(txid)
    assert paid.amount_in == 5 * SAT // 2
    assert paid.amount_fee == paid.amount_in - paid.amount_out > 0
    assert (paid.outputs[0].address, paid.outputs[0].amount) == (_test_form(payee), SAT)
    assert [part.address for part in paid.inputs] == [_test_form(payer)]
    assert api.get_tx_amount(txid, 0) == SAT
    assert api.get_raw_transaction(txid)["vout"][0]["value"] == "1.00000000"
    assert api.get_balance(payee.address) == SAT


def test_its_coins_are_those_of_the_chain(service: ChainService, api: BitcoinDotComAPI) -> None:
    key = PrivateKeyRegtest()
    for amount in ("0.1", "0.20000001"):
        service.box.control("chain/pay", {"address": key.address, "amount": amount})
    coins: list[Unspent] = api.get_unspent(key.address)
    assert sum(coin.amount for coin in coins) == Decimal("0.30000001") * SAT
    assert {coin.script for coin in coins} == {steps.locking(addresses.read(key.address)).hex()}


def _test_form(key: PrivateKeyRegtest) -> str:
    """The address as the service prints it: with the prefix of the test network."""
    found = addresses.read(key.address)
    return addresses.cash_encode("bchtest", found.kind, found.hash)
