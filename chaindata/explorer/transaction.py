"""The page of one transaction: its inputs and outputs, its fee, its block, its bytes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from chaindata.cache import answers
from chaindata.cache.answers import Reading
from chaindata.explorer import flow, home
from chaindata.explorer.flow import Flow
from chaindata.shared import addresses, outputs, owned_addresses
from chaindata.shared.pages import TIP_TOPIC, PartFreshness, freshness_of, moment
from chaindata.wire import decoding
from chaindata.wire.records.chain import Block, Input, MempoolEntry, Output, Transaction
from chaindata.wire.scripts import steps
from chaindata.wire.transactions import FINAL_SEQUENCE

MOST_SIDES = 100  # inputs and outputs that a page shows unless it is asked for all
ENDING = 6  # characters of an address that its label in the drawing shows
SAT_PER_COIN = decoding.SAT_PER_COIN
_KINDS = {
    steps.Kind.KEY: "pay to public key",
    steps.Kind.KEY_HASH: "pay to public key hash",
    steps.Kind.SCRIPT_HASH: "pay to script hash",
    steps.Kind.MULTISIG: "multisig",
    steps.Kind.RETURN: "message",
    steps.Kind.NONSTANDARD: "non-standard script",
}


@dataclass(frozen=True, slots=True)
class FactsPart:
    """The transaction as a whole; `details` is None until it was read. Unconfirmed: no height, and `entry` if known.

    `confirmations` grow with the tip, so that they are right even if the answer is final and not read again. If no
    transaction has this id, `block` is the block that has it, if any.
    """

    txid: str
    details: Transaction | None
    time: datetime | None
    height: int | None
    confirmations: int
    fee_sat: int | None
    rate: Decimal | None
    entry: MempoolEntry | None
    block: Block | None
    freshness: PartFreshness


@dataclass(frozen=True, slots=True)
class Spending:
    """One input: the output that it spends, with its address and amount. A coinbase spends nothing."""

    n: int
    coinbase: str
    txid: str
    vout: int | None
    address: str
    coins: Decimal | None
    sequence: int
    is_final: bool
    asm: str
    hex: str


@dataclass(frozen=True, slots=True)
class Making:
    """One output: its amount, whom it pays, and what spent it. `spent_height` is None while the spender waits."""

    n: int
    coins: Decimal
    addresses: Sequence[str]
    kind: str
    is_message: bool
    asm: str
    hex: str
    spent_txid: str
    spent_index: int | None
    spent_height: int | None


@dataclass(frozen=True, slots=True)
class SidesPart:
    """Inputs and outputs, the first hundred of each unless all are shown; `owners` has words for our own addresses.

    `flow` draws all of them; None if an amount is not known.
    """

    inputs: Sequence[Spending]
    outputs: Sequence[Making]
    owners: Mapping[str, str]
    input_count: int
    output_count: int
    is_whole: bool
    flow: Flow | None
    freshness: PartFreshness

    @property
    def addresses(self) -> set[str]:
        """Every address that is shown."""
        spent = {each.address for each in self.inputs if each.address}
        return spent | {text for each in self.outputs for text in each.addresses}


@dataclass(frozen=True, slots=True)
class RawPart:
    """The transaction as it travels, in hexadecimal."""

    hex: str
    freshness: PartFreshness


def facts(txid: str, *, now: datetime) -> FactsPart:
    """The first part of the page. The mempool is read only for a transaction that is not in a block."""
    reading = answers.read("get_transaction_details", now=now, txid=txid)
    details: Transaction | None = reading.record
    extra = _extra_readings(txid, reading, now)
    fee_sat = _fee_sat(details)
    records = {one.record.__class__: one.record for one in extra}
    height = details.blockheight if details and details.blockhash else None
    return FactsPart(
        txid=txid,
        details=details,
        time=moment(details.blocktime or details.time) if details else None,
        height=height,
        confirmations=confirmations(details, now=now),
        fee_sat=fee_sat,
        rate=home.rate(fee_sat, details.size) if details and fee_sat is not None else None,
        entry=records.get(MempoolEntry),
        block=records.get(Block),
        freshness=freshness_of(reading, *(one for one in extra if one.record is not None), topics=[TIP_TOPIC]),
    )


def confirmations(details: Transaction | None, *, now: datetime) -> int:
    """Its confirmations by the current tip: those in a final answer are as old as the answer."""
    height = details.blockheight if details and details.blockhash else None
    return home.depth(height, details.confirmations if details else 0, now=now)


def sides(txid: str, *, show_all: bool, now: datetime) -> SidesPart:
    """The inputs and outputs."""
    reading = answers.read("get_transaction_details", now=now, txid=txid)
    details: Transaction | None = reading.record
    inputs = [spending(each) for each in details.vin] if details else []
    outputs = [making(each) for each in details.vout] if details else []
    most = None if show_all else MOST_SIDES
    addresses_shown = {each.address for each in inputs if each.address} | {
        text for each in outputs for text in each.addresses
    }
    owners = owned_addresses.owners(addresses=addresses_shown)
    return SidesPart(
        inputs=inputs[:most],
        outputs=outputs[:most],
        owners=owners,
        input_count=len(inputs),
        output_count=len(outputs),
        is_whole=show_all or max(len(inputs), len(outputs)) <= MOST_SIDES,
        flow=_flow(inputs, outputs, owners),
        freshness=freshness_of(reading, topics=[TIP_TOPIC]),
    )


def _flow(inputs: Sequence[Spending], outputs: Sequence[Making], owners: Mapping[str, str]) -> Flow | None:
    """The drawing of the transaction. The input of a coinbase is drawn with the coins of its outputs."""
    out = sum((each.coins for each in outputs), Decimal(0))
    if inputs and inputs[0].coinbase:
        parts_in = [flow.Part(out, f"Block reward: {out:f} BCH", flow.NEW, "block reward")]
    elif any(each.coins is None for each in inputs):
        return None
    else:
        parts_in = [_part("Input", each.n, each.coins or Decimal(0), [each.address], owners) for each in inputs]
    parts_out = [
        flow.Part(each.coins, f"Output {each.n}: message", flow.MESSAGE, "message")
        if each.is_message
        else _part("Output", each.n, each.coins, each.addresses, owners)
        for each in outputs
    ]
    total = sum((each.coins for each in parts_in), Decimal(0))
    return flow.drawing(inputs=parts_in, outputs=parts_out, fee=max(total - out, Decimal(0)))


def _part(side: str, n: int, coins: Decimal, texts: Sequence[str], owners: Mapping[str, str]) -> flow.Part:
    """An input or output of the drawing, in words: how much, whose. Its label is the end of an address."""
    owner = next((owners[text] for text in texts if text in owners), "")
    words = f"{side} {n}: {coins:f} BCH" + (f", ours: {owner}" if owner else "")
    label = "ours" if owner else _ending(texts[0]) if texts else ""
    return flow.Part(coins, words, flow.OWN if owner else flow.PLAIN, label)


def _ending(text: str) -> str:
    """The end of an address as the lists beside the drawing spell it; any other text ends as it came."""
    try:
        return f"…{addresses.display_form(text)[-ENDING:]}"
    except addresses.NotAnAddress:
        return f"…{text[-ENDING:]}" if text else ""


def raw(txid: str, *, now: datetime) -> RawPart:
    """The bytes."""
    reading = answers.read("get_raw_transaction", now=now, txid=txid, verbose=False)
    return RawPart(reading.record if isinstance(reading.record, str) else "", freshness_of(reading))


def spending(record: Input) -> Spending:
    """An input as the page shows it. `value` is in satoshis, but in coins where lists of an address add `value_sat`."""
    value_sat = record.value_sat if record.value_sat is not None else record.value
    address = record.cash_address or record.legacy_address or record.addr or ""
    return Spending(
        n=record.n,
        coinbase=record.coinbase or "",
        txid=record.txid or "",
        vout=record.vout,
        address=_print_address(address),
        coins=None if value_sat is None else decoding.coins(int(value_sat)),
        sequence=record.sequence,
        is_final=record.sequence == FINAL_SEQUENCE,
        asm=record.script_sig.asm if record.script_sig else "",
        hex=record.script_sig.hex if record.script_sig else "",
    )


def making(record: Output) -> Making:
    """An output as the page shows it. Whom it pays is read from its script, not from what the service says."""
    script = outputs.script_of(record)
    meaning = steps.meaning_of(script, addresses.printing_network())
    return Making(
        n=record.n,
        coins=record.value,
        addresses=[address.cash_address for address in meaning.addresses],
        kind=_KINDS[meaning.kind],
        is_message=meaning.kind is steps.Kind.RETURN,
        asm=steps.asm(script),
        hex=record.script_pub_key.hex,
        spent_txid=record.spent_tx_id or "",
        spent_index=record.spent_index,
        spent_height=record.spent_height if record.spent_height is not None and record.spent_height >= 0 else None,
    )


def _extra_readings(txid: str, reading: Reading, now: datetime) -> list[Reading]:
    """What else is read: for a waiting transaction its mempool entry, for an unknown id the block that may have it."""
    if reading.record is not None and reading.record.blockhash is None:
        return [answers.read("get_mempool_entry", now=now, txid=txid)]
    if reading.record is None and reading.freshness == "missing":
        return [answers.read("get_block_by_hash", now=now, hash=txid)]
    return []


def _fee_sat(details: Transaction | None) -> int | None:
    return None if details is None or details.fees is None else int(details.fees * SAT_PER_COIN)


def _print_address(text: str) -> str:
    """The printed form of an address; a text that is none stays as it came."""
    try:
        return addresses.printed(text) if text else ""
    except addresses.NotAnAddress:
        return text
