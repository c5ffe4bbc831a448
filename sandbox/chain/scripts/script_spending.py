"""The input that a script unlocks an output for: what its signatures sign, and which locktimes it has reached."""

from chaindata.wire.scripts.sighash import Digests
from chaindata.wire.transactions import FINAL_SEQUENCE, LOCKTIME_IS_HEIGHT_BELOW, Transaction

SEQUENCE_IS_NO_LOCK = 1 << 31
SEQUENCE_IS_TIME = 1 << 22
SEQUENCE_AMOUNT = 0xFFFF
SEQUENCE_LOCKS_FROM_VERSION = 2


class Spending:
    """Input `index` of a transaction, spending an output of `value_sat`; `checks` counts its signature checks."""

    def __init__(self, transaction: Transaction, index: int, value_sat: int, digests: Digests | None = None) -> None:
        self._transaction = transaction
        self._index = index
        self._value_sat = value_sat
        self._digests = digests or Digests(transaction)
        self.checks = 0

    def digest(self, code: bytes, hash_type: int) -> bytes:
        """What a signature of that type, which has to be a sound one, signs."""
        return self._digests.digest(self._index, script_code=code, value_sat=self._value_sat, hash_type=hash_type)

    def has_reached_locktime(self, locktime: int) -> bool:
        """Whether the transaction can't stand in a block before that height or time (BIP 65)."""
        own = self._transaction.locktime
        alike = (own < LOCKTIME_IS_HEIGHT_BELOW) == (locktime < LOCKTIME_IS_HEIGHT_BELOW)
        return alike and locktime <= own and self._transaction.inputs[self._index].sequence != FINAL_SEQUENCE

    def has_reached_age(self, age: int) -> bool:
        """Whether the input can't be mined before its output has that age, as sequences count it (BIP 112)."""
        own = self._transaction.inputs[self._index].sequence
        if not self._transaction.version & 0xFFFFFFFF >= SEQUENCE_LOCKS_FROM_VERSION or own & SEQUENCE_IS_NO_LOCK:
            return False
        alike = own & SEQUENCE_IS_TIME == age & SEQUENCE_IS_TIME
        return alike and age & SEQUENCE_AMOUNT <= own & SEQUENCE_AMOUNT
