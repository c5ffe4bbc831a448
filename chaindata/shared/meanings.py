"""Messages in outputs to the layers above the chain: simple ledger, property tokens, cash accounts, or plain text.

They are read from the script alone. Whether a layer accepts one depends on what is spent, and on the chain.
"""

from dataclasses import dataclass

from chaindata.wire import cash_accounts
from chaindata.wire.addresses import Network
from chaindata.wire.scripts import steps
from chaindata.wire.scripts.steps import Kind
from chaindata.wire.tokens import payloads, slp
from chaindata.wire.tokens.payload_fields import NotAPayload, Zero
from chaindata.wire.transactions import Output

SIMPLE_LEDGER, PROPERTY_TOKENS, CASH_ACCOUNTS, TEXT = "SLP", "Property tokens", "Cash account", "OP_RETURN"
_MOST_TEXT = 220  # characters of a note; relayed scripts can't hold more

TITLES: dict[tuple[int, ...], str] = {
    (0,): "Simple Send",
    (1,): "Crowdsale Purchase",
    (3,): "Send To Owners",
    (4,): "Send All",
    (50,): "Create Property - Fixed",
    (51,): "Create Property - Variable",
    (53,): "Close Crowdsale",
    (54,): "Create Property - Manual",
    (55,): "Grant Property Tokens",
    (56,): "Revoke Property Tokens",
    (68,): "Burn BCH Get WHC",
    (70,): "Change Issuer Address",
    (185,): "Freeze Property Tokens",
    (186,): "Unfreeze Property Tokens",
    (9, 1): "Issue ERC721 Property",
    (9, 2): "Issue ERC721 Token",
    (9, 3): "Transfer ERC721 Token",
    (9, 4): "Destroy ERC721 Token",
}
"""The names of the property layer's operations (supplement 1.13), by type and action."""


@dataclass(frozen=True, slots=True)
class LayerMessage:
    """One message: its layer, its operation, its fields as label and text. With a `problem` the layer ignores it."""

    layer: str
    what: str
    lines: tuple[tuple[str, str], ...] = ()
    problem: str = ""


def message_of(output: Output, n: int, *, network: Network) -> LayerMessage | None:
    """The message in output number `n`; None if the output only holds coins."""
    script = output.script
    if steps.kind_of(script) is not Kind.RETURN and not steps.is_unspendable(script):
        return None
    if (raw := payloads.carried_by(script)) is not None:
        return _payload(raw)
    if cash_accounts.is_claimed(script):
        return _account(script, network)
    return _ledger(script, n) or _note(script)


def payload_title(payload: payloads.Payload) -> str:
    """The layer's name of an operation."""
    return TITLES[payload.key]


def _payload(raw: bytes) -> LayerMessage:
    try:
        payload = payloads.read(raw)
    except NotAPayload as problem:
        return LayerMessage(PROPERTY_TOKENS, "Unreadable", (("bytes", raw.hex()),), str(problem))
    lines = tuple(
        (form.name.replace("_id", "_ID").replace("_", " "), str(getattr(payload, form.name)))
        for form in payload.layout
        if not isinstance(form, Zero)
    )
    return LayerMessage(PROPERTY_TOKENS, payload_title(payload), lines)


def _account(script: bytes, network: Network) -> LayerMessage:
    try:
        registration = cash_accounts.read(script)
    except cash_accounts.NotARegistration as problem:
        return LayerMessage(CASH_ACCOUNTS, "Unreadable", (), str(problem))
    payments = tuple((payment.words.lower(), payment.text(network)) for payment in registration.payments)
    return LayerMessage(CASH_ACCOUNTS, "Registration", (("name", registration.name), *payments))


def _ledger(script: bytes, n: int) -> LayerMessage | None:
    try:
        message = slp.read(script)
    except slp.NotAMessage as problem:
        if problem.problem is slp.Problem.OTHER_PROTOCOL:
            return None
        return LayerMessage(SIMPLE_LEDGER, "Unreadable", (), str(problem))
    elsewhere = "" if n == 0 else "SLP messages are valid only in output 0."
    return LayerMessage(SIMPLE_LEDGER, type(message).__name__.upper(), _message_lines(message), elsewhere)


def _message_lines(message: slp.Message) -> tuple[tuple[str, str], ...]:
    match message:
        case slp.Genesis():
            baton = "none: the supply is final" if message.baton_vout is None else f"output {message.baton_vout}"
            return (
                ("ticker", slp.text_of(message.ticker)),
                ("name", slp.text_of(message.name)),
                ("document", slp.text_of(message.document_uri)),
                ("document hash", message.document_hash.hex()),
                ("decimals", str(message.decimals)),
                ("minting baton", baton),
                ("base units to output 1", str(message.quantity)),
            )
        case slp.Mint():
            baton = "given up" if message.baton_vout is None else f"output {message.baton_vout}"
            return (
                ("token", message.token_id),
                ("minting baton", baton),
                ("base units to output 1", str(message.quantity)),
            )
        case slp.Send():
            units = tuple((f"base units to output {n}", str(each)) for n, each in enumerate(message.quantities, 1))
            return (("token", message.token_id), *units)
        case slp.Commit():
            return (("checkpoint", "moves nothing"),)


def _note(script: bytes) -> LayerMessage:
    try:
        pushes = [step.pushed for step in steps.steps(script[1:]) if step.pushed]
    except steps.NotAScript as problem:
        return LayerMessage(TEXT, "Unreadable", (("bytes", script.hex()[: 2 * _MOST_TEXT]),), str(problem))
    return LayerMessage(TEXT, "Text", tuple(("data", _readable(each)) for each in pushes))


def _readable(raw: bytes) -> str:
    """The text if the bytes are one, else the bytes in hexadecimal."""
    text = raw.decode("utf-8", "replace")
    return text[:_MOST_TEXT] if text.isprintable() and "\ufffd" not in text else raw.hex()[: 2 * _MOST_TEXT]
