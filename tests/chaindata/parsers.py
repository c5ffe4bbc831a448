"""Everything that reads bytes or texts of the chain from others, as one table: for the corpus and for the fuzzer.

Each parser ends with a value, of which it also checks what must hold of it, or with an error of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from chaindata.wire import (
    addresses,
    cash_accounts,
    catalogue,
    decoding,
    hashing,
    headers,
    keys,
    proofs,
    refusals,
    transactions,
)
from chaindata.wire.addresses import Network
from chaindata.wire.scripts import signature_form, steps
from chaindata.wire.tokens import amounts, payload_fields, payloads, slp
from chaindata.wire.transactions import Input, Output
from sandbox.chain.scripts import script_engine
from sandbox.chain.scripts.script_spending import Spending
from sandbox.server import requests
from wire import jsonrpc, records
from wire.errors import BadReply
from wire.values import CannotRead, Secret

CORPUS = Path(__file__).parents[1] / "corpus" / "chain"
MOST_PRECISION = 8


@dataclass(frozen=True)
class Parser:
    """`take` reads the bytes; whatever it raises besides `errors` is a fault of ours."""

    take: Callable[[bytes], object]
    errors: tuple[type[Exception], ...] = ()

    def ends_well(self, raw: bytes) -> bool:
        """Whether the bytes were read; False when they were refused. Raises what must not be raised."""
        try:
            self.take(raw)
        except self.errors:
            return False
        return True


def _transaction(raw: bytes) -> object:
    read = transactions.read(raw)
    again = transactions.build(inputs=read.inputs, outputs=read.outputs, version=read.version, locktime=read.locktime)
    assert again.raw == raw
    return decoding.transaction(read, Network.TEST)


def _checked_transaction(raw: bytes) -> object:
    read = transactions.read(raw)
    transactions.check(read)
    assert read.value_out_sat >= 0
    return cash_accounts.registration_of(read)


def _script(raw: bytes) -> object:
    meaning = steps.meaning_of(raw, Network.TEST)
    assert (meaning.kind is steps.Kind.NONSTANDARD) <= (not meaning.addresses)
    assert ("[error]" in steps.asm(raw)) == _is_cut_short(raw)
    return decoding.script(raw, Network.TEST), steps.asm(raw, unlocks=True)


def _is_cut_short(raw: bytes) -> bool:
    try:
        list(steps.steps(raw))
    except steps.NotAScript:
        return True
    return False


_SPENDING = Spending(
    transactions.build(inputs=[Input(bytes(32), 0, b"", 5)], outputs=[Output(1, b"")], locktime=500), 0, 1_000
)


def _execution(raw: bytes) -> object:
    """The first byte says how much of the rest unlocks."""
    at = 1 + (raw[0] if raw else 0)
    return script_engine.objection(raw[1:at], raw[at:], _SPENDING)


def _address(raw: bytes) -> object:
    read = addresses.read(raw.decode("utf-8", "replace"))
    for form in (read.cash_address, read.slp_address, read.legacy_address):
        assert not form or addresses.read(form, networks=(read.network,)) == read
    return read


def _proof(raw: bytes) -> object:
    read = proofs.read(raw)
    assert read.raw == raw
    return proofs.proven(read)


def _header(raw: bytes) -> object:
    read = headers.read(raw)
    assert read.raw == raw
    headers.check_work(read, easiest_target=headers.EASIEST_TARGET["regtest"])
    return read.hash


def _slp(raw: bytes) -> object:
    read = slp.read(raw)
    if not isinstance(read, slp.Commit):
        assert slp.read(slp.script_of(read)) == read
    return read


def _payload(raw: bytes) -> object:
    read = payloads.read(raw)
    assert payloads.read(payloads.carried_by(payloads.carrier(raw)) or b"") == read
    return read


def _carried(raw: bytes) -> object:
    found = payloads.carried_by(raw)
    return payloads.read(found) if found is not None else None


def _cash_account(raw: bytes) -> object:
    read = cash_accounts.read(raw)
    assert cash_accounts.read(cash_accounts.script_of(read)) == read
    return read


def _identifier(raw: bytes) -> object:
    read = cash_accounts.identifier(raw.decode("utf-8", "replace"))
    assert cash_accounts.identifier(read.text) == read
    return read


def _amount(raw: bytes) -> object:
    """The first byte says how many places there are."""
    precision = raw[0] % (MOST_PRECISION + 1) if raw else 0
    units = amounts.units_of(raw[1:].decode("utf-8", "replace"), precision)
    assert amounts.units_of(amounts.amount_text(units, precision), precision) == units
    return units


def _private_key(raw: bytes) -> object:
    return keys.read(Secret(raw.decode("utf-8", "replace")), Network.REGTEST).address


def _refusal(raw: bytes) -> object:
    spoken = refusals.read(400 + (raw[0] if raw else 0), raw[1:])
    assert len(spoken.text) <= 200
    assert spoken.text.isprintable()
    return spoken


def _answer(raw: bytes) -> object:
    """The first byte says of which operation it is the answer."""
    operation = catalogue.ALL[(raw[0] if raw else 0) % len(catalogue.ALL)]
    return records.decode(raw[1:], operation.result)


def _body(raw: bytes) -> object:
    read = requests.chain_body("application/json" if raw[:1] != b"&" else "application/x-www-form-urlencoded", raw)
    assert isinstance(read, dict | list)
    return read


def _hexadecimal(raw: bytes) -> object:
    text = raw.decode("utf-8", "replace")
    assert hashing.from_hex(text, most_bytes=1_000).hex() == text.lower()
    return hashing.from_display_hex(text)


def _signature(raw: bytes) -> object:
    assert bool(signature_form.hash_type_words(raw)) <= signature_form.is_sound(raw)
    return signature_form.is_sound(raw)


PARSERS: dict[str, Parser] = {
    "transaction": Parser(_transaction, (transactions.NotATransaction,)),
    "checked_transaction": Parser(
        _checked_transaction,
        (transactions.NotATransaction, transactions.InvalidTransaction, cash_accounts.NotARegistration),
    ),
    "script": Parser(_script),
    "execution": Parser(_execution),
    "signature": Parser(_signature),
    "address": Parser(_address, (addresses.NotAnAddress,)),
    "private_key": Parser(_private_key, (keys.NotAKey, CannotRead)),
    "proof": Parser(_proof, (proofs.NotAProof,)),
    "header": Parser(_header, (headers.NotAHeader,)),
    "slp": Parser(_slp, (slp.NotAMessage,)),
    "payload": Parser(_payload, (payload_fields.NotAPayload,)),
    "carried_payload": Parser(_carried, (payload_fields.NotAPayload,)),
    "cash_account": Parser(_cash_account, (cash_accounts.NotARegistration,)),
    "identifier": Parser(_identifier, (cash_accounts.NotAnIdentifier,)),
    "amount": Parser(_amount, (payload_fields.CannotWrite,)),
    "refusal": Parser(_refusal),
    "answer": Parser(_answer, (BadReply,)),
    "frame": Parser(jsonrpc.decode, (jsonrpc.NotAFrame,)),
    "body": Parser(_body, (requests.Malformed,)),
    "hexadecimal": Parser(_hexadecimal, (hashing.NotHexadecimal,)),
}


def samples(name: str) -> list[bytes]:
    """What the corpus keeps for a parser: a line of hexadecimal digits each."""
    return [bytes.fromhex(line) for line in (CORPUS / f"{name}.hex").read_text().splitlines()]
