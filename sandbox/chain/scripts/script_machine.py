"""The state of a script that runs: two stacks, open conditions, and how values are read off the stack."""

from collections.abc import Sequence

from chaindata.wire.scripts import steps
from sandbox.chain.scripts.script_spending import Spending
from sandbox.chain.scripts.script_terms import MOST_ELEMENTS, MOST_OPERATIONS, NUMBER_BYTES, CannotUnlock, Reason, Rule


class Machine:
    """One script in execution. `stack` is the caller's and outlives it; everything else begins anew.

    `code` is the part of the script that signatures sign: all of it, or what follows the last OP_CODESEPARATOR.
    """

    def __init__(self, script: bytes, stack: list[bytes], spending: Spending, rules: Rule) -> None:
        self.script = script
        self.stack = stack
        self.spending = spending
        self.rules = rules
        self.alternate: list[bytes] = []
        self.conditions: list[bool] = []
        self.code = script
        self._operations = 0

    @property
    def is_executing(self) -> bool:
        """Whether every open condition holds."""
        return all(self.conditions)

    def count_operations(self, count: int = 1) -> None:
        """Spend some of the operations that a script has."""
        self._operations += count
        if self._operations > MOST_OPERATIONS:
            raise CannotUnlock(Reason.OPERATIONS)

    def check_sizes(self) -> None:
        """Both stacks together have a bound."""
        if len(self.stack) + len(self.alternate) > MOST_ELEMENTS:
            raise CannotUnlock(Reason.STACK_SIZE)

    def need(self, count: int) -> None:
        """There must be so many values on the stack."""
        if len(self.stack) < count:
            raise CannotUnlock(Reason.STACK)

    def pop(self, count: int) -> Sequence[bytes]:
        """The topmost values, the deepest first, off the stack."""
        self.need(count)
        taken = self.stack[len(self.stack) - count :]
        del self.stack[len(self.stack) - count :]
        return taken

    def put(self, *values: bytes) -> None:
        """Values on the stack, the last on top."""
        self.stack.extend(values)

    def put_number(self, value: int) -> None:
        """A number on the stack."""
        self.stack.append(number_bytes(value))

    def put_truth(self, truth: bool) -> None:
        """A one, or an empty value, on the stack."""
        self.stack.append(b"\x01" if truth else b"")

    def number(self, value: bytes, most_bytes: int = NUMBER_BYTES) -> int:
        """The number that an operand is, in its shortest form."""
        if len(value) > most_bytes or not is_shortest(value):
            raise CannotUnlock(Reason.UNKNOWN)
        return steps.number(value)

    def take_numbers(self, count: int) -> list[int]:
        """The topmost values as numbers, off the stack."""
        return [self.number(value) for value in self.pop(count)]

    def demand(self, reason: Reason) -> None:
        """The topmost value, off the stack, must be true."""
        if not is_true(self.pop(1)[0]):
            raise CannotUnlock(reason)


def is_true(value: bytes) -> bool:
    """Whether a value counts as true: any bit but the sign of a zero."""
    return any(value[:-1]) or value[-1:] not in (b"", b"\x00", b"\x80")


def is_shortest(value: bytes) -> bool:
    """Whether a number has no byte more than it needs."""
    if not value or value[-1] & 0x7F:
        return True
    return len(value) > 1 and bool(value[-2] & 0x80)


def number_bytes(value: int) -> bytes:
    """A number as a value of the stack: little-endian, the highest bit its sign, zero as nothing."""
    if value == 0:
        return b""
    magnitude = abs(value)
    size = magnitude.bit_length() // 8 + 1
    return (magnitude | (1 << 8 * size - 1 if value < 0 else 0)).to_bytes(size, "little")
