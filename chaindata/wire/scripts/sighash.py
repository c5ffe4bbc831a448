"""What a signature of an input signs: the digest with the amount, under the fork's identifier (supplement 5.4).

Source: BIP 143, with the identifier 0 in the upper bits of the hash type. Three inner hashes are shared by the inputs
of a transaction and computed once.
"""

from functools import cached_property
from struct import pack

from chaindata.wire.hashing import double_sha256
from chaindata.wire.scripts.signature_form import ALL, ANYONE_CAN_PAY, FORKID, NONE, SINGLE
from chaindata.wire.transactions import MOST_SAT, Transaction, sized

ALL_FORKID = ALL | FORKID
_ZEROS = bytes(32)


class CannotDigest(ValueError):
    """There is nothing to sign: the input does not exist, or the hash type or amount is none."""


class Digests:
    """The digests of one transaction, for any of its inputs."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def digest(self, index: int, *, script_code: bytes, value_sat: int, hash_type: int = ALL_FORKID) -> bytes:
        """What is signed to spend with input `index` an output of `value_sat` that `script_code` locks.

        Raises `CannotDigest`: for a hash type without the fork's flag too, which would sign nothing about amounts.
        """
        inputs = self._transaction.inputs
        if not 0 <= index < len(inputs):
            raise CannotDigest(f"The transaction has {len(inputs)} inputs, but none at position {index}.")
        if not 0 <= value_sat <= MOST_SAT:
            raise CannotDigest("Invalid satoshi amount.")
        base = hash_type & 0x1F
        if base not in (ALL, NONE, SINGLE) or hash_type & ~(0x1F | FORKID | ANYONE_CAN_PAY) or not hash_type & FORKID:
            raise CannotDigest(f"The signature hash type {hash_type:#x} is not accepted on this chain.")
        spent = inputs[index]
        alone = bool(hash_type & ANYONE_CAN_PAY)
        parts = (
            pack("<i", self._transaction.version),
            _ZEROS if alone else self._outpoints,
            self._sequences if base == ALL and not alone else _ZEROS,
            pack("<32sI", spent.txid_bytes, spent.index),
            sized(script_code),
            pack("<qI", value_sat, spent.sequence),
            self._outputs_signed(base, index),
            pack("<II", self._transaction.locktime, hash_type),
        )
        return double_sha256(b"".join(parts))

    def _outputs_signed(self, base: int, index: int) -> bytes:
        if base == ALL:
            return self._outputs
        outputs = self._transaction.outputs
        if base == SINGLE and index < len(outputs):
            output = outputs[index]
            return double_sha256(pack("<q", output.value_sat) + sized(output.script))
        return _ZEROS

    @cached_property
    def _outpoints(self) -> bytes:
        return double_sha256(b"".join(pack("<32sI", each.txid_bytes, each.index) for each in self._transaction.inputs))

    @cached_property
    def _sequences(self) -> bytes:
        return double_sha256(b"".join(pack("<I", each.sequence) for each in self._transaction.inputs))

    @cached_property
    def _outputs(self) -> bytes:
        each = (pack("<q", output.value_sat) + sized(output.script) for output in self._transaction.outputs)
        return double_sha256(b"".join(each))
