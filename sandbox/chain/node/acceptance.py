"""Whether a transaction may wait for a block: a node's rules, with its words and codes for what breaks them.

Source: supplement 1.9 and 5.4, BIP 68 and 113. Checked in a node's order, so that of several faults the same one is
told: form, what is relayed, time, conflicts, inputs, fee, scripts, relatives.
"""

from typing import NamedTuple

from chaindata.wire import refusals, transactions
from chaindata.wire.scripts.sighash import Digests
from chaindata.wire.transactions import InvalidTransaction, Output, Transaction
from sandbox.chain.node import standardness
from sandbox.chain.node.active_chain import ActiveChain
from sandbox.chain.node.blocks import COINBASE_MATURITY
from sandbox.chain.node.mempool import Entry
from sandbox.chain.node.standardness import DUPLICATE, INVALID, NONSTANDARD
from sandbox.chain.node.terms import Refused, rejected
from sandbox.chain.scripts import script_engine
from sandbox.chain.scripts.script_spending import (
    SEQUENCE_AMOUNT,
    SEQUENCE_IS_NO_LOCK,
    SEQUENCE_IS_TIME,
    SEQUENCE_LOCKS_FROM_VERSION,
    Spending,
)

SECONDS_SHIFT = 9  # sequences count time in units of 512 seconds
MOST_RELATIVES = 50  # transactions in the pool that one may depend on, or that may depend on one, itself counted
MOST_RELATIVE_BYTES = 101_000


class Spent(NamedTuple):
    """An output that an input spends. An unconfirmed one is expected in the next block."""

    output: Output
    height: int
    is_coinbase: bool


def check(chain: ActiveChain, transaction: Transaction, *, runs_scripts: bool = True) -> int:
    """Its fee in satoshis; scripts that are known to be sound need not be run.

    Raises `Refused`; a transaction that waits already is not for this.
    """
    occurrence = chain.find(transaction.txid_bytes)
    if occurrence is not None and occurrence.block is not None:
        raise Refused(refusals.ALREADY_IN_CHAIN)
    _check_form(transaction)
    standardness.check(transaction)
    _check_final(chain, transaction)
    spent = _spent(chain, transaction)
    _check_ages(chain, transaction, spent)
    fee_sat = _fee_sat(chain, transaction, spent)
    standardness.check_spending(transaction, [each.output for each in spent])
    standardness.check_fee(fee_sat, transaction.size)
    if runs_scripts:
        _check_scripts(transaction, spent)
    _check_family(chain, transaction)
    return fee_sat


def _check_form(transaction: Transaction) -> None:
    if transaction.is_coinbase:
        raise rejected("bad-tx-coinbase", INVALID)
    try:
        transactions.check(transaction)
    except InvalidTransaction as problem:
        # A node looks at the least size together with the locktime, and takes both for a matter of relaying.
        raise rejected(problem.reason, NONSTANDARD if problem.reason == "bad-txns-undersize" else INVALID) from None


def _check_final(chain: ActiveChain, transaction: Transaction) -> None:
    """It may stand in the next block as far as its locktime goes (BIP 113)."""
    height, median_s = chain.tip.height + 1, chain.median_time_s(chain.tip)
    if not transactions.is_final(transaction, height=height, median_time=median_s):
        raise rejected("bad-txns-nonfinal, non-final transaction", NONSTANDARD)


# Inputs --------------------------------------------------------------------------------------------------------------


def _spent(chain: ActiveChain, transaction: Transaction) -> list[Spent]:
    """What each input spends. Replacing what waits is not known here: who came first stays."""
    for each in transaction.inputs:
        if chain.mempool.spender(each.txid_bytes, each.index) is not None:
            raise rejected("txn-mempool-conflict", DUPLICATE)
    return [_spent_by(chain, each.txid_bytes, each.index) for each in transaction.inputs]


def _spent_by(chain: ActiveChain, txid_bytes: bytes, n: int) -> Spent:
    coin = chain.coin(txid_bytes, n)
    if coin is not None:
        return Spent(coin.output, coin.height, coin.is_coinbase)
    entry = chain.mempool.get(txid_bytes)
    if entry is None or n >= len(entry.transaction.outputs):
        raise Refused(refusals.MISSING_INPUTS)
    return Spent(entry.transaction.outputs[n], chain.tip.height + 1, False)


def _check_ages(chain: ActiveChain, transaction: Transaction, spent: list[Spent]) -> None:
    """What it spends is as old as its sequences ask, in blocks or in time (BIP 68)."""
    if transaction.version & 0xFFFFFFFF < SEQUENCE_LOCKS_FROM_VERSION:
        return
    next_height, median_s = chain.tip.height + 1, chain.median_time_s(chain.tip)
    for each, source in zip(transaction.inputs, spent, strict=True):
        if each.sequence & SEQUENCE_IS_NO_LOCK:
            continue
        age = each.sequence & SEQUENCE_AMOUNT
        if each.sequence & SEQUENCE_IS_TIME:
            before = chain.at(max(source.height - 1, 0)) or chain.tip
            is_old_enough = chain.median_time_s(before) + (age << SECONDS_SHIFT) <= median_s
        else:
            is_old_enough = source.height + age <= next_height
        if not is_old_enough:
            raise rejected("non-BIP68-final", NONSTANDARD)


def _fee_sat(chain: ActiveChain, transaction: Transaction, spent: list[Spent]) -> int:
    """What the inputs have above the outputs."""
    for each in spent:
        depth = chain.tip.height + 1 - each.height
        if each.is_coinbase and depth < COINBASE_MATURITY:
            why = f"bad-txns-premature-spend-of-coinbase, tried to spend coinbase at depth {depth}"
            raise rejected(why, INVALID)
    value_in_sat, value_out_sat = sum(each.output.value_sat for each in spent), transaction.value_out_sat
    if value_in_sat < value_out_sat:
        why = f"value in ({money(value_in_sat)}) < value out ({money(value_out_sat)})"
        raise rejected(f"bad-txns-in-belowout, {why}", INVALID)
    return value_in_sat - value_out_sat


def money(value_sat: int) -> str:
    """An amount as nodes write it into reasons: coins with two to eight places."""
    coins, places = divmod(value_sat, 100_000_000)
    return f"{coins}.{f'{places:08d}'.rstrip('0').ljust(2, '0')}"


# Relatives in the pool -----------------------------------------------------------------------------------------------


def _check_family(chain: ActiveChain, transaction: Transaction) -> None:
    """Chains of waiting transactions have bounds, in number and bytes, upwards and downwards."""
    pool = chain.mempool
    parents = [each.txid_bytes for each in transaction.inputs if each.txid_bytes in pool]
    ancestors = set(parents).union(*(pool.ancestors(each) for each in parents))
    entries = [entry for each in ancestors if (entry := pool.get(each)) is not None]
    for entry in entries:
        descent = pool.descent(entry)
        _check_bounds(transaction, entry, descent.count, descent.size)
    if sum(entry.size for entry in entries) + transaction.size > MOST_RELATIVE_BYTES:
        raise _too_long(f"exceeds ancestor size limit [limit: {MOST_RELATIVE_BYTES}]")
    if len(entries) + 1 > MOST_RELATIVES:
        raise _too_long(f"too many unconfirmed ancestors [limit: {MOST_RELATIVES}]")


def _check_bounds(transaction: Transaction, ancestor: Entry, count: int, size: int) -> None:
    """Of one that this would depend on, with all that depends on it already."""
    if size + transaction.size > MOST_RELATIVE_BYTES:
        raise _too_long(f"exceeds descendant size limit for tx {ancestor.txid} [limit: {MOST_RELATIVE_BYTES}]")
    if count + 1 > MOST_RELATIVES:
        raise _too_long(f"too many descendants for tx {ancestor.txid} [limit: {MOST_RELATIVES}]")


def _too_long(why: str) -> Refused:
    return rejected(f"too-long-mempool-chain, {why}", NONSTANDARD)


# Scripts -------------------------------------------------------------------------------------------------------------


def _check_scripts(transaction: Transaction, spent: list[Spent]) -> None:
    digests = Digests(transaction)
    for index, (each, source) in enumerate(zip(transaction.inputs, spent, strict=True)):
        spending = Spending(transaction, index, source.output.value_sat, digests)
        objection = script_engine.objection(each.script, source.output.script, spending)
        if objection is not None:
            reason, is_mandatory = objection
            if is_mandatory:
                raise rejected(f"mandatory-script-verify-flag-failed ({reason})", INVALID)
            raise rejected(f"non-mandatory-script-verify-flag ({reason})", NONSTANDARD)
