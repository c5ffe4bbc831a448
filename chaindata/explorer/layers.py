"""What a transaction means to the layers above the chain, and whether they accept it: messages, verdicts, amounts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from chaindata.cache import answers
from chaindata.cache.answers import Reading
from chaindata.shared import addresses, meanings
from chaindata.shared.meanings import LayerMessage
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
VALID, INVALID, NOT_KNOWN, NO_VERDICT = "valid", "invalid", "not loaded yet", ""


@dataclass(frozen=True, slots=True)
class Meaning:
    """One message of the transaction. `token` is the id of its token, `verdict` whether the layer accepts it.

    `recipients` are the owners whom a send to owners paid, the largest first; `owner_count` is how many they are, and
    `distribution_fee` what that cost in the layer's own coin. `payload` is the message of the property layer as it is
    in the output, in hex; `read_as` what the layer says that it read, "" until that is known.
    """

    message: LayerMessage
    output: int
    verdict: str
    reason: str
    token: str
    token_name: str
    amount: str
    recipients: Sequence[Recipient] = ()
    owner_count: int = 0
    distribution_fee: Decimal | None = None
    payload: str = ""
    read_as: str = ""


@dataclass(frozen=True, slots=True)
class LayersPart:
    """Every message, and how many tokens each output carries by messages that are not refused."""

    meanings: Sequence[Meaning]
    tokens: Mapping[int, str]
    freshness: PartFreshness


def layers(txid: str, *, now: datetime) -> LayersPart:
    """The messages in the transaction's outputs; each layer is asked only about messages to it."""
    reading = answers.read("get_transaction_details", now=now, txid=txid)
    messages = _messages(reading.record) if reading.record else []
    report, readings = _report_of(txid, messages, now)
    return LayersPart(
        meanings=[_meaning(n, message, script, report) for n, message, script in messages],
        tokens=_ledger_amounts(report),
        freshness=freshness_of(reading, *readings, topics=[TIP_TOPIC]),
    )


@dataclass(frozen=True, slots=True)
class _Report:
    """What the layers say of the transaction, as far as they have answered."""

    txid: str
    ledger_message: slp.Message | None = None
    validity: Validity | None = None
    token: Token | None = None
    token_transaction: TokenTransaction | None = None
    distribution: TokenTransaction | None = None
    payload: Payload | None = None

    @property
    def token_id(self) -> str:
        """The token of the message; for a genesis its id is that of the transaction."""
        return self.ledger_message.token_id if isinstance(self.ledger_message, slp.Mint | slp.Send) else self.txid


def _report_of(
    txid: str, messages: Sequence[tuple[int, LayerMessage, bytes]], now: datetime
) -> tuple[_Report, list[Reading]]:
    ledger_script = next(
        (script for n, message, script in messages if message.layer == meanings.SIMPLE_LEDGER and n == 0), None
    )
    has_property_message = any(message.layer == meanings.PROPERTY_TOKENS for _, message, _ in messages)
    report = _Report(txid, _ledger_message(ledger_script))
    readings: list[Reading] = []
    if report.ledger_message is not None:
        readings.append(answers.read("validate_slp_transaction", now=now, txid=txid))
        readings.append(answers.read("get_slp_token", now=now, tokenId=report.token_id))
        report = replace(report, validity=readings[0].record, token=readings[1].record)
    if has_property_message:
        readings.append(answers.read("get_token_transaction", now=now, txid=txid))
        report = replace(report, token_transaction=readings[-1].record)
        if report.token_transaction is not None:
            readings.append(answers.read("get_payload", now=now, txid=txid))
            report = replace(report, payload=readings[-1].record)
        if (
            report.token_transaction is not None
            and report.token_transaction.type_int == SEND_TO_OWNERS
            and report.token_transaction.valid
        ):
            readings.append(answers.read("get_send_to_owners", now=now, txid=txid, recipientFilter="*"))
            report = replace(report, distribution=readings[-1].record)
    return report, readings


def _messages(record: Transaction) -> list[tuple[int, LayerMessage, bytes]]:
    network, messages = addresses.printing_network(), []
    for output in record.vout:
        script = script_of(output)
        message = meanings.message_of(Output(0, script), output.n, network=network)
        if message is not None:
            messages.append((output.n, message, script))
    return messages


def _ledger_message(script: bytes | None) -> slp.Message | None:
    try:
        return slp.read(script) if script is not None else None
    except slp.NotAMessage:
        return None


def _meaning(n: int, message: LayerMessage, script: bytes, report: _Report) -> Meaning:
    if message.layer == meanings.PROPERTY_TOKENS:
        meaning = _with_recipients(_property(n, message, report.token_transaction), report.distribution)
        read_as = report.payload.payload.lower() if report.payload else ""
        return replace(meaning, payload=(payloads.carried_by(script) or b"").hex(), read_as=read_as)
    if message.layer == meanings.SIMPLE_LEDGER and report.ledger_message is not None and not message.problem and n == 0:
        return _ledger(message, report)
    return Meaning(message, n, INVALID if message.problem else NO_VERDICT, message.problem, "", "", "")


def _ledger(message: LayerMessage, report: _Report) -> Meaning:
    """A message of the simple ledger, with the name of its token."""
    validity, token = report.validity, report.token
    verdict = NOT_KNOWN if validity is None else VALID if validity.valid else INVALID
    reason = (validity.invalid_reason or "") if validity else ""
    name = (token.symbol or token.name or "") if token and token.is_known else ""
    if _decimals(token) is not None:
        # The outputs show the same amounts in tokens.
        message = replace(message, lines=tuple(line for line in message.lines if not line[0].startswith("base units")))
    return Meaning(message, 0, verdict, reason, report.token_id, name, "")


def _property(n: int, message: LayerMessage, token_transaction: TokenTransaction | None) -> Meaning:
    """A message of the property layer, with the amount as that layer counts it."""
    if message.problem or token_transaction is None:
        return Meaning(message, n, INVALID if message.problem else NOT_KNOWN, message.problem, "", "", "")
    verdict = NOT_KNOWN if token_transaction.valid is None else VALID if token_transaction.valid else INVALID
    token = "" if token_transaction.propertyid is None else str(token_transaction.propertyid)
    if token_transaction.erc721propertyid:
        token = f"{tokens.COLLECTIBLE}-{token_transaction.erc721propertyid}"
    amount = "" if token_transaction.amount is None else format(token_transaction.amount, "f")
    return Meaning(
        message, n, verdict, token_transaction.invalidreason or "", token, token_transaction.propertyname or "", amount
    )


def _with_recipients(meaning: Meaning, distribution: TokenTransaction | None) -> Meaning:
    """The same with the owners that it paid, once they were read."""
    if distribution is None:
        return meaning
    owner_count = sorted(distribution.recipients or [], key=lambda each: (-each.amount, each.address))
    largest = [Recipient(tokens.printed(each.address), each.amount) for each in owner_count[:MOST_RECIPIENTS]]
    return replace(meaning, recipients=largest, owner_count=len(owner_count), distribution_fee=distribution.totalstofee)


def _ledger_amounts(report: _Report) -> dict[int, str]:
    """Tokens by output, in base units until the token's decimals are known. A refused message carries none."""
    message, token = report.ledger_message, report.token
    if report.validity is not None and not report.validity.valid:
        return {}
    decimals, symbol = _decimals(token), (token.symbol or "") if token else ""
    match message:
        case slp.Send(quantities=quantities):
            units_by_output = dict(enumerate(quantities, 1))
        case slp.Genesis(quantity=quantity):
            units_by_output, decimals, symbol = {1: quantity}, message.decimals, slp.text_of(message.ticker)
        case slp.Mint(quantity=quantity):
            units_by_output = {1: quantity}
        case _:
            units_by_output = {}
    return {n: _amount_text(units, decimals, symbol) for n, units in units_by_output.items() if units}


def _decimals(token: Token | None) -> int | None:
    """How many decimals the token has; None until they are known, or if no token can have as many."""
    places = token.decimals if token is not None else None
    return places if places is not None and 0 <= places <= slp.MOST_DECIMALS else None


def _amount_text(units: int, decimals: int | None, symbol: str) -> str:
    if decimals is None:
        return f"{units:,} base units"
    return f"{Decimal(units).scaleb(-decimals):,f} {symbol or 'tokens'}".strip()
