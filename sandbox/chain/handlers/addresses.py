"""What came to an address and left it (chain data, Address; supplement 1.1 and 1.8)."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from chaindata.wire import refusals
from chaindata.wire.addresses import Address
from chaindata.wire.decoding import coins
from chaindata.wire.scripts import steps
from sandbox.chain.full_node import FullNode
from sandbox.chain.handlers import details, naming
from sandbox.chain.handlers.elements import elements, number, text
from sandbox.chain.node.terms import History, Occurrence, Owned
from sandbox.chain.state import Chain

Members = dict[str, object]
IDS_OF_A_PAGE, TRANSACTIONS_OF_A_PAGE = 1_000, 10


class Holder(NamedTuple):
    """An address as it is printed, its locking script, and what the chain has of it."""

    chain: "Chain"
    address: Address
    script: bytes
    history: History


def get_address_details(node: FullNode, arguments: Mapping[str, object]) -> object:
    """Balances and a page of ids."""
    return _of_one(node, arguments, partial(_details, page=number(arguments, "page")))


def get_details_of_addresses(node: FullNode, arguments: Mapping[str, object]) -> object:
    """Of several; the page is that of each."""
    return _of_each(node, arguments, partial(_details, page=number(arguments, "page")))


def get_address_utxos(node: FullNode, arguments: Mapping[str, object]) -> object:
    """What it holds unspent, what waits included."""
    return _of_one(node, arguments, _utxos)


def get_utxos_of_addresses(node: FullNode, arguments: Mapping[str, object]) -> object:
    """What several hold."""
    return _of_each(node, arguments, _utxos)


def get_address_unconfirmed(node: FullNode, arguments: Mapping[str, object]) -> object:
    """What it holds unspent that still waits."""
    return _of_one(node, arguments, _unconfirmed)


def get_unconfirmed_of_addresses(node: FullNode, arguments: Mapping[str, object]) -> object:
    """What waits for several."""
    return _of_each(node, arguments, _unconfirmed)


def get_address_transactions(node: FullNode, arguments: Mapping[str, object]) -> object:
    """A page of its transactions."""
    return _of_one(node, arguments, partial(_transactions, page=number(arguments, "page")))


def get_transactions_of_addresses(node: FullNode, arguments: Mapping[str, object]) -> object:
    """Of several; the page is that of each."""
    return _of_each(node, arguments, partial(_transactions, page=number(arguments, "page")))


def _of_one(node: FullNode, arguments: Mapping[str, object], answer: Callable[[Holder], Members]) -> Members:
    return answer(_holder(node, naming.read(text(arguments, "address"))))


def _of_each(node: FullNode, arguments: Mapping[str, object], answer: Callable[[Holder], Members]) -> list[Members]:
    """All addresses are read before the first is answered: one bad one fails the call."""
    addresses = [naming.read(each, not_ours=refusals.INVALID_NETWORK_FOR) for each in elements(arguments, "addresses")]
    return [answer(_holder(node, each)) for each in addresses]


def _holder(node: FullNode, address: Address) -> Holder:
    script = steps.locking(address)
    return Holder(node.chain, address, script, node.chain.history(script))


def _forms(holder: Holder) -> Members:
    return {
        "legacyAddress": holder.address.legacy_address,
        "cashAddress": holder.address.cash_address,
        "slpAddress": holder.address.slp_address,
    }


def _pages(count: int, of_a_page: int) -> int:
    return -(-count // of_a_page)


# Balances ------------------------------------------------------------------------------------------------------------


def _details(holder: Holder, *, page: int) -> Members:
    confirmed, unconfirmed = holder.history.confirmed, holder.history.unconfirmed
    received_sat, balance_sat, waiting_sat = _received_sat(holder), _balance_sat(holder), _waiting_sat(holder)
    sent_sat = received_sat - balance_sat
    first = page * IDS_OF_A_PAGE
    return {
        "addrStr": holder.address.legacy_address,
        "balance": coins(balance_sat),
        "balanceSat": balance_sat,
        "totalReceived": coins(received_sat),
        "totalReceivedSat": received_sat,
        "totalSent": coins(sent_sat),
        "totalSentSat": sent_sat,
        "unconfirmedBalance": coins(waiting_sat),
        "unconfirmedBalanceSat": waiting_sat,
        "unconfirmedTxApperances": len(unconfirmed),
        "txApperances": len(confirmed),
        "transactions": [each[::-1].hex() for each in _newest(holder, first, first + IDS_OF_A_PAGE)],
        **_forms(holder),
        "currentPage": page,
        "pagesTotal": _pages(len(confirmed), IDS_OF_A_PAGE),
    }


def _newest(holder: Holder, begin: int, end: int) -> list[bytes]:
    """Ids of a part of its transactions, those that wait before the others, newest first."""
    confirmed, unconfirmed = holder.history.confirmed, holder.history.unconfirmed
    waiting = unconfirmed[::-1][begin:end]
    begin, end = max(begin - len(unconfirmed), 0), max(end - len(unconfirmed), 0)
    last = len(confirmed)
    return waiting + [each.txid_bytes for each in confirmed[max(last - end, 0) : max(last - begin, 0)][::-1]]


def _received_sat(holder: Holder) -> int:
    """All that ever came, in blocks."""
    chain, total_sat = holder.chain, 0
    for place in holder.history.confirmed:
        block = chain.at(place.height)
        outputs = block.transactions[place.position].outputs if block is not None else ()
        total_sat += sum(output.value_sat for output in outputs if output.script == holder.script)
    return total_sat


def _balance_sat(holder: Holder) -> int:
    """What it holds in blocks, whatever of that is being spent in the mempool."""
    held_sat = sum(coin.output.value_sat for coin in holder.history.coins if coin.height is not None)
    return held_sat + sum(value_sat for value_sat, is_confirmed in _spent_in_pool(holder) if is_confirmed)


def _waiting_sat(holder: Holder) -> int:
    """What the mempool adds to it, or takes away."""
    pool, incoming_sat = holder.chain.mempool, 0
    for txid_bytes in holder.history.unconfirmed:
        entry = pool.get(txid_bytes)
        outputs = entry.transaction.outputs if entry is not None else ()
        incoming_sat += sum(output.value_sat for output in outputs if output.script == holder.script)
    return incoming_sat - sum(value_sat for value_sat, _ in _spent_in_pool(holder))


def _spent_in_pool(holder: Holder) -> list[tuple[int, bool]]:
    """The amount of each of its outputs that the mempool spends, and whether that output is in a block."""
    spends = []
    for txid_bytes in holder.history.unconfirmed:
        entry = holder.chain.mempool.get(txid_bytes)
        for each in entry.transaction.inputs if entry is not None else ():
            output = holder.chain.output(each.txid_bytes, each.index)
            if output is not None and output.script == holder.script:
                spends.append((output.value_sat, each.txid_bytes not in holder.chain.mempool))
    return spends


# Unspent outputs -----------------------------------------------------------------------------------------------------


def _utxos(holder: Holder) -> Members:
    held = holder.history.coins
    return {
        "utxos": [_utxo(holder.chain, each) for each in reversed(held)],
        **_forms(holder),
        "scriptPubKey": holder.script.hex() if held else "",
        "asm": steps.asm(holder.script) if held else "",
    }


def _unconfirmed(holder: Holder) -> Members:
    members = _utxos(holder)
    waiting = [each for each in holder.history.coins if each.height is None]
    return members | {"utxos": [_utxo(holder.chain, each) for each in reversed(waiting)]}


def _utxo(chain: Chain, coin: Owned) -> Members:
    members: Members = {
        "txid": coin.txid_bytes[::-1].hex(),
        "vout": coin.n,
        "amount": coins(coin.output.value_sat),
        "satoshis": coin.output.value_sat,
    }
    if coin.height is not None:
        return members | {"height": coin.height, "confirmations": chain.tip.height - coin.height + 1}
    entry = chain.mempool.get(coin.txid_bytes)
    return members | {"confirmations": 0, "ts": entry.entered_ms // 1000 if entry is not None else 0}


# Transactions --------------------------------------------------------------------------------------------------------


def _transactions(holder: Holder, *, page: int) -> Members:
    count = len(holder.history.confirmed) + len(holder.history.unconfirmed)
    first = page * TRANSACTIONS_OF_A_PAGE
    occurrences = [holder.chain.find(each) for each in _newest(holder, first, first + TRANSACTIONS_OF_A_PAGE)]
    return {
        "pagesTotal": _pages(count, TRANSACTIONS_OF_A_PAGE),
        "txs": [details.listed(holder.chain, each) for each in occurrences if isinstance(each, Occurrence)],
        **_forms(holder),
        "currentPage": page,
    }


HANDLERS = {
    each.__name__: each
    for each in (
        get_address_details,
        get_details_of_addresses,
        get_address_utxos,
        get_utxos_of_addresses,
        get_address_unconfirmed,
        get_unconfirmed_of_addresses,
        get_address_transactions,
        get_transactions_of_addresses,
    )
}
