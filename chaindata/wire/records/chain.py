"""Blocks, transactions, outputs, addresses and the node (chain data, Resources; supplement 1.1 to 1.6)."""

from decimal import Decimal
from typing import Annotated

import msgspec
from msgspec import field

from wire.records import Int64, Record

# Lengths, no patterns: msgspec 0.22 ends the process when a text with a pattern is an alternative to a list. That the
# characters are hexadecimal is found out by who makes bytes of them.
Hash = Annotated[str, msgspec.Meta(min_length=64, max_length=64)]
Hex = str


# Blocks --------------------------------------------------------------------------------------------------------------


class BlockHeader(Record, frozen=True):
    """A header in words. Times are seconds since 1970; `nextblockhash` is absent on the tip."""

    hash: Hash
    confirmations: Int64
    height: Int64
    version: Int64
    merkleroot: Hash
    time: Int64
    nonce: Int64
    bits: str
    difficulty: Decimal
    chainwork: str
    version_hex: str | None = None
    mediantime: Int64 | None = None
    previousblockhash: Hash | None = None
    nextblockhash: Hash | None = None


class Pool(Record, frozen=True):
    """Who made a block; both empty when nobody knows."""

    pool_name: str | None = None
    url: str | None = None


class Block(Record, frozen=True):
    """A block and the ids of its transactions, in their order. `reward` is in coins, `size` in bytes."""

    hash: Hash
    size: Int64
    height: Int64
    version: Int64
    merkleroot: Hash
    tx: list[Hash]
    time: Int64
    nonce: Int64
    bits: str
    difficulty: Decimal
    chainwork: str
    confirmations: Int64
    reward: Decimal
    is_main_chain: bool
    pool_info: Pool | None = None
    previousblockhash: Hash | None = None
    nextblockhash: Hash | None = None


class Tip(Record, frozen=True):
    """The end of a branch; `branchlen` blocks lie off the active one."""

    height: Int64
    hash: Hash
    branchlen: Int64
    status: str


class Reject(Record, frozen=True):
    """Whether old blocks are refused already."""

    status: bool


class Softfork(Record, frozen=True):
    """A rule that was added to the chain."""

    id: str
    version: Int64
    reject: Reject | None = None


class ChainState(Record, frozen=True):
    """What the node knows of the chain: `blocks` is the height of the best block, `headers` of the best header."""

    chain: str
    blocks: Int64
    headers: Int64
    bestblockhash: Hash
    difficulty: Decimal
    chainwork: str
    pruned: bool
    mediantime: Int64 | None = None
    verificationprogress: Decimal | None = None
    softforks: list[Softfork] | None = None


# The mempool ---------------------------------------------------------------------------------------------------------


class EntryFees(Record, frozen=True):
    """The fees of an entry once more, all in coins (later nodes)."""

    base: Decimal
    modified: Decimal
    ancestor: Decimal
    descendant: Decimal


class MempoolEntry(Record, frozen=True):
    """A transaction that waits. `fee` in coins, `descendantfees` and `ancestorfees` in satoshis; counts include it."""

    size: Int64
    fee: Decimal
    modifiedfee: Decimal
    time: Int64
    height: Int64
    descendantcount: Int64
    descendantsize: Int64
    descendantfees: Int64
    ancestorcount: Int64
    ancestorsize: Int64
    ancestorfees: Int64
    depends: list[Hash]
    startingpriority: Decimal | None = None
    currentpriority: Decimal | None = None
    fees: EntryFees | None = None
    spentby: list[Hash] | None = None


class Mempool(Record, frozen=True):
    """The pool as a whole: transactions, bytes, memory, its bound, and the fee a thousand bytes must pay in coins."""

    size: Int64
    bytes: Int64
    usage: Int64
    maxmempool: Int64
    mempoolminfee: Decimal


# Scripts and outputs -------------------------------------------------------------------------------------------------


class OutputScript(Record, frozen=True):
    """A locking script. Without an address it has no `addresses`; the index leaves out the type as well."""

    hex: Hex
    asm: str
    type: str | None = None
    req_sigs: Int64 | None = None
    addresses: list[str] | None = None
    cash_addrs: list[str] | None = None
    slp_addrs: list[str] | None = None


class InputScript(Record, frozen=True):
    """An unlocking script."""

    hex: Hex
    asm: str


class DecodedScript(Record, frozen=True):
    """A script in words; `p2sh` is the address of its hash, absent when it pays to a script hash itself."""

    asm: str
    type: str
    p2sh: str | None = None
    req_sigs: Int64 | None = None
    addresses: list[str] | None = None


class UnspentOutput(Record, frozen=True):
    """An output nobody has spent yet. `value` is in coins, `bestblock` where this was true."""

    bestblock: Hash
    confirmations: Int64
    value: Decimal
    script_pub_key: OutputScript
    coinbase: bool
    version: Int64 | None = None


# Transactions --------------------------------------------------------------------------------------------------------


class Input(Record, frozen=True):
    """An input of transaction details: a coinbase text, or what is spent. `value` is in SATOSHIS, `n` its place.

    Lists of an address give the raw row of the index instead: `addr`, `value_sat`, and `value` in coins.
    """

    n: Int64
    sequence: Int64
    coinbase: Hex | None = None
    txid: Hash | None = None
    vout: Int64 | None = None
    script_sig: InputScript | None = None
    value: Decimal | None = None
    legacy_address: str | None = None
    cash_address: str | None = None
    slp_address: str | None = None
    addr: str | None = None
    value_sat: Int64 | None = None
    double_spent_tx_id: str | None = field(default=None, name="doubleSpentTxID")


class Output(Record, frozen=True):
    """An output of transaction details. `value` is in COINS; the spender is null while unspent.

    `spent_height` is -1 while the spender is unconfirmed.
    """

    value: Decimal
    n: Int64
    script_pub_key: OutputScript
    spent_tx_id: Hash | None = None
    spent_index: Int64 | None = None
    spent_height: Int64 | None = None


class Transaction(Record, frozen=True):
    """A transaction with what it spends. Values and fees in coins; a coinbase has no `value_in` and no `fees`.

    Unconfirmed: `blockheight` -1, no `blockhash`, no `blocktime`.
    """

    txid: Hash
    version: Int64
    locktime: Int64
    vin: list[Input]
    vout: list[Output]
    confirmations: Int64
    size: Int64
    value_out: Decimal
    blockhash: Hash | None = None
    blockheight: Int64 | None = None
    time: Int64 | None = None
    blocktime: Int64 | None = None
    is_coin_base: bool | None = None
    value_in: Decimal | None = None
    fees: Decimal | None = None


class DecodedInput(Record, frozen=True):
    """An input as the node decodes it."""

    sequence: Int64
    txid: Hash | None = None
    vout: Int64 | None = None
    script_sig: InputScript | None = None
    coinbase: Hex | None = None


class DecodedOutput(Record, frozen=True):
    """An output as the node decodes it; `value` in coins."""

    value: Decimal
    n: Int64
    script_pub_key: OutputScript


class DecodedTransaction(Record, frozen=True):
    """A raw transaction in words; the members from `hex` on come when it was fetched verbosely."""

    txid: Hash
    hash: Hash
    size: Int64
    version: Int64
    locktime: Int64
    vin: list[DecodedInput]
    vout: list[DecodedOutput]
    hex: Hex | None = None
    blockhash: Hash | None = None
    confirmations: Int64 | None = None
    time: Int64 | None = None
    blocktime: Int64 | None = None


# The node ------------------------------------------------------------------------------------------------------------


class Node(Record, frozen=True):
    """The node about itself; `paytxfee` and `relayfee` in coins for a thousand bytes."""

    version: Int64
    protocolversion: Int64
    blocks: Int64
    timeoffset: Int64
    connections: Int64
    proxy: str
    difficulty: Decimal
    testnet: bool
    paytxfee: Decimal
    relayfee: Decimal
    errors: str


class Reach(Record, frozen=True):
    """One kind of network, and whether the node reaches it."""

    name: str
    limited: bool
    reachable: bool
    proxy: str
    proxy_randomize_credentials: bool = field(name="proxy_randomize_credentials")


class NodeNetwork(Record, frozen=True):
    """The node's place in the network; `relayfee` and `excessutxocharge` in coins."""

    version: Int64
    subversion: str
    protocolversion: Int64
    localservices: str
    localrelay: bool
    timeoffset: Int64
    networkactive: bool
    connections: Int64
    networks: list[Reach]
    relayfee: Decimal
    excessutxocharge: Decimal
    warnings: str
