"""Every operation by its name against the sandbox: its answers read as records, and no member is left unnamed."""

from decimal import Decimal
from typing import Any

import pytest

from chaindata.client import ChainClient, open_transport
from chaindata.wire import catalogue
from sandbox.serving import InProcessSandbox
from tests.chaindata.test_client_methods import ACTING, WITH_KEY
from wire import records

HEAD = {
    "ecosystem": "1",
    "propertyPrecision": 3,
    "previousId": 0,
    "category": "company",
    "subcategory": "compute",
    "name": "name",
    "url": "www.example.test",
    "data": "data",
}


@pytest.fixture(scope="module", params=["documented", "observed"])
def client(request):
    with InProcessSandbox(seed=1, still=True, dialect=request.param) as box:
        client = ChainClient(open_transport(base_url=box.url))
        yield client
        client.close()


@pytest.fixture(scope="module")
def known(client) -> dict[str, Any]:
    """Things of the seeded chain to ask for."""
    tip = client.call("get_block_by_hash", hash=client.call("get_best_block_hash"))
    waiting = client.call("get_raw_mempool")
    token = next(each for each in client.call("get_slp_tokens") if each.valid_addresses)
    holder = client.call("get_slp_balances_of_token", tokenId=token.id)[0].slp_address
    properties = [client.call("get_property", propertyId=each.propertyid) for each in client.call("get_properties")]
    heights = client.call("get_seed_blocks", startBlock=0, endBlock=tip.height)
    token_txids = [txid for height in heights for txid in client.call("get_token_transactions_of_block", index=height)]
    transactions = [client.call("get_token_transaction", txid=txid) for txid in token_txids]
    crowdsale = next(
        each.propertyid
        for each in properties
        if not each.fixedissuance and not each.managedissuance and each.propertyid > 2
    )
    collectible = next(each for each in transactions if each.type_int == 9 and each.action == 2 and each.valid)
    return {
        "tip": tip,
        "waiting": waiting[0],
        "coin": client.call("get_block_by_height", height=tip.height - 3).tx[0],
        "token": token.id,
        "holder": holder,
        "managed": next(each.propertyid for each in properties if each.managedissuance),
        "crowdsale": crowdsale,
        "sto": next(each.txid for each in transactions if each.type_int == 3),
        "txid": token_txids[0],
        "owner": next(each.issuer for each in properties if each.managedissuance),
        "collectibles": str(collectible.erc721propertyid),
        "collectible": "1",
        "slp_txid": token.id,
    }


def calls(known: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The arguments of every operation that asks."""
    tip, coin, token, holder, owner = (known[name] for name in ("tip", "coin", "token", "holder", "owner"))
    property_id, amount = {"propertyId": known["managed"]}, {"amount": Decimal("1.5")}
    managed = {**property_id, **amount}
    pairs = {"pairs": [{"address": holder, "tokenId": token}]}
    return {
        "get_block_header": {"hash": tip.hash, "verbose": True},
        "get_block_headers": {"hashes": [tip.hash, tip.previousblockhash]},
        "get_block_by_hash": {"hash": tip.hash},
        "get_blocks_by_hash": {"hashes": [tip.hash, tip.previousblockhash]},
        "get_block_by_height": {"height": 0},
        "get_blocks_by_height": {"heights": [1, tip.height]},
        "get_mempool_entry": {"txid": known["waiting"]},
        "get_mempool_entries": {"txids": [known["waiting"]]},
        "get_raw_mempool": {"verbose": True},
        "get_tx_out": {"txid": coin, "n": 0},
        "get_tx_out_proof": {"txid": coin},
        "get_tx_out_proofs": {"txids": [coin, known["txid"]]},
        "decode_transaction": {"hex": known["raw"]},
        "decode_transactions": {"hexes": [known["raw"]]},
        "decode_script": {"hex": "51"},
        "decode_scripts": {"hexes": ["51", "6a"]},
        "get_raw_transaction": {"txid": coin, "verbose": True},
        "get_raw_transactions": {"txids": [coin, known["waiting"]]},
        "get_transaction_details": {"txid": known["waiting"]},
        "get_details_of_transactions": {"txids": [coin, known["txid"], token]},
        "verify_tx_out_proof": {"proof": known["proof"]},
        "verify_tx_out_proofs": {"proofs": [known["proof"]]},
        **{
            name: {"address": owner} for name in ("get_address_details", "get_address_utxos", "get_address_unconfirmed")
        },
        **{name: {"address": owner} for name in ("get_address_transactions", "validate_address", "convert_address")},
        **{
            name: {"addresses": [owner, holder]}
            for name in (
                "get_details_of_addresses",
                "get_utxos_of_addresses",
                "get_unconfirmed_of_addresses",
                "get_transactions_of_addresses",
                "validate_addresses",
                "convert_addresses",
                "get_slp_balances_of_addresses",
            )
        },
        "look_up_cash_account": known["account"],
        "check_cash_account": known["account"],
        "find_cash_accounts": {"account": known["paid"]},
        "get_token_balance": {"address": owner, **property_id},
        "get_token_balances_of_address": {"address": owner},
        "get_crowdsale": {"propertyId": known["crowdsale"], "verbose": True},
        "get_frozen_balance": {"address": owner, **property_id},
        "get_frozen_balances_of_address": {"address": owner},
        **{name: {"txid": known["txid"]} for name in ("get_payload", "get_token_transaction")},
        "get_send_to_owners": {"txid": known["sto"], "recipientFilter": "*"},
        "get_token_transactions_of_block": {"index": tip.height},
        "get_pending_token_transactions": {"address": owner},
        "get_seed_blocks": {"startBlock": 0, "endBlock": tip.height},
        **dict.fromkeys(
            (
                "get_token_balances_of_property",
                "get_balances_hash",
                "get_property",
                "get_grants",
                "get_frozen_balances_of_property",
                "make_change_issuer_payload",
                "make_close_crowdsale_payload",
            ),
            property_id,
        ),
        "get_collectibles_of_address": {"address": known["artist"], "propertyId": known["collectibles"]},
        **{
            name: {"propertyId": known["collectibles"]}
            for name in ("get_destroyed_collectibles", "get_collectible_property")
        },
        "get_collectible": {"propertyId": known["collectibles"], "tokenId": known["collectible"]},
        **{name: {"tokenId": token} for name in ("get_slp_token", "get_slp_token_stats", "get_slp_balances_of_token")},
        **{
            name: {"tokenIds": [token, "ab" * 32]}
            for name in ("get_slp_tokens_by_id", "get_slp_stats_of_tokens", "get_slp_balances_of_tokens")
        },
        "get_slp_balances_of_address": {"address": holder},
        "get_slp_history_of_address": {"address": holder},
        "get_slp_balance": {"address": holder, "tokenId": token},
        "get_slp_balances": pairs,
        "get_slp_transactions": {"address": holder, "tokenId": token},
        "get_slp_transactions_of_pairs": pairs,
        **{name: {"txid": token} for name in ("validate_slp_transaction", "get_slp_transaction")},
        "get_slp_burn_total": {"transactionId": token},
        **{name: {"txids": [token, coin]} for name in ("validate_slp_transactions", "get_slp_burn_totals")},
        **dict.fromkeys(("make_grant_payload", "make_revoke_payload", "make_simple_send_payload"), managed),
        "make_participation_payload": amount,
        "make_send_all_payload": {"ecosystem": 1},
        "make_send_to_owners_payload": {**managed, "distributionProperty": 1},
        "make_fixed_property_payload": {**HEAD, **amount},
        "make_managed_property_payload": HEAD,
        "make_crowdsale_payload": {
            **HEAD,
            "propertyIdDesired": 1,
            "tokensPerUnit": Decimal(2),
            "deadline": 2_000_000_000,
            "earlyBonus": 1,
            "totalNumber": Decimal(1000),
        },
        **{name: {"toAddress": owner, **property_id} for name in ("make_freeze_payload", "make_unfreeze_payload")},
    }


def test_every_answer_of_the_sandbox_reads_as_a_record(client, known):
    known["raw"] = client.call("get_raw_transaction", txid=known["coin"])
    known["proof"] = client.call("get_tx_out_proof", txid=known["coin"])
    known["account"], known["paid"] = account_of(client)
    known["artist"] = client.call("get_collectible_property", propertyId=known["collectibles"]).owner
    arguments = calls(known)
    records.unknown.clear()
    for operation in catalogue.ALL:
        if operation.name in WITH_KEY | ACTING:
            continue
        found = client.call(operation.name, **arguments.get(operation.name, {}))
        assert found is not None, operation.name
        if operation.result not in (list, dict) and isinstance(found, dict):
            assert found, operation.name
    assert records.unknown.counts() == {}
    assert set(arguments) <= {operation.name for operation in catalogue.ALL}


FIRST_NUMBERED = 110  # the block whose accounts have the number 100, on the sandbox's short chain


def account_of(client) -> tuple[dict[str, str], str]:
    """A cash account of the seeded chain, and the address that it pays."""
    for height in range(FIRST_NUMBERED, client.call("get_block_count") + 1):
        for txid in client.call("get_block_by_height", height=height).tx:
            for output in client.call("get_transaction_details", txid=txid).vout:
                if output.script_pub_key.hex.startswith("6a0401010101"):
                    name = name_in(bytes.fromhex(output.script_pub_key.hex))
                    account = {"account": name, "number": str(height - FIRST_NUMBERED + 100)}
                    return account, client.call("look_up_cash_account", **account).information.payment[0].address
    raise AssertionError("the seeded chain has no cash account")


def name_in(script: bytes) -> str:
    """The name that a registration gives."""
    return script[7 : 7 + script[6]].decode()
