"""What a raw transaction would do if it were sent: what it spends, whose that is, what it pays, and what it costs.

The outputs that it spends are taken from the transactions that made them, and only when those hash to the id that is
spent: a service that lies about an amount is noticed. Signatures of the usual kind are checked here as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from chaindata.cache import answers
from chaindata.cache.answers import Reading
from chaindata.explorer import transaction as explorer
from chaindata.shared import addresses, owned_addresses
from chaindata.shared.pages import TIP_TOPIC, PartFreshness, freshness_of
from chaindata.tokens import risks
from chaindata.tools import tools
from chaindata.tools.tools import Decoded
from chaindata.wire import hashing, keys, transactions
from chaindata.wire.scripts import sighash, signature_form, steps
from chaindata.wire.transactions import Input, Output, Transaction

MOST_SOURCES = 50  # outputs that are looked up for one transaction
DUST_SAT = 546
HIGH_RATE_SAT = 20  # satoshis a byte: twenty times what is usual
LEAST_RATE_SAT = 1
_SIGNED, _WRONG = "fits", "does not fit"


@dataclass(frozen=True, slots=True)
class Source:
    """An output that is spent. `value_sat` is None until it is known; `signature` is "" where none can be judged."""

    n: int
    txid: str
    vout: int
    value_sat: int | None
    address: str
    owner: str
    signature: str
    problem: str
    is_spent: bool = False


@dataclass(frozen=True, slots=True)
class Payment:
    """An output that is made, with the owner of its address when that is one of ours."""

    n: int
    value_sat: int
    address: str
    kind: str
    owner: str


@dataclass(frozen=True, slots=True)
class Explained:
    """What it would do. `fee_sat` is None until every source is known; `warnings` are sentences, the worst first.

    `is_waiting` says that something about what it spends is still being read. `already` says where the network has the
    transaction, when it has: then nothing is left to send.
    """

    decoded: Decoded
    sources: tuple[Source, ...]
    payments: tuple[Payment, ...]
    in_sat: int | None
    out_sat: int
    fee_sat: int | None
    rate: Decimal | None
    obstacles: tuple[str, ...]
    warnings: tuple[str, ...]
    left_out: int
    is_waiting: bool
    already: str
    freshness: PartFreshness

    @property
    def spends_ours(self) -> bool:
        """Whether it takes coins of an address that we know as ours."""
        return any(source.owner for source in self.sources)

    @property
    def can_be_sent(self) -> bool:
        """Whether all that a decision needs is on the table, and nothing makes the sending pointless."""
        return self.fee_sat is not None and not self.obstacles and not self.already


def explain(*, decoded: Decoded, now: datetime) -> Explained:
    """What the transaction would do, as far as it is known now; what is missing is asked for."""
    spent = decoded.transaction.inputs[:MOST_SOURCES]
    made, readings = _made(spent, now)
    gone, more = _spent(spent, now)
    known = answers.look("get_transaction_details", now=now, txid=decoded.txid)
    sources = tuple(_source(n, each, made, decoded.transaction) for n, each in enumerate(spent))
    owned = owned_addresses.owners(addresses=_addresses(decoded, sources))
    sources = tuple(replace(each, owner=owned.get(each.address, ""), is_spent=each.n in gone) for each in sources)
    left_out = len(decoded.transaction.inputs) - len(spent)
    values = [source.value_sat for source in sources]
    in_sat = None if left_out or None in values else sum(value or 0 for value in values)
    out_sat = decoded.transaction.value_out_sat
    fee_sat = None if in_sat is None or decoded.transaction.is_coinbase else in_sat - out_sat
    rate = None if fee_sat is None else (Decimal(fee_sat) / decoded.transaction.size).quantize(Decimal("0.01"))
    payments = tuple(_payments(decoded, owned))
    origins = {txid: each for txid, each in made.items() if isinstance(each, Transaction)}
    lost = risks.losses(transaction=decoded.transaction, origins=origins)
    freshness = freshness_of(*readings, *more, topics=[known.topic, TIP_TOPIC])
    return Explained(
        decoded=decoded,
        sources=sources,
        payments=payments,
        in_sat=in_sat,
        out_sat=out_sat,
        fee_sat=fee_sat,
        rate=rate,
        obstacles=tuple(_obstacles(decoded, sources, fee_sat, left_out)),
        warnings=(*lost, *_warnings(decoded, payments, sources, fee_sat, rate)),
        left_out=left_out,
        is_waiting=any(not each.is_known and each.freshness in ("absent", "failed") for each in (*readings, *more)),
        already=_already(known, now),
        freshness=freshness,
    )


def _already(known: Reading, now: datetime) -> str:
    """Where the network has the transaction; nothing as long as it has not, or nobody has said."""
    if known.record is None:
        return ""
    depth = explorer.confirmations(known.record, now=now)
    if not known.record.blockhash:
        return "The network has this transaction already: it waits for a block."
    many = "1 confirmation" if depth == 1 else f"{depth:,} confirmations"
    return f"This transaction is in block {known.record.blockheight:,} already, with {many}."


def _made(spent: Sequence[Input], now: datetime) -> tuple[dict[str, Transaction | str], list[Reading]]:
    """The transactions that made what is spent, or the sentence about one that is not what it was asked for."""
    wanted = list(dict.fromkeys(each.txid for each in spent if not each.is_coinbase))
    questions = [("get_raw_transaction", {"txid": txid, "verbose": False}) for txid in wanted]
    readings = answers.look_many(questions, now=now) if questions else []
    found: dict[str, Transaction | str] = {}
    for txid, reading in zip(wanted, readings, strict=True):
        if isinstance(reading.record, str):
            found[txid] = _proven(txid, reading.record)
        elif reading.freshness in ("missing", "refused"):
            found[txid] = "The service knows no transaction with this id."
    return found, list(readings)


def _spent(spent: Sequence[Input], now: datetime) -> tuple[set[int], list[Reading]]:
    """Which inputs spend what is no longer there to be spent, as far as the service knows: perhaps by this very one."""
    wanted = [(n, each) for n, each in enumerate(spent) if not each.is_coinbase]
    questions = [("get_tx_out", {"txid": each.txid, "n": each.index, "mempool": True}) for _, each in wanted]
    readings = answers.look_many(questions, now=now) if questions else []
    gone = {n for (n, _), reading in zip(wanted, readings, strict=True) if reading.is_known and reading.record is None}
    return gone, list(readings)


def _proven(txid: str, text: str) -> Transaction | str:
    try:
        made = transactions.read(hashing.from_hex(text, most_bytes=transactions.MOST_BYTES))
    except (hashing.NotHexadecimal, transactions.NotATransaction):
        return "The service gave something else than a transaction."
    return made if made.txid == txid else "The service gave another transaction than the one that is spent."


def _source(n: int, spent: Input, made: dict[str, Transaction | str], transaction: Transaction) -> Source:
    origin = made.get(spent.txid)
    if spent.is_coinbase:
        return Source(n, "", 0, None, "", "", "", "A coinbase spends nothing, and can't be sent.")
    if not isinstance(origin, Transaction):
        return Source(n, spent.txid, spent.index, None, "", "", "", origin or "")
    if spent.index >= len(origin.outputs):
        return Source(n, spent.txid, spent.index, None, "", "", "", "The transaction has no output with this number.")
    output = origin.outputs[spent.index]
    paid = steps.addresses_of(output.script, addresses.printing_network())
    address = paid[0].cash_address if len(paid) == 1 else ""
    signature = _signature(n, spent, output, transaction)
    return Source(n, spent.txid, spent.index, output.value_sat, address, "", signature, "")


def _signature(n: int, spent: Input, output: Output, transaction: Transaction) -> str:
    """Whether the signature of an output to a key's hash fits; "" for other kinds, which are not judged here."""
    if steps.kind_of(output.script) is not steps.Kind.KEY_HASH:
        return ""
    try:
        pushed = [step.pushed or b"" for step in steps.steps(spent.script)]
    except steps.NotAScript:
        return _WRONG
    if len(pushed) != 2 or not pushed[0] or hashing.hash160(pushed[1]) != output.script[3:23]:
        return _WRONG
    signature, hash_type = pushed[0][:-1], pushed[0][-1]
    try:
        digest = sighash.Digests(transaction).digest(
            n, script_code=output.script, value_sat=output.value_sat, hash_type=hash_type
        )
    except sighash.CannotDigest:
        return _WRONG
    good = keys.is_signed(digest, signature=signature, public_key=pushed[1])
    return _SIGNED if good and hash_type & signature_form.FORKID else _WRONG


def _addresses(decoded: Decoded, sources: Sequence[Source]) -> list[str]:
    paid = [address for output in decoded.outputs for address in output.addresses]
    return [*paid, *(source.address for source in sources if source.address)]


def _payments(decoded: Decoded, owned: dict[str, str]) -> list[Payment]:
    paid = []
    for output in decoded.outputs:
        address = output.addresses[0] if len(output.addresses) == 1 else ""
        paid.append(Payment(output.n, output.value_sat, address, output.kind, owned.get(address, "")))
    return paid


def _obstacles(decoded: Decoded, sources: Sequence[Source], fee_sat: int | None, left_out: int) -> list[str]:
    found = [f"A node refuses it whatever it spends: {decoded.problem}."] if decoded.problem else []
    if decoded.transaction.is_coinbase:
        found.append("This is the coinbase of a block; only a miner can make one.")
    found += [f"Input {source.n}: {source.problem}" for source in sources if source.problem and source.txid]
    found += [f"Input {source.n}: the signature does not fit." for source in sources if source.signature == _WRONG]
    if fee_sat is not None and fee_sat < 0:
        found.append(f"It pays {-fee_sat:,} sat more than it spends.")
    if left_out:
        found.append(f"It has {left_out} inputs more than are looked up here, so its fee is not known.")
    return found


def _warnings(
    decoded: Decoded,
    payments: Sequence[Payment],
    sources: Sequence[Source],
    fee_sat: int | None,
    rate: Decimal | None,
) -> list[str]:
    gone = [str(source.n) for source in sources if source.is_spent]
    found = [f"What input {', '.join(gone[:5])} spends is spent already, or was never there."] if gone else []
    if rate is not None and rate > HIGH_RATE_SAT:
        found.append(f"The fee is unusually high: {fee_sat:,} sat, {rate} for each byte.")
    if rate is not None and 0 <= rate < LEAST_RATE_SAT:
        found.append(f"The fee is low: {rate} sat for each byte; below 1 nodes do not relay it.")
    dust = [payment.n for payment in payments if payment.value_sat < DUST_SAT and payment.kind != "nulldata"]
    if dust:
        found.append(f"Outputs {', '.join(map(str, dust[:5]))} hold less than {DUST_SAT} sat; nodes do not relay that.")
    if decoded.transaction.locktime and not all(
        each.sequence == transactions.FINAL_SEQUENCE for each in decoded.transaction.inputs
    ):
        found.append(f"It may have to wait: its locktime is {decoded.transaction.locktime}.")
    found += [f"{said.layer}: {said.problem}" for said in decoded.said if said.problem]
    return found


def of_text(*, text: str, now: datetime) -> Explained:
    """What the transaction of a hexadecimal text would do. Raises `tools.CannotRead`."""
    return explain(decoded=tools.decode(text=text), now=now)
