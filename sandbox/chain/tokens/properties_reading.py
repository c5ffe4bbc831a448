"""What a transaction says to the property-token layer: payload, sender, receiver (supplement 1.13)."""

from collections.abc import Callable

from chaindata.wire import addresses
from chaindata.wire.tokens import payloads
from chaindata.wire.tokens.payloads import Freeze, NotAPayload, Payload, Unfreeze
from chaindata.wire.transactions import Output, Transaction
from sandbox.chain.tokens.properties_terms import BURN_ADDRESS, BURN_SCRIPT, TAKEN, Carried, paid_by, printed

OutputOf = Callable[[bytes, int], Output | None]
"""The output that an input names, spent or not."""


def carries(transaction: Transaction) -> bool:
    """Whether it may say something to the layer; `read` finds out."""
    return any(payloads.MARKER in output.script for output in transaction.outputs)


def read(transaction: Transaction, output_of: OutputOf) -> Carried | None:
    """What it says: by the first output that carries a payload. None: nothing, or by nobody who has an address."""
    place, raw = _payload_of(transaction)
    if raw is None or transaction.is_coinbase:
        return None
    spent = [output_of(each.txid_bytes, each.index) for each in transaction.inputs]
    sender = paid_by(spent[0].script) if spent[0] is not None else ""
    if not sender:
        return None
    payload = _payload(raw)
    return Carried(
        transaction.txid,
        raw,
        payload,
        sender,
        _receiver(transaction, payload),
        sum(output.value_sat for output in spent if output is not None) - transaction.value_out_sat,
        _burnt_sat(transaction, place),
    )


def _payload_of(transaction: Transaction) -> tuple[int, bytes | None]:
    for place, output in enumerate(transaction.outputs):
        raw = payloads.carried_by(output.script)
        if raw is not None:
            return place, raw
    return -1, None


def _payload(raw: bytes) -> Payload | None:
    """The operation, or None when the bytes are none, or would freeze what is no address here."""
    try:
        payload = payloads.read(raw)
        if isinstance(payload, Freeze | Unfreeze):
            addresses.read(payload.address, networks=TAKEN)
    except (NotAPayload, addresses.NotAnAddress):
        return None
    return payload


def _receiver(transaction: Transaction, payload: Payload | None) -> str:
    """The last address paid but the burn address; who is frozen or set free stands in the payload."""
    if isinstance(payload, Freeze | Unfreeze):
        return printed(addresses.read(payload.address, networks=TAKEN))
    for output in reversed(transaction.outputs):
        address = paid_by(output.script)
        if address and address != BURN_ADDRESS:
            return address
    return ""


def _burnt_sat(transaction: Transaction, place: int) -> int:
    first = transaction.outputs[0]
    return first.value_sat if place == 1 and first.script == BURN_SCRIPT else 0
