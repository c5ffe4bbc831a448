"""What a transaction means to the layers above the chain, and whether they take it: messages, verdicts, amounts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from chaindata.cache import answers
from chaindata.cache.answers import Reading
from chaindata.shared import addresses, meanings
from chaindata.shared.meanings import Said
from chaindata.shared.outputs import script_of
from chaindata.shared.pages import TIP_TOPIC, PartFreshness, freshness_of
from chaindata.tokens import tokens
from chaindata.wire.records.chain import Transaction
from chaindata.wire.records.slp import Token, Validity
from chaindata.wire.records.tokens import Payload, Recipient, TokenTransaction
from chaindata.wire.tokens import payloads, slp
from chaindata.wire.transactions import Output

SEND_TO_OWNERS = 3  # its type in the property layer
MOST_RECIPIENTS = 50
VALID, INVALID, NOT_KNOWN, NO_VERDICT = "valid", "invalid", "not known yet", ""


@dataclass(frozen=True, slots=True)
class Meaning:
    """One message of the transaction. `token` is the id of what it is about, `verdict` the layer's word about it.

    `recipients` are the owners whom a send to owners reached, the largest first, `reached` how many there are, and
    `distribution_fee` what that cost in the layer's own coin. `payload` are the bytes of a message of the property
    layer in the output itself, in hex, and `read_as` those that the layer says it read, "" until it was asked.
    """

    said: Said
    output: int
    verdict: str
    reason: str
    token: str
    token_name: str
    amount: str
    recipients: Sequence[Recipient] = ()
    reached: int = 0
    distribution_fee: Decimal | None = None
    payload: str = ""
    read_as: str = ""


@dataclass(frozen=True, slots=True)
class LayersPart:
    """Every message, and how many tokens each output carries by a message that is not refused."""

    meanings: Sequence[Meaning]
    tokens: Mapping[int, str]
    freshness: PartFreshness


def layers(txid: str, *, now: datetime) -> LayersPart:
    """The messages of the transaction's outputs; the layers are asked only about what speaks to them."""
    reading = answers.look("get_transaction_details", now=now, txid=txid)
    spoken = _spoken(reading.record) if reading.record else []
    known, readings = _known_of(txid, spoken, now)
    return LayersPart(
        meanings=[_meaning(n, said, script, known) for n, said, script in spoken],
        tokens=_ledger_amounts(known),
        freshness=freshness_of(reading, *readings, topics=[TIP_TOPIC]),
    )


@dataclass(frozen=True, slots=True)
class _Known:
    """What the layers told of the transaction, as far as they were asked and have answered."""

    txid: str
    message: slp.Message | None = None
    validity: Validity | None = None
    token: Token | None = None
    moved: TokenTransaction | None = None
    shared_out: TokenTransaction | None = None
    payload: Payload | None = None

    @property
    def token_id(self) -> str:
        """The token of the message; a genesis makes the one that is called like its transaction."""
        return self.message.token_id if isinstance(self.message, slp.Mint | slp.Send) else self.txid


def _known_of(txid: str, spoken: Sequence[tuple[int, Said, bytes]], now: datetime) -> tuple[_Known, list[Reading]]:
    ledger = next((script for n, said, script in spoken if said.layer == meanings.SIMPLE_LEDGER and n == 0), None)
    owned = any(said.layer == meanings.PROPERTY_TOKENS for _, said, _ in spoken)
    known = _Known(txid, _message(ledger))
    readings: list[Reading] = []
    if known.message is not None:
        readings.append(answers.look("validate_slp_transaction", now=now, txid=txid))
        readings.append(answers.look("get_slp_token", now=now, tokenId=known.token_id))
        known = replace(known, validity=readings[0].record, token=readings[1].record)
    if owned:
        readings.append(answers.look("get_token_transaction", now=now, txid=txid))
        known = replace(known, moved=readings[-1].record)
        if known.moved is not None:
            readings.append(answers.look("get_payload", now=now, txid=txid))
            known = replace(known, payload=readings[-1].record)
        if known.moved is not None and known.moved.type_int == SEND_TO_OWNERS and known.moved.valid:
            readings.append(answers.look("get_send_to_owners", now=now, txid=txid, recipientFilter="*"))
            known = replace(known, shared_out=readings[-1].record)
    return known, readings


def _spoken(found: Transaction) -> list[tuple[int, Said, bytes]]:
    network, spoken = addresses.printing_network(), []
    for output in found.vout:
        script = script_of(output)
        said = meanings.of_output(Output(0, script), output.n, network=network)
        if said is not None:
            spoken.append((output.n, said, script))
    return spoken


def _message(script: bytes | None) -> slp.Message | None:
    try:
        return slp.read(script) if script is not None else None
    except slp.NotAMessage:
        return None


def _meaning(n: int, said: Said, script: bytes, known: _Known) -> Meaning:
    if said.layer == meanings.PROPERTY_TOKENS:
        found = _with_recipients(_property(n, said, known.moved), known.shared_out)
        read_as = known.payload.payload.lower() if known.payload else ""
        return replace(found, payload=(payloads.carried_by(script) or b"").hex(), read_as=read_as)
    if said.layer == meanings.SIMPLE_LEDGER and known.message is not None and not said.problem and n == 0:
        return _ledger(said, known)
    return Meaning(said, n, INVALID if said.problem else NO_VERDICT, said.problem, "", "", "")


def _ledger(said: Said, known: _Known) -> Meaning:
    """A message of the simple ledger, with the name of its token."""
    validity, token = known.validity, known.token
    verdict = NOT_KNOWN if validity is None else VALID if validity.valid else INVALID
    reason = (validity.invalid_reason or "") if validity else ""
    name = (token.symbol or token.name or "") if token and token.is_known else ""
    if _decimals(token) is not None:
        # The outputs say the same in tokens.
        said = replace(said, lines=tuple(line for line in said.lines if not line[0].startswith("base units")))
    return Meaning(said, 0, verdict, reason, known.token_id, name, "")


def _property(n: int, said: Said, moved: TokenTransaction | None) -> Meaning:
    """A message of the property layer, with the amount as that layer counts it."""
    if said.problem or moved is None:
        return Meaning(said, n, INVALID if said.problem else NOT_KNOWN, said.problem, "", "", "")
    verdict = NOT_KNOWN if moved.valid is None else VALID if moved.valid else INVALID
    token = "" if moved.propertyid is None else str(moved.propertyid)
    if moved.erc721propertyid:
        token = f"{tokens.COLLECTIBLE}-{moved.erc721propertyid}"
    amount = "" if moved.amount is None else format(moved.amount, "f")
    return Meaning(said, n, verdict, moved.invalidreason or "", token, moved.propertyname or "", amount)


def _with_recipients(meaning: Meaning, shared_out: TokenTransaction | None) -> Meaning:
    """The same, with the owners that it reached, as far as that was read."""
    if shared_out is None:
        return meaning
    reached = sorted(shared_out.recipients or [], key=lambda each: (-each.amount, each.address))
    largest = [Recipient(tokens.printed(each.address), each.amount) for each in reached[:MOST_RECIPIENTS]]
    return replace(meaning, recipients=largest, reached=len(reached), distribution_fee=shared_out.totalstofee)


def _ledger_amounts(known: _Known) -> dict[int, str]:
    """Tokens by output; in base units while the token's decimals are not known. A refused message carries none."""
    message, token = known.message, known.token
    if known.validity is not None and not known.validity.valid:
        return {}
    decimals, symbol = _decimals(token), (token.symbol or "") if token else ""
    match message:
        case slp.Send(quantities=quantities):
            found = dict(enumerate(quantities, 1))
        case slp.Genesis(quantity=quantity):
            found, decimals, symbol = {1: quantity}, message.decimals, slp.text_of(message.ticker)
        case slp.Mint(quantity=quantity):
            found = {1: quantity}
        case _:
            found = {}
    return {n: _spelled(units, decimals, symbol) for n, units in found.items() if units}


def _decimals(token: Token | None) -> int | None:
    """Into how many places the token is divided; None while that is not known, or told as what no token can have."""
    places = token.decimals if token is not None else None
    return places if places is not None and 0 <= places <= slp.MOST_DECIMALS else None


def _spelled(units: int, decimals: int | None, symbol: str) -> str:
    if decimals is None:
        return f"{units:,} base units"
    return f"{Decimal(units).scaleb(-decimals):,f} {symbol or 'tokens'}".strip()
