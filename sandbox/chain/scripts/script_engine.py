"""Running the scripts of an input: whether what unlocks fits what locks.

Every opcode of the chain up to May 2020, flow control and locktimes here, the rest in the tables that this joins.
Source: supplement 5.4 and 1.9 (the node's words). Work is bounded by the sizes of scripts, values and stacks.
"""

from chaindata.wire.scripts import steps
from chaindata.wire.scripts.opcodes import (
    NAMES,
    OP_0,
    OP_1,
    OP_1NEGATE,
    OP_16,
    OP_PUSHDATA1,
    OP_PUSHDATA2,
    OP_PUSHDATA4,
)
from chaindata.wire.scripts.steps import MOST_BYTES, MOST_ELEMENT_BYTES, NotAScript, Step
from sandbox.chain.scripts import script_operations, script_signatures
from sandbox.chain.scripts.script_machine import Machine, is_true
from sandbox.chain.scripts.script_operations import Act
from sandbox.chain.scripts.script_spending import SEQUENCE_IS_NO_LOCK, Spending
from sandbox.chain.scripts.script_terms import (
    LOCKTIME_BYTES,
    MANDATORY,
    MOST_KEYS,
    STANDARD,
    CannotUnlock,
    Reason,
    Rule,
)

_CODE = {name.removeprefix("OP_"): code for code, name in NAMES.items()}
_DISABLED = frozenset(_CODE[name] for name in ("INVERT", "2MUL", "2DIV", "MUL", "LSHIFT", "RSHIFT"))
_SPARE = frozenset(_CODE[f"NOP{number}"] for number in (1, 4, 5, 6, 7, 8, 9, 10))
_FLOW = range(_CODE["IF"], _CODE["ENDIF"] + 1)  # seen to even where nothing else is executed
_SHORT_PUSH_BYTES = OP_PUSHDATA1 - 1
BYTES_A_CHECK, BYTES_FREE = 43, 60  # what unlocks has at least so many bytes for each check, but for the first ones
_LENGTH_BYTES = {OP_PUSHDATA1: 1, OP_PUSHDATA2: 2, OP_PUSHDATA4: 4}


def run(unlocking: bytes, locking: bytes, spending: Spending, rules: Rule = STANDARD) -> None:
    """Run what unlocks, then what locks, then the script whose hash the latter names. Raises `CannotUnlock`.

    The longer what unlocks is, the more signatures may be checked for it (May 2020; supplement 10).
    """
    spending.checks = 0
    if Rule.PUSH_ONLY in rules and not steps.is_push_only(unlocking):
        raise CannotUnlock(Reason.PUSH_ONLY)
    stack: list[bytes] = []
    execute(unlocking, stack, spending, rules)
    unlocked = list(stack)
    execute(locking, stack, spending, rules)
    _check_end(stack)
    if is_script_hash(locking):
        if not steps.is_push_only(unlocking):
            raise CannotUnlock(Reason.PUSH_ONLY)
        stack = unlocked
        execute(stack.pop(), stack, spending, rules)
        _check_end(stack)
    if Rule.CLEAN_STACK in rules and len(stack) != 1:
        raise CannotUnlock(Reason.CLEAN_STACK)
    if Rule.SIGNATURE_CHECKS in rules and len(unlocking) < BYTES_A_CHECK * spending.checks - BYTES_FREE:
        raise CannotUnlock(Reason.SIGNATURE_CHECKS)


def is_script_hash(locking: bytes) -> bool:
    """Whether it locks by the hash of a script, which then has to be run as well."""
    return steps.kind_of(locking) is steps.Kind.SCRIPT_HASH


def _check_end(stack: list[bytes]) -> None:
    if not stack or not is_true(stack[-1]):
        raise CannotUnlock(Reason.ENDS_FALSE)


def execute(script: bytes, stack: list[bytes], spending: Spending, rules: Rule) -> None:
    """Run one script on a stack. Raises `CannotUnlock`."""
    if len(script) > MOST_BYTES:
        raise CannotUnlock(Reason.SCRIPT_SIZE)
    machine = Machine(script, stack, spending, rules)
    at = 0
    try:
        for step in steps.steps(script):
            at += 1 + _LENGTH_BYTES.get(step.opcode, 0) + len(step.pushed or b"")
            _take_step(machine, step)
            if step.opcode == _CODE["CODESEPARATOR"] and machine.is_executing:
                machine.code = script[at:]
            machine.check_sizes()
    except NotAScript:
        raise CannotUnlock(Reason.BAD_OPCODE) from None
    if machine.conditions:
        raise CannotUnlock(Reason.CONDITIONAL)


def _take_step(machine: Machine, step: Step) -> None:
    opcode = step.opcode
    if step.pushed is not None and len(step.pushed) > MOST_ELEMENT_BYTES:
        raise CannotUnlock(Reason.PUSH_SIZE)
    if opcode > OP_16:
        machine.count_operations()
    if opcode in _DISABLED:
        raise CannotUnlock(Reason.DISABLED_OPCODE)
    if not machine.is_executing and opcode not in _FLOW:
        return
    if step.pushed is not None:
        if not is_minimal(step):
            raise CannotUnlock(Reason.MINIMAL)
        machine.put(step.pushed)
    elif opcode == OP_1NEGATE or OP_1 <= opcode <= OP_16:
        machine.put_number(-1 if opcode == OP_1NEGATE else opcode - OP_1 + 1)
    elif act := _ACTS.get(opcode):
        act(machine)
    else:
        raise CannotUnlock(Reason.BAD_OPCODE)


def is_minimal(step: Step) -> bool:
    """Whether no shorter opcode pushes the same."""
    pushed = step.pushed or b""
    if not pushed:
        return step.opcode == OP_0
    if len(pushed) == 1 and (1 <= pushed[0] <= 16 or pushed[0] == 0x81):
        return False
    if len(pushed) <= _SHORT_PUSH_BYTES:
        return step.opcode == len(pushed)
    return step.opcode == (OP_PUSHDATA1 if len(pushed) <= 0xFF else OP_PUSHDATA2)


# Flow ----------------------------------------------------------------------------------------------------------------


def _if(machine: Machine) -> None:
    _begin(machine, runs_if=True)


def _if_not(machine: Machine) -> None:
    _begin(machine, runs_if=False)


def _begin(machine: Machine, *, runs_if: bool) -> None:
    holds = False
    if machine.is_executing:
        if not machine.stack:
            raise CannotUnlock(Reason.CONDITIONAL)
        holds = is_true(machine.stack.pop()) is runs_if
    machine.conditions.append(holds)


def _else(machine: Machine) -> None:
    if not machine.conditions:
        raise CannotUnlock(Reason.CONDITIONAL)
    machine.conditions[-1] = not machine.conditions[-1]


def _end_if(machine: Machine) -> None:
    if not machine.conditions:
        raise CannotUnlock(Reason.CONDITIONAL)
    machine.conditions.pop()


def _rest(machine: Machine) -> None:
    """Nothing happens."""


def _spare(machine: Machine) -> None:
    if Rule.NO_SPARE_OPCODES in machine.rules:
        raise CannotUnlock(Reason.SPARE_OPCODE)


# Locktimes: the value they look at stays on the stack -----------------------------------------------------------------


def _locktime(machine: Machine) -> int | None:
    """The value on top as a locktime; None where the rules do not know of any."""
    if Rule.LOCKTIMES not in machine.rules:
        return None
    machine.need(1)
    locktime = machine.number(machine.stack[-1], LOCKTIME_BYTES)
    if locktime < 0:
        raise CannotUnlock(Reason.NEGATIVE_LOCKTIME)
    return locktime


def _check_locktime(machine: Machine) -> None:
    locktime = _locktime(machine)
    if locktime is not None and not machine.spending.has_reached_locktime(locktime):
        raise CannotUnlock(Reason.LOCKTIME)


def _check_age(machine: Machine) -> None:
    age = _locktime(machine)
    if age is None or age & SEQUENCE_IS_NO_LOCK:
        return
    if not machine.spending.has_reached_age(age):
        raise CannotUnlock(Reason.LOCKTIME)


_ACTS: dict[int, Act] = {
    **{_CODE[name]: act for name, act in (script_operations.ACTS | script_signatures.ACTS).items()},
    **dict.fromkeys(_SPARE, _spare),
    _CODE["IF"]: _if,
    _CODE["NOTIF"]: _if_not,
    _CODE["ELSE"]: _else,
    _CODE["ENDIF"]: _end_if,
    _CODE["NOP"]: _rest,
    _CODE["CODESEPARATOR"]: _rest,
    _CODE["CHECKLOCKTIMEVERIFY"]: _check_locktime,
    _CODE["CHECKSEQUENCEVERIFY"]: _check_age,
}


# Judging and counting ------------------------------------------------------------------------------------------------


def objection(unlocking: bytes, locking: bytes, spending: Spending) -> tuple[Reason, bool] | None:
    """Why the output stays locked, and whether every block would say so; None when it is unlocked."""
    try:
        run(unlocking, locking, spending)
    except CannotUnlock as problem:
        try:
            run(unlocking, locking, spending, MANDATORY)
        except CannotUnlock as worse:
            return worse.reason, True
        return problem.reason, False
    return None


_CHECKS_ONE = frozenset(_CODE[f"CHECK{what}"] for what in ("SIG", "SIGVERIFY", "DATASIG", "DATASIGVERIFY"))
_CHECKS_SEVERAL = frozenset((_CODE["CHECKMULTISIG"], _CODE["CHECKMULTISIGVERIFY"]))


def signature_checks(script: bytes) -> int:
    """How many signatures a script may check; a multisig at the most keys that it could have."""
    count = 0
    try:
        for step in steps.steps(script):
            if step.opcode in _CHECKS_ONE:
                count += 1
            elif step.opcode in _CHECKS_SEVERAL:
                count += MOST_KEYS
    except NotAScript:
        return count  # what comes before the end of the sense counts
    return count
