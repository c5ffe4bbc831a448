"""What each opcode does to the stack: arrangement, splicing, bits, numbers, hashes. No signatures, no flow."""

import hashlib
from collections.abc import Callable
from operator import add, and_, or_, sub, xor

from Crypto.Hash import RIPEMD160

from chaindata.wire.hashing import double_sha256, hash160
from chaindata.wire.scripts import steps
from chaindata.wire.scripts.steps import MOST_ELEMENT_BYTES
from sandbox.chain.scripts.script_machine import Machine, is_true, number_bytes
from sandbox.chain.scripts.script_terms import NUMBER_BYTES, CannotUnlock, Reason

Act = Callable[[Machine], None]

# Arrangement: how many values each takes, and which of them, the deepest being 0, it puts back ------------------------

_ARRANGEMENTS: dict[str, tuple[int, tuple[int, ...]]] = {
    "DROP": (1, ()),
    "2DROP": (2, ()),
    "NIP": (2, (1,)),
    "DUP": (1, (0, 0)),
    "2DUP": (2, (0, 1, 0, 1)),
    "3DUP": (3, (0, 1, 2, 0, 1, 2)),
    "OVER": (2, (0, 1, 0)),
    "2OVER": (4, (0, 1, 2, 3, 0, 1)),
    "ROT": (3, (1, 2, 0)),
    "2ROT": (6, (2, 3, 4, 5, 0, 1)),
    "SWAP": (2, (1, 0)),
    "2SWAP": (4, (2, 3, 0, 1)),
    "TUCK": (2, (1, 0, 1)),
}


def _arranging(count: int, order: tuple[int, ...]) -> Act:
    def act(machine: Machine) -> None:
        taken = machine.pop(count)
        machine.put(*(taken[place] for place in order))

    return act


def _set_aside(machine: Machine) -> None:
    machine.alternate.extend(machine.pop(1))


def _take_back(machine: Machine) -> None:
    if not machine.alternate:
        raise CannotUnlock(Reason.ALTERNATE_STACK)
    machine.put(machine.alternate.pop())


def _double_if_true(machine: Machine) -> None:
    machine.need(1)
    if is_true(machine.stack[-1]):
        machine.put(machine.stack[-1])


def _depth(machine: Machine) -> None:
    machine.put_number(len(machine.stack))


def _pick(machine: Machine) -> None:
    machine.put(machine.stack[_place(machine)])


def _roll(machine: Machine) -> None:
    machine.put(machine.stack.pop(_place(machine)))


def _place(machine: Machine) -> int:
    machine.need(2)
    (depth,) = machine.take_numbers(1)
    if not 0 <= depth < len(machine.stack):
        raise CannotUnlock(Reason.STACK)
    return -1 - depth


# Splicing and bits ---------------------------------------------------------------------------------------------------


def _join(machine: Machine) -> None:
    one, two = machine.pop(2)
    if len(one) + len(two) > MOST_ELEMENT_BYTES:
        raise CannotUnlock(Reason.PUSH_SIZE)
    machine.put(one + two)


def _split(machine: Machine) -> None:
    element, place = machine.pop(2)
    at = machine.number(place)
    if not 0 <= at <= len(element):
        raise CannotUnlock(Reason.SPLIT_RANGE)
    machine.put(element[:at], element[at:])


def _to_bytes(machine: Machine) -> None:
    value, size_element = machine.pop(2)
    size = machine.number(size_element)
    if not 0 <= size <= MOST_ELEMENT_BYTES:
        raise CannotUnlock(Reason.PUSH_SIZE)
    shortest = number_bytes(steps.number(value))
    if len(shortest) > size:
        raise CannotUnlock(Reason.IMPOSSIBLE_ENCODING)
    if len(shortest) < size:
        sign = shortest[-1] & 0x80 if shortest else 0
        magnitude = shortest[:-1] + bytes([shortest[-1] & 0x7F]) if shortest else b""
        shortest = magnitude.ljust(size - 1, b"\x00") + bytes([sign])
    machine.put(shortest)


def _to_number(machine: Machine) -> None:
    shortest = number_bytes(steps.number(machine.pop(1)[0]))
    if len(shortest) > NUMBER_BYTES:
        raise CannotUnlock(Reason.NUMBER_RANGE)
    machine.put(shortest)


def _reverse(machine: Machine) -> None:
    machine.put(machine.pop(1)[0][::-1])


def _size(machine: Machine) -> None:
    machine.need(1)
    machine.put_number(len(machine.stack[-1]))


def _bitwise(combine: Callable[[int, int], int]) -> Act:
    def act(machine: Machine) -> None:
        one, two = machine.pop(2)
        if len(one) != len(two):
            raise CannotUnlock(Reason.OPERAND_SIZE)
        machine.put(bytes(map(combine, one, two)))

    return act


def _equal(machine: Machine) -> None:
    one, two = machine.pop(2)
    machine.put_truth(one == two)


# Numbers -------------------------------------------------------------------------------------------------------------


def _divide(one: int, two: int) -> int:
    """Towards zero, as machines divide."""
    if two == 0:
        raise CannotUnlock(Reason.DIVISION)
    quotient = abs(one) // abs(two)
    return quotient if (one < 0) == (two < 0) else -quotient


def _remainder(one: int, two: int) -> int:
    """With the sign of the number that was divided."""
    if two == 0:
        raise CannotUnlock(Reason.MODULO)
    return abs(one) % abs(two) * (-1 if one < 0 else 1)


_OF_ONE: dict[str, Callable[[int], int]] = {
    "1ADD": lambda one: one + 1,
    "1SUB": lambda one: one - 1,
    "NEGATE": lambda one: -one,
    "ABS": abs,
    "NOT": lambda one: int(one == 0),
    "0NOTEQUAL": lambda one: int(one != 0),
}
_OF_TWO: dict[str, Callable[[int, int], int]] = {
    "ADD": add,
    "SUB": sub,
    "DIV": _divide,
    "MOD": _remainder,
    "BOOLAND": lambda one, two: int(one != 0 and two != 0),
    "BOOLOR": lambda one, two: int(one != 0 or two != 0),
    "NUMEQUAL": lambda one, two: int(one == two),
    "NUMNOTEQUAL": lambda one, two: int(one != two),
    "LESSTHAN": lambda one, two: int(one < two),
    "GREATERTHAN": lambda one, two: int(one > two),
    "LESSTHANOREQUAL": lambda one, two: int(one <= two),
    "GREATERTHANOREQUAL": lambda one, two: int(one >= two),
    "MIN": min,
    "MAX": max,
}


def _of_one(compute: Callable[[int], int]) -> Act:
    return lambda machine: machine.put_number(compute(*machine.take_numbers(1)))


def _of_two(compute: Callable[[int, int], int]) -> Act:
    return lambda machine: machine.put_number(compute(*machine.take_numbers(2)))


def _within(machine: Machine) -> None:
    value, lowest, end = machine.take_numbers(3)
    machine.put_truth(lowest <= value < end)


# Hashes --------------------------------------------------------------------------------------------------------------

_HASHES: dict[str, Callable[[bytes], bytes]] = {
    "RIPEMD160": lambda value: RIPEMD160.new(value).digest(),
    "SHA1": lambda value: hashlib.sha1(value, usedforsecurity=False).digest(),
    "SHA256": lambda value: hashlib.sha256(value).digest(),
    "HASH160": hash160,
    "HASH256": double_sha256,
}


def _hashing(compute: Callable[[bytes], bytes]) -> Act:
    return lambda machine: machine.put(compute(machine.pop(1)[0]))


# The table -----------------------------------------------------------------------------------------------------------


def demanding(act: Act, reason: Reason) -> Act:
    """The form of an operation that ends in VERIFY: what it finds must be true."""

    def act_and_demand(machine: Machine) -> None:
        act(machine)
        machine.demand(reason)

    return act_and_demand


def _return(machine: Machine) -> None:
    raise CannotUnlock(Reason.RETURN)


ACTS: dict[str, Act] = {
    **{name: _arranging(*arrangement) for name, arrangement in _ARRANGEMENTS.items()},
    **{name: _of_one(compute) for name, compute in _OF_ONE.items()},
    **{name: _of_two(compute) for name, compute in _OF_TWO.items()},
    **{name: _hashing(compute) for name, compute in _HASHES.items()},
    **{name: _bitwise(combine) for name, combine in (("AND", and_), ("OR", or_), ("XOR", xor))},
    "VERIFY": lambda machine: machine.demand(Reason.VERIFY),
    "RETURN": _return,
    "TOALTSTACK": _set_aside,
    "FROMALTSTACK": _take_back,
    "IFDUP": _double_if_true,
    "DEPTH": _depth,
    "PICK": _pick,
    "ROLL": _roll,
    "CAT": _join,
    "SPLIT": _split,
    "NUM2BIN": _to_bytes,
    "BIN2NUM": _to_number,
    "REVERSEBYTES": _reverse,
    "SIZE": _size,
    "EQUAL": _equal,
    "EQUALVERIFY": demanding(_equal, Reason.EQUALVERIFY),
    "NUMEQUALVERIFY": demanding(_of_two(_OF_TWO["NUMEQUAL"]), Reason.NUMEQUALVERIFY),
    "WITHIN": _within,
}
"""By the name of the opcode without its `OP_`."""
