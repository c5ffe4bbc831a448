"""Whether the chain has a payment: from the transaction's own bytes to a block of the chain that the desk follows.

The service gives the transaction, its bytes and a proof, and none of them is believed. The bytes must hash to the id,
one of their outputs must pay the address exactly, the proof must lead from the id to the merkle root in a header, and
that header must have its work and be in the chain of headers that this desk follows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from chaindata.client import Absent, ChainClient
from chaindata.headers import chain, reading
from chaindata.headers.chain import CannotFollow
from chaindata.headers.models import ChainHeader, ChainTip
from chaindata.wire import addresses, decoding, hashing, proofs, transactions
from chaindata.wire.hashing import NotHexadecimal
from chaindata.wire.headers import Header
from chaindata.wire.proofs import NotAProof
from chaindata.wire.records.chain import Transaction as TransactionRecord
from chaindata.wire.scripts import steps
from chaindata.wire.transactions import NotATransaction, Output, Transaction
from wire.errors import BadReply

INNER_NODE_BYTES = 64  # a transaction of so many bytes could be two hashes of a tree instead
MOST_BELOW = 2_000  # headers that are read below the lowest stored one
_DIFFERENT = "The chain-data service returned a different transaction from the one requested."

__all__ = ["Outcome", "Step", "Verdict", "depth_of", "prove"]


class Outcome(StrEnum):
    """What the proof came to, from nothing to everything."""

    ABSENT = "absent"  # the service does not know the transaction
    WRONG = "wrong"  # the transaction does not pay this address this value
    NOT_PROVEN = "not proven"  # an answer of the service does not hold
    WAITING = "waiting"  # the payment exists, but not in a block, or in one beyond our headers
    OFF_CHAIN = "left"  # its block is not in the chain that the desk follows
    PROVEN = "proven"


@dataclass(frozen=True, slots=True)
class Step:
    """One check, whether it passed, and a sentence for a person."""

    name: str
    holds: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the chain says of one payment at `checked_at`, with every step of the proof.

    `height` and `block_hash` are those of the proven header; `depth` is its number of confirmations, 0 if it is not in
    the chain that the desk follows. `output` is the number of the output that pays.
    """

    outcome: Outcome
    txid: str
    checked_at: datetime
    steps: tuple[Step, ...]
    output: int | None = None
    block_hash: str | None = None
    height: int | None = None
    depth: int = 0

    @property
    def is_proven(self) -> bool:
        """Whether the chain has the payment, proven without trusting the service."""
        return self.outcome is Outcome.PROVEN

    @property
    def sentence(self) -> str:
        """The sentence of the last step."""
        return self.steps[-1].sentence


class _WalkEnded(Exception):
    """The proof ends here with this outcome."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome)
        self.outcome = outcome


@dataclass
class _Way:
    """The steps taken so far, and what they established."""

    txid: str
    steps: list[Step] = field(default_factory=list)
    output: int | None = None
    header: ChainHeader | None = None
    depth: int = 0

    def holds(self, name: str, sentence: str) -> None:
        self.steps.append(Step(name, True, sentence))

    def ends(self, name: str, outcome: Outcome, sentence: str) -> _WalkEnded:
        self.steps.append(Step(name, False, sentence))
        return _WalkEnded(outcome)


def prove(*, txid: str, address: str, amount_sat: int, client: ChainClient, now: datetime) -> Verdict:
    """Look for a payment of exactly `amount_sat` satoshis to the address, in any of its forms, and prove it.

    Raises `CallFailed` if the service can't be reached: then nothing is known. Raises `NotAnAddress`.
    """
    way = _Way(txid.lower())
    script = steps.locking(addresses.read(address))
    try:
        _walk(way, script, amount_sat, client, now)
        outcome = Outcome.PROVEN
    except _WalkEnded as ended:
        outcome = ended.outcome
    return Verdict(
        outcome,
        way.txid,
        now,
        tuple(way.steps),
        output=way.output,
        block_hash=way.header.hash if way.header else None,
        height=way.header.height if way.header else None,
        depth=way.depth,
    )


def depth_of(block_hash: str) -> int:
    """The confirmations of a block in the chain that the desk follows, from our own rows; 0 if it is not in it."""
    header = ChainHeader.objects.filter(hash=block_hash, is_active=True).first()
    tip = ChainTip.objects.select_related("header").filter(pk=1).first()
    if header is None or tip is None or tip.header is None:
        return 0
    return max(tip.header.height - header.height + 1, 0)


def _walk(way: _Way, script: bytes, amount_sat: int, client: ChainClient, now: datetime) -> None:
    details = _details(way, client)
    payment = _transaction(way, client)
    way.output = _paying(way, payment.outputs, script, amount_sat)
    if details.blockhash is None or details.confirmations <= 0:
        raise way.ends("block", Outcome.WAITING, "The transaction is unconfirmed.")
    header = _proven_header(way, payment, client)
    if header.hash != details.blockhash:
        raise way.ends(
            "block", Outcome.NOT_PROVEN, "The proof is for a different block from the one the service reports."
        )
    _stand_in_chain(way, header, details.blockheight, client, now)


# Steps ---------------------------------------------------------------------------------------------------------------


def _details(way: _Way, client: ChainClient) -> TransactionRecord:
    try:
        details: TransactionRecord = client.call("get_transaction_details", txid=way.txid)
    except Absent:
        raise way.ends("found", Outcome.ABSENT, "The chain-data service does not have the transaction.") from None
    if details.txid != way.txid:
        raise way.ends("found", Outcome.NOT_PROVEN, _DIFFERENT)
    way.holds("found", "The chain-data service has the transaction.")
    return details


def _transaction(way: _Way, client: ChainClient) -> Transaction:
    """The transaction, read from its bytes."""
    raw = client.call("get_raw_transaction", txid=way.txid)
    try:
        transaction = transactions.read(hashing.from_hex(raw, most_bytes=transactions.MOST_BYTES))
    except (NotHexadecimal, NotATransaction, TypeError) as problem:
        raise way.ends(
            "bytes", Outcome.NOT_PROVEN, f"The chain-data service's response is not a transaction: {problem}"[:300]
        ) from None
    if transaction.size == INNER_NODE_BYTES:
        sentence = (
            f"The transaction is {INNER_NODE_BYTES} bytes, the size of two hashes, so a proof of it proves nothing."
        )
        raise way.ends("bytes", Outcome.NOT_PROVEN, sentence)
    if transaction.txid != way.txid:
        raise way.ends("bytes", Outcome.NOT_PROVEN, _DIFFERENT)
    way.holds("bytes", f"The transaction's {transaction.size} bytes hash to its ID.")
    return transaction


def _paying(way: _Way, outputs: Sequence[Output], script: bytes, amount_sat: int) -> int:
    ours = {n: output.value_sat for n, output in enumerate(outputs) if output.script == script}
    exact = [n for n, value_sat in ours.items() if value_sat == amount_sat]
    coins = decoding.coins(amount_sat)
    if exact:
        way.holds("output", f"Output {exact[0]} pays exactly {coins} to the address.")
        return exact[0]
    if not ours:
        raise way.ends("output", Outcome.WRONG, "None of the transaction's outputs pays this address.")
    paid = " and ".join(str(decoding.coins(value_sat)) for value_sat in ours.values())
    raise way.ends("output", Outcome.WRONG, f"The transaction pays the address {paid}, not {coins}.")


def _proven_header(way: _Way, payment: Transaction, client: ChainClient) -> Header:
    """The header that the proof leads to, after its hashes and its work were checked."""
    try:
        raw = client.call("get_tx_out_proof", txid=way.txid)
    except Absent:
        raise way.ends("proof", Outcome.WAITING, "The service has no proof for the transaction yet.") from None
    try:
        proof = proofs.read(hashing.from_hex(raw, most_bytes=proofs.MOST_BYTES))
        txids_bytes = {payment.txid_bytes}
        matches = proofs.check(proof, easiest_target=chain.easiest_target(), txids_bytes=txids_bytes)
    except (NotHexadecimal, NotAProof) as problem:
        raise way.ends("proof", Outcome.NOT_PROVEN, f"The service's proof is invalid: {problem}"[:300]) from None
    way.holds(
        "proof",
        f"{len(proof.hashes)} hashes link it, transaction {matches[0].position} in its block, to the Merkle root.",
    )
    way.holds("work", "The block header's hash meets its target.")
    return proof.header


def _stand_in_chain(way: _Way, header: Header, claimed_height: int | None, client: ChainClient, now: datetime) -> None:
    """Check that the block is in the chain of headers that the desk follows."""
    row = ChainHeader.objects.filter(hash=header.hash).first() or _lower(header, claimed_height, client, now)
    tip = ChainTip.objects.select_related("header").filter(pk=1).first()
    if row is None or tip is None or tip.header is None:
        raise _not_followed(way, claimed_height, tip.header if tip is not None else None)
    way.header = row
    if not row.is_active:
        raise way.ends("chain", Outcome.OFF_CHAIN, "The transaction's block was reorganised out of the chain.")
    way.depth = tip.header.height - row.height + 1
    above = way.depth - 1
    tale = "is the newest" if not above else f"has {above} block{'' if above == 1 else 's'} on top of it"
    way.holds("chain", f"The transaction's block, {row.height}, is in the chain tracked here and {tale}.")


def _not_followed(way: _Way, claimed_height: int | None, tip: ChainHeader | None) -> _WalkEnded:
    """Why we have no header of a block with work: it is too new, too old, or of another chain."""
    lowest = chain.lowest()
    if tip is None or lowest is None or claimed_height is None or claimed_height > tip.height:
        return way.ends("chain", Outcome.WAITING, "The transaction's block is newer than the chain tracked here.")
    if claimed_height < lowest.height:
        sentence = (
            f"The transaction's block is older than the headers stored here, which start at height {lowest.height}."
        )
        return way.ends("chain", Outcome.WAITING, sentence)
    return way.ends("chain", Outcome.OFF_CHAIN, "The transaction's block is not in the chain tracked here.")


def _lower(header: Header, claimed_height: int | None, client: ChainClient, now: datetime) -> ChainHeader | None:
    """The row of a block below our lowest header, after reading the headers between them."""
    lowest = chain.lowest()
    if lowest is None or claimed_height is None or not lowest.height - MOST_BELOW <= claimed_height < lowest.height:
        return None
    try:
        chain.prepend(path=reading.below(client, above=lowest, height=claimed_height), now=now)
    except CannotFollow as problem:
        raise BadReply(str(problem)) from None
    return ChainHeader.objects.filter(hash=header.hash).first()
