"""The opcodes that check signatures: of the transaction, of any bytes, and several of several keys.

Source: supplement 5.4 (the fork's identifier, strict form, lower value); failed checks need empty signatures.
"""

from collections.abc import Sequence
from hashlib import sha256

from chaindata.wire import keys
from chaindata.wire.scripts import signature_form
from chaindata.wire.scripts.signature_form import ALL, ANYONE_CAN_PAY, FORKID, SINGLE
from sandbox.chain.scripts import schnorr
from sandbox.chain.scripts.script_machine import Machine
from sandbox.chain.scripts.script_operations import Act, demanding
from sandbox.chain.scripts.script_terms import MOST_KEYS, CannotUnlock, Reason

_COMPRESSED = (2, 3)
_UNCOMPRESSED = 4


def _check_key_form(key: bytes) -> None:
    """Both usual forms; a point off the curve is no matter of form."""
    if not (len(key) == 33 and key[0] in _COMPRESSED) and not (len(key) == 65 and key[0] == _UNCOMPRESSED):
        raise CannotUnlock(Reason.KEY_FORM)


def _check_form(signature: bytes) -> None:
    """The form of a signature without a type of hash: Schnorr's is any 64 bytes."""
    if len(signature) == schnorr.SIGNATURE_BYTES:
        return
    if not signature_form.is_sound(signature + b"\x00"):
        raise CannotUnlock(Reason.DER)
    s = signature[6 + signature[3] :]
    if 2 * int.from_bytes(s, "big") > keys.ORDER:
        raise CannotUnlock(Reason.HIGH_S)


def _check_transaction_form(signature: bytes) -> None:
    """The form of a signature with its type of hash; an empty one is how a check fails on purpose."""
    if not signature:
        return
    _check_form(signature[:-1])
    hash_type = signature[-1]
    if not ALL <= hash_type & ~(FORKID | ANYONE_CAN_PAY) <= SINGLE:
        raise CannotUnlock(Reason.HASH_TYPE)
    if not hash_type & FORKID:
        raise CannotUnlock(Reason.NO_FORKID)


def _is_signed(digest: bytes, signature: bytes, key: bytes) -> bool:
    judge = schnorr.is_signed if len(signature) == schnorr.SIGNATURE_BYTES else keys.is_signed
    return judge(digest, signature=signature, public_key=key)


def _signs(machine: Machine, signature: bytes, key: bytes) -> bool:
    if not signature:
        return False
    return _is_signed(machine.spending.digest(machine.code, signature[-1]), signature[:-1], key)


def _conclude(machine: Machine, holds: bool, signatures: Sequence[bytes]) -> None:
    if not holds and any(signatures):
        raise CannotUnlock(Reason.NOT_EMPTY)
    machine.put_truth(holds)


def _check_signature(machine: Machine) -> None:
    signature, key = machine.pop(2)
    _check_transaction_form(signature)
    _check_key_form(key)
    machine.spending.checks += bool(signature)
    _conclude(machine, _signs(machine, signature, key), [signature])


def _check_bytes_signature(machine: Machine) -> None:
    signature, message, key = machine.pop(3)
    if signature:
        _check_form(signature)
    _check_key_form(key)
    machine.spending.checks += bool(signature)
    holds = bool(signature) and _is_signed(sha256(message).digest(), signature, key)
    _conclude(machine, holds, [signature])


# Several -------------------------------------------------------------------------------------------------------------


def _check_signatures(machine: Machine) -> None:
    (key_count,) = machine.take_numbers(1)
    if not 0 <= key_count <= MOST_KEYS:
        raise CannotUnlock(Reason.KEY_COUNT)
    machine.count_operations(key_count)
    machine.need(key_count + 1)
    public_keys = machine.pop(key_count)
    (count,) = machine.take_numbers(1)
    if not 0 <= count <= key_count:
        raise CannotUnlock(Reason.SIGNATURE_COUNT)
    signatures = machine.pop(count)
    (chosen,) = machine.pop(1)
    holds = (
        _chosen_sign(machine, chosen, signatures, public_keys)
        if chosen
        else _some_sign(machine, signatures, public_keys)
    )
    if any(signatures):  # one by one as far as they hold, or each of them by the key that is named for it
        machine.spending.checks += count if chosen else key_count
    _conclude(machine, holds, signatures)


def _some_sign(machine: Machine, signatures: Sequence[bytes], public_keys: Sequence[bytes]) -> bool:
    """Each signature by a key, both in one order. From the last on, which decides whose form is looked at."""
    remaining, untried = list(signatures), list(public_keys)
    while remaining and len(remaining) <= len(untried):
        if len(remaining[-1]) == schnorr.SIGNATURE_BYTES + 1:
            raise CannotUnlock(Reason.SCHNORR_NOT_HERE)
        _check_transaction_form(remaining[-1])
        key = untried.pop()
        _check_key_form(key)
        if _signs(machine, remaining[-1], key):
            remaining.pop()
    return not remaining


def _chosen_sign(machine: Machine, chosen: bytes, signatures: Sequence[bytes], public_keys: Sequence[bytes]) -> bool:
    """Schnorr signatures by the keys that a field of bits names, the first key by its lowest bit; all have to hold."""
    if len(chosen) != (len(public_keys) + 7) // 8:
        raise CannotUnlock(Reason.BITFIELD_SIZE)
    bits = int.from_bytes(chosen, "little")
    if bits >> len(public_keys):
        raise CannotUnlock(Reason.BIT_RANGE)
    named = [key for place, key in enumerate(public_keys) if bits >> place & 1]
    if len(named) != len(signatures):
        raise CannotUnlock(Reason.BIT_COUNT)
    for signature, key in zip(signatures, named, strict=True):
        if signature and len(signature) != schnorr.SIGNATURE_BYTES + 1:
            raise CannotUnlock(Reason.ONLY_SCHNORR)
        _check_transaction_form(signature)
        _check_key_form(key)
        if not _signs(machine, signature, key):
            raise CannotUnlock(Reason.NOT_EMPTY)
    return True


ACTS: dict[str, Act] = {
    "CHECKSIG": _check_signature,
    "CHECKSIGVERIFY": demanding(_check_signature, Reason.CHECKSIGVERIFY),
    "CHECKDATASIG": _check_bytes_signature,
    "CHECKDATASIGVERIFY": demanding(_check_bytes_signature, Reason.CHECKDATASIGVERIFY),
    "CHECKMULTISIG": _check_signatures,
    "CHECKMULTISIGVERIFY": demanding(_check_signatures, Reason.CHECKMULTISIGVERIFY),
}
"""By the name of the opcode without its `OP_`."""
