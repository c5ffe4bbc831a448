"""What a raw transaction would do if it were sent: what it spends, whose coins those are, what it pays, what it costs.

Amounts are read from the transactions that made the outputs, and only if those hash to the ids that are spent. So a
service that lies about an amount is noticed. Signatures of the usual kind are checked here as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from chaindata.cache import answers
from chaindata.cache.answers import Reading
from chaindata.explorer.transaction import confirmations
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
_SIGNED, _WRONG = "valid", "invalid"


@dataclass(frozen=True, slots=True)
class Source:
    """An output that is spent. `value_sat` is None until it is known; `signature` is "" for kinds not checked here."""

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
    """A new output, with the owner of its address if the address is one of ours."""

    n: int
    value_sat: int
    address: str
    kind: str
    owner: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """What it would do. `fee_sat` is None until every source is known; `warnings` are sentences, the worst first.

    `is_waiting`: some of what it spends is still being read. `already` says where the network has the transaction, if
    it has it: then there is nothing left to send.
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
    omitted_inputs: int
    is_waiting: bool
    already: str
    freshness: PartFreshness

    @property
    def spends_ours(self) -> bool:
        """Whether it spends coins of an address that we know as ours."""
        return any(source.owner for source in self.sources)

    @property
    def can_be_sent(self) -> bool:
        """Whether everything needed for a decision is known, and sending it makes sense."""
        return self.fee_sat is not None and not self.obstacles and not self.already


def explain(*, decoded: Decoded, now: datetime) -> Explanation:
    """What the transaction would do, as far as is known now. What is missing is requested."""
    inputs = decoded.transaction.inputs[:MOST_SOURCES]
    origins, origin_readings = _origins(inputs, now)
    unavailable, output_readings = _unavailable(inputs, now)
    readings = (*origin_readings, *output_readings)
    details = answers.read("get_transaction_details", now=now, txid=decoded.txid)
    sources = tuple(_source(n, each, origins, decoded.transaction) for n, each in enumerate(inputs))
    owner_by_address = owned_addresses.owners(addresses=_addresses(decoded, sources))
    sources = tuple(
        replace(each, owner=owner_by_address.get(each.address, ""), is_spent=each.n in unavailable) for each in sources
    )
    omitted_inputs = len(decoded.transaction.inputs) - len(inputs)
    values = [source.value_sat for source in sources]
    in_sat = None if omitted_inputs or None in values else sum(value or 0 for value in values)
    out_sat = decoded.transaction.value_out_sat
    fee_sat = None if in_sat is None or decoded.transaction.is_coinbase else in_sat - out_sat
    rate = None if fee_sat is None else (Decimal(fee_sat) / decoded.transaction.size).quantize(Decimal("0.01"))
    payments = tuple(_payments(decoded, owner_by_address))
    transactions_spent = {txid: each for txid, each in origins.items() if isinstance(each, Transaction)}
    losses = risks.losses(transaction=decoded.transaction, origins=transactions_spent)
    freshness = freshness_of(*readings, topics=[details.topic, TIP_TOPIC])
    return Explanation(
        decoded=decoded,
        sources=sources,
        payments=payments,
        in_sat=in_sat,
        out_sat=out_sat,
        fee_sat=fee_sat,
        rate=rate,
        obstacles=tuple(_obstacles(decoded, sources, fee_sat, omitted_inputs)),
        warnings=(*losses, *_warnings(decoded, payments, sources, fee_sat, rate)),
        omitted_inputs=omitted_inputs,
        is_waiting=any(not each.is_known and each.freshness in ("absent", "failed") for each in readings),
        already=_already(details, now),
        freshness=freshness,
    )


def _already(details: Reading, now: datetime) -> str:
    """Where the network has the transaction; empty if it does not have it, or if that is not known yet."""
    if details.record is None:
        return ""
    depth = confirmations(details.record, now=now)
    if not details.record.blockhash:
        return "This transaction is already in the mempool, awaiting a block."
    many = "1 confirmation" if depth == 1 else f"{depth:,} confirmations"
    return f"This transaction is already in block {details.record.blockheight:,}, with {many}."


def _origins(inputs: Sequence[Input], now: datetime) -> tuple[dict[str, Transaction | str], list[Reading]]:
    """The transactions that made the outputs spent; a sentence instead of one that could not be had."""
    txids = list(dict.fromkeys(each.txid for each in inputs if not each.is_coinbase))
    questions = [("get_raw_transaction", {"txid": txid, "verbose": False}) for txid in txids]
    readings = answers.read_many(questions, now=now) if questions else []
    origins: dict[str, Transaction | str] = {}
    for txid, reading in zip(txids, readings, strict=True):
        if isinstance(reading.record, str):
            origins[txid] = _origin(txid, reading.record)
        elif reading.freshness in ("missing", "refused"):
            origins[txid] = "The chain-data service has no transaction with this ID."
    return origins, list(readings)


def _unavailable(inputs: Sequence[Input], now: datetime) -> tuple[set[int], list[Reading]]:
    """The inputs whose outputs are already spent, as far as the service knows; perhaps by this very transaction."""
    numbered = [(n, each) for n, each in enumerate(inputs) if not each.is_coinbase]
    questions = [("get_tx_out", {"txid": each.txid, "n": each.index, "mempool": True}) for _, each in numbered]
    readings = answers.read_many(questions, now=now) if questions else []
    outputs = zip(numbered, readings, strict=True)
    return {n for (n, _), reading in outputs if reading.is_known and reading.record is None}, list(readings)


def _origin(txid: str, text: str) -> Transaction | str:
    try:
        transaction = transactions.read(hashing.from_hex(text, most_bytes=transactions.MOST_BYTES))
    except (hashing.NotHexadecimal, transactions.NotATransaction):
        return "The chain-data service's response is not a transaction."
    if transaction.txid != txid:
        return "The chain-data service returned a different transaction from the one requested."
    return transaction


def _source(n: int, txin: Input, origins: dict[str, Transaction | str], transaction: Transaction) -> Source:
    origin = origins.get(txin.txid)
    if txin.is_coinbase:
        return Source(n, "", 0, None, "", "", "", "A coinbase transaction can't be broadcast.")
    if not isinstance(origin, Transaction):
        return Source(n, txin.txid, txin.index, None, "", "", "", origin or "")
    if txin.index >= len(origin.outputs):
        return Source(n, txin.txid, txin.index, None, "", "", "", "The transaction being spent has no such output.")
    output = origin.outputs[txin.index]
    receivers = steps.addresses_of(output.script, addresses.printing_network())
    address = receivers[0].cash_address if len(receivers) == 1 else ""
    signature = _signature(n, txin, output, transaction)
    return Source(n, txin.txid, txin.index, output.value_sat, address, "", signature, "")


def _signature(n: int, txin: Input, output: Output, transaction: Transaction) -> str:
    """Whether the signature fits, for an output that pays the hash of a key; "" for other kinds, not checked here."""
    if steps.kind_of(output.script) is not steps.Kind.KEY_HASH:
        return ""
    try:
        pushes = [step.pushed or b"" for step in steps.steps(txin.script)]
    except steps.NotAScript:
        return _WRONG
    if len(pushes) != 2 or not pushes[0] or hashing.hash160(pushes[1]) != output.script[3:23]:
        return _WRONG
    signature, hash_type = pushes[0][:-1], pushes[0][-1]
    try:
        digest = sighash.Digests(transaction).digest(
            n, script_code=output.script, value_sat=output.value_sat, hash_type=hash_type
        )
    except sighash.CannotDigest:
        return _WRONG
    good = keys.is_signed(digest, signature=signature, public_key=pushes[1])
    return _SIGNED if good and hash_type & signature_form.FORKID else _WRONG


def _addresses(decoded: Decoded, sources: Sequence[Source]) -> list[str]:
    receivers = [address for output in decoded.outputs for address in output.addresses]
    return [*receivers, *(source.address for source in sources if source.address)]


def _payments(decoded: Decoded, owner_by_address: dict[str, str]) -> list[Payment]:
    payments = []
    for output in decoded.outputs:
        address = output.addresses[0] if len(output.addresses) == 1 else ""
        payments.append(Payment(output.n, output.value_sat, address, output.kind, owner_by_address.get(address, "")))
    return payments


def _obstacles(decoded: Decoded, sources: Sequence[Source], fee_sat: int | None, omitted_inputs: int) -> list[str]:
    sentences = [f"Nodes will reject this transaction: {decoded.problem}."] if decoded.problem else []
    if decoded.transaction.is_coinbase:
        sentences.append("This is a coinbase transaction; only a miner can create one.")
    sentences += [f"Input {source.n}: {source.problem}" for source in sources if source.problem and source.txid]
    sentences += [f"Input {source.n}: invalid signature." for source in sources if source.signature == _WRONG]
    if fee_sat is not None and fee_sat < 0:
        sentences.append(f"The outputs exceed the inputs by {-fee_sat:,} sat.")
    if omitted_inputs:
        sentences.append(f"The fee is unknown: the transaction has {omitted_inputs} more inputs than can be checked.")
    return sentences


def _warnings(
    decoded: Decoded,
    payments: Sequence[Payment],
    sources: Sequence[Source],
    fee_sat: int | None,
    rate: Decimal | None,
) -> list[str]:
    numbers = [str(source.n) for source in sources if source.is_spent]
    sentences = [f"Inputs that spend a missing or already spent output: {', '.join(numbers[:5])}."] if numbers else []
    if rate is not None and rate > HIGH_RATE_SAT:
        sentences.append(f"The fee is unusually high: {fee_sat:,} sat, {rate} sat/byte.")
    if rate is not None and 0 <= rate < LEAST_RATE_SAT:
        sentences.append(f"The fee is low: {rate} sat/byte; nodes do not relay transactions below 1 sat/byte.")
    dust = [payment.n for payment in payments if payment.value_sat < DUST_SAT and payment.kind != "nulldata"]
    if dust:
        sentences.append(
            f"Nodes do not relay transactions with outputs below {DUST_SAT} sat (dust). "
            f"Dust outputs: {', '.join(map(str, dust[:5]))}."
        )
    if decoded.transaction.locktime and not all(
        each.sequence == transactions.FINAL_SEQUENCE for each in decoded.transaction.inputs
    ):
        sentences.append(f"The transaction may not be valid yet: its locktime is {decoded.transaction.locktime}.")
    sentences += [f"{message.layer}: {message.problem}" for message in decoded.messages if message.problem]
    return sentences


def explain_text(*, text: str, now: datetime) -> Explanation:
    """What the transaction of a hexadecimal text would do. Raises `tools.CannotRead`."""
    return explain(decoded=tools.decode(text=text), now=now)
