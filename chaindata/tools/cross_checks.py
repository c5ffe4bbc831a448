"""What the service says of the same bytes and texts, compared with what was worked out here.

A difference is shown. It is clear which of the two to believe: what follows from the bytes was computed here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from chaindata.cache import answers
from chaindata.cache.answers import Reading
from chaindata.headers.models import ChainHeader
from chaindata.shared import addresses
from chaindata.shared.pages import TIP_TOPIC, PartFreshness, freshness_of
from chaindata.tokens import tokens
from chaindata.tools import payloads
from chaindata.tools.payloads import BuiltPayload, Operation
from chaindata.tools.tools import CheckedProof, Conversion, Decoded, DecodedScript
from chaindata.wire import catalogue, decoding, transactions
from chaindata.wire.records import addresses as address_records
from chaindata.wire.records import chain, slp
from chaindata.wire.transactions import Input
from wire.operation import BadArgument

TOO_LONG = "Too large for the service to check; only our own decoding is shown."
_NOTHING = PartFreshness("fresh", None, True, "", "")


@dataclass(frozen=True, slots=True)
class Opinion:
    """What the service says. `agrees` is None until it has answered; `differs` names what it says differently.

    `reason_not_asked` is the sentence that says why it was not asked.
    """

    record: Any
    agrees: bool | None
    differs: tuple[str, ...]
    reason_not_asked: str
    freshness: PartFreshness


def _without_opinion(sentence: str) -> Opinion:
    return Opinion(None, None, (), sentence, _NOTHING)


def _opinion(reading: Reading, differs: tuple[str, ...]) -> Opinion:
    agrees = None if reading.record is None else not differs
    return Opinion(reading.record, agrees, differs, "", freshness_of(reading))


# Addresses ------------------------------------------------------------------------------------------------------------


def address_opinion(*, conversion: Conversion, now: datetime) -> Opinion:
    """The service's conversion of the address, and whether it accepts it as one."""
    if not conversion.is_ours:
        return _without_opinion("The service is on a different network, so it can't check this address.")
    text = addresses.printed(conversion.address.cash_address)
    forms, valid = answers.read_many(
        [("convert_address", {"address": text}), ("validate_address", {"address": text})], now=now
    )
    freshness = freshness_of(forms, valid)
    if forms.record is None or valid.record is None:
        return Opinion(None, None, (), "", freshness)
    differs = _address_differences(conversion, forms.record, valid.record)
    return Opinion({"forms": forms.record, "validity": valid.record}, not differs, differs, "", freshness)


def _address_differences(
    conversion: Conversion, forms: slp.AddressForms, valid: address_records.AddressValidation
) -> tuple[str, ...]:
    ours = conversion.address.cash_address
    form_by_name = {
        "cash address": forms.cash_address,
        "SLP address": forms.slp_address,
        "legacy address": forms.legacy_address,
    }
    differs = [name for name, text in form_by_name.items() if not addresses.same(text, ours)]
    if not valid.isvalid:
        return (*differs, "validity")
    if conversion.script and valid.script_pub_key != conversion.script:
        differs.append("locking script")
    return tuple(differs)


# Bytes ----------------------------------------------------------------------------------------------------------------


def transaction_opinion(*, decoded: Decoded, now: datetime) -> Opinion:
    """The node's decoding of the transaction without its signatures, so that the service can't send it."""
    decoded = _without_signatures(decoded)
    text = decoded.transaction.raw.hex()
    if len(text) > catalogue.MOST_HEX_IN_PATH:
        return _without_opinion(TOO_LONG)
    reading = answers.read("decode_transaction", now=now, hex=text)
    return _opinion(reading, _transaction_differences(decoded, reading.record) if reading.record is not None else ())


def _without_signatures(decoded: Decoded) -> Decoded:
    """The transaction with empty unlocking scripts; a coinbase, which nobody can send, stays as it is."""
    transaction = decoded.transaction
    if transaction.is_coinbase:
        return decoded
    inputs = [Input(each.txid_bytes, each.index, b"", each.sequence) for each in transaction.inputs]
    bare = transactions.build(
        inputs=inputs, outputs=transaction.outputs, version=transaction.version, locktime=transaction.locktime
    )
    return replace(decoded, transaction=bare, txid=bare.txid)


def _transaction_differences(decoded: Decoded, answer: chain.DecodedTransaction) -> tuple[str, ...]:
    transaction = decoded.transaction
    pairs: dict[str, tuple[object, object]] = {
        "ID": (answer.txid, decoded.txid),
        "size": (answer.size, transaction.size),
        "version": (answer.version, transaction.version),
        "locktime": (answer.locktime, transaction.locktime),
        "inputs": (
            [(each.txid, each.vout) for each in answer.vin if each.coinbase is None],
            [(each.txid, each.index) for each in transaction.inputs if not each.is_coinbase],
        ),
        "amounts": (
            [each.value for each in answer.vout],
            [decoding.coins(each.value_sat) for each in decoded.outputs],
        ),
        "scripts": ([each.script_pub_key.hex for each in answer.vout], [each.script for each in decoded.outputs]),
        "script opcodes": ([each.script_pub_key.asm for each in answer.vout], [each.asm for each in decoded.outputs]),
    }
    return tuple(name for name, (theirs, ours) in pairs.items() if theirs != ours)


def script_opinion(*, decoded: DecodedScript, now: datetime) -> Opinion:
    """The node's decoding of the same script."""
    if len(decoded.script) > catalogue.MOST_HEX_IN_PATH:
        return _without_opinion(TOO_LONG)
    if not decoded.script:
        return _without_opinion("The script is empty.")
    reading = answers.read("decode_script", now=now, hex=decoded.script)
    answer: chain.DecodedScript | None = reading.record
    if answer is None:
        return _opinion(reading, ())
    pairs = {"opcodes": (answer.asm, decoded.asm), "type": (answer.type, decoded.kind)}
    differs = [name for name, (theirs, ours) in pairs.items() if theirs != ours]
    if answer.p2sh and decoded.p2sh and not addresses.same(answer.p2sh, decoded.p2sh):
        differs.append("P2SH address")
    return _opinion(reading, tuple(differs))


# Proofs ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StoredHeader:
    """The proof's block among the headers that the desk follows. `height` is None if the header is not stored."""

    height: int | None
    is_active: bool
    confirmations: int


def stored_header(*, checked: CheckedProof) -> StoredHeader:
    """Where the block of a proof is in the chain that the desk follows."""
    row = ChainHeader.objects.filter(hash=checked.header.hash).first()
    if row is None:
        return StoredHeader(None, False, 0)
    highest = ChainHeader.objects.filter(is_active=True).order_by("-height").values_list("height", flat=True).first()
    deep = (highest or row.height) - row.height + 1 if row.is_active else 0
    return StoredHeader(row.height, row.is_active, deep)


def proof_opinion(*, checked: CheckedProof, now: datetime) -> Opinion:
    """The transactions that the proof shows by the node, which also checks that the block is in its best chain."""
    text = checked.proof.raw.hex()
    if len(text) > catalogue.MOST_HEX_IN_PATH:
        return _without_opinion(TOO_LONG)
    reading = answers.read("verify_tx_out_proof", now=now, proof=text)
    proven = [each.txid for each in checked.proven] if checked.holds else []
    differs = () if reading.record is None or reading.record == proven else ("proven transactions",)
    freshness = freshness_of(reading, topics=[TIP_TOPIC])
    return Opinion(reading.record, None if reading.record is None else not differs, differs, "", freshness)


# Payloads -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Building:
    """A payload being built: `payload` is None while the precision of its property is not known.

    `problems` maps fields to sentences. `precision` is that of the property `property_id`.
    """

    payload: BuiltPayload | None
    property_id: int | None
    precision: int | None
    is_unknown: bool
    problems: Mapping[str, str]
    opinion: Opinion
    freshness: PartFreshness

    @property
    def combined_freshness(self) -> PartFreshness:
        """The freshness of both readings: their topics, and whether either can still change."""
        both = (self.freshness, self.opinion.freshness)
        topics = " ".join(each.topics for each in both if each.topics)
        return PartFreshness(
            self.freshness.word, self.freshness.read_at, all(each.is_final for each in both), "", topics
        )


def payload(*, operation: Operation, values: Mapping[str, Any], now: datetime) -> Building:
    """The payload, built here once the precision is known, and compared with the one that the service builds."""
    needed_property = payloads.precision_needed(operation=operation, values=values)
    precision, freshness, unknown = payloads.FIRST_PRECISION, _NOTHING, False
    opinion = _payload_opinion(operation, values, now)
    if needed_property is not None:
        reading = answers.read("get_property", now=now, propertyId=needed_property)
        freshness, unknown = (
            freshness_of(reading),
            reading.record is None and reading.freshness in ("missing", "refused"),
        )
        if reading.record is None:
            return Building(None, needed_property, None, unknown, {}, opinion, freshness)
        precision = tokens.precision_of(reading.record.precision)
    try:
        built_payload = payloads.make(operation=operation, values=values, precision=precision)
    except payloads.CannotMake as problem:
        return Building(None, needed_property, precision, False, problem.problems, opinion, freshness)
    if opinion.record is not None:
        same = opinion.record == built_payload.raw
        opinion = Opinion(opinion.record, same, () if same else ("payload",), "", opinion.freshness)
    return Building(built_payload, needed_property, precision, False, {}, opinion, freshness)


def _payload_opinion(operation: Operation, values: Mapping[str, Any], now: datetime) -> Opinion:
    params = {name: _as_param(values[name]) for name in operation.fields if values.get(name) not in (None, "")}
    try:
        reading = answers.read(operation.name, now=now, **params)
    except BadArgument as problem:
        return _without_opinion(f"The service can't be queried: {problem.problem}")
    return Opinion(reading.record, None, (), "", freshness_of(reading))


def _as_param(value: Any) -> Any:
    """An amount as an exact number; everything else unchanged."""
    is_figure = isinstance(value, payloads.Figure)
    return Decimal(value) if is_figure else value


# The simple ledger ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LedgerVerdict:
    """Whether the layer accepts a transaction, what it burned, and its message; each None until it was read."""

    validity: slp.Validity | None
    burned: slp.BurnTotal | None
    details: slp.TokenTransaction | None
    is_missing: bool
    freshness: PartFreshness

    @property
    def token_id(self) -> str:
        """The token in the transaction's message; "" if it names none."""
        token = self.details.token_info if self.details is not None else None
        token_id = (token.token_id_hex or "") if token is not None else ""
        return token_id if tokens.kind_of(token_id) == tokens.SIMPLE else ""


def ledger_verdict(*, txid: str, now: datetime) -> LedgerVerdict:
    """The simple ledger's verdict on one transaction, and the tokens lost in it."""
    validity, burned, details = answers.read_many(
        [
            ("validate_slp_transaction", {"txid": txid}),
            ("get_slp_burn_total", {"transactionId": txid}),
            ("get_slp_transaction", {"txid": txid}),
        ],
        now=now,
    )
    freshness = freshness_of(validity, burned, details, topics=[TIP_TOPIC])
    return LedgerVerdict(validity.record, burned.record, details.record, details.freshness == "missing", freshness)
