"""Whether a transaction may wait for a block: a node's rules, with its words for what breaks them (supplement 1.9)."""

from typing import TYPE_CHECKING

from chaindata.wire import refusals, transactions
from chaindata.wire.transactions import InvalidTransaction, Transaction
from sandbox.chain.blocks import COINBASE_MATURITY
from sandbox.chain.terms import Refused, rejected

if TYPE_CHECKING:
    from sandbox.chain.state import Chain

INVALID = 16


def check(chain: "Chain", transaction: Transaction, *, at_ms: int) -> int:
    """Its fee in satoshis. Raises `Refused`."""
    try:
        transactions.check(transaction)
    except InvalidTransaction as problem:
        raise rejected(problem.reason, INVALID) from None
    if chain.find(transaction.txid_bytes) is not None:
        raise Refused(refusals.ALREADY_IN_CHAIN)
    value_in_sat = sum(_spent_sat(chain, each.txid_bytes, each.index) for each in transaction.inputs)
    fee_sat = value_in_sat - transaction.value_out_sat
    if fee_sat < 0:
        raise rejected("bad-txns-in-belowout", INVALID)
    return fee_sat


def _spent_sat(chain: "Chain", txid_bytes: bytes, n: int) -> int:
    if chain.mempool.spender(txid_bytes, n) is not None:
        raise rejected("txn-mempool-conflict", 18)
    coin = chain.coin(txid_bytes, n)
    if coin is not None:
        if coin.is_coinbase and chain.tip.height + 1 - coin.height < COINBASE_MATURITY:
            raise rejected("bad-txns-premature-spend-of-coinbase", INVALID)
        return coin.output.value_sat
    output = chain.output(txid_bytes, n)
    if output is None or chain.spender(txid_bytes, n) is not None:
        raise Refused(refusals.MISSING_INPUTS)
    return output.value_sat
