"""What nodes relay although blocks may hold more: usual forms, fees worth it, no dust (supplement 1.9, 5.4)."""

from collections.abc import Sequence

from chaindata.wire.scripts import steps
from chaindata.wire.scripts.steps import Kind, NotAScript
from chaindata.wire.transactions import Output, Transaction, sized
from sandbox.chain.node.terms import rejected
from sandbox.chain.scripts import script_engine

INVALID, DUPLICATE, NONSTANDARD, FEE_TOO_LOW, FEE_TOO_HIGH = 16, 18, 64, 66, 256  # the node's kinds of reasons

MOST_BYTES = 100_000
MOST_UNLOCKING_BYTES = 1_650
VERSIONS = (1, 2)
MOST_KEYS = 3  # of a multisig that is an output itself
MOST_CHECKS = 4_000
MOST_CHECKS_IN_BLOCKS = 20_000
DUST_TIMES = 3  # an output is worth as many times the fee of making and spending it
SPENDING_BYTES = 148
FEE_RATE_SAT = 1_000  # for a thousand bytes
MOST_FEE_SAT = 10_000_000


def check(transaction: Transaction) -> None:
    """The form alone: sizes, versions, kinds of scripts, dust. Raises `Refused`."""
    if _checks(transaction) > MOST_CHECKS_IN_BLOCKS:
        raise rejected("bad-txn-sigops", INVALID)
    if transaction.version not in VERSIONS:
        raise rejected("version", NONSTANDARD)
    if transaction.size > MOST_BYTES:
        raise rejected("tx-size", NONSTANDARD)
    for each in transaction.inputs:
        if len(each.script) > MOST_UNLOCKING_BYTES:
            raise rejected("scriptsig-size", NONSTANDARD)
        if not steps.is_push_only(each.script):
            raise rejected("scriptsig-not-pushonly", NONSTANDARD)
    returns = 0
    for output in transaction.outputs:
        kind = steps.kind_of(output.script)
        if not _is_usual(kind, output.script):
            raise rejected("scriptpubkey", NONSTANDARD)
        returns += kind is Kind.RETURN
        if output.value_sat < dust_sat(output):
            raise rejected("dust", NONSTANDARD)
    if returns > 1:
        raise rejected("multi-op-return", NONSTANDARD)


def _is_usual(kind: Kind, locking: bytes) -> bool:
    match kind:
        case Kind.NONSTANDARD:
            return False
        case Kind.RETURN:
            return len(locking) <= steps.MOST_RETURN_BYTES
        case Kind.MULTISIG:
            _, public_keys = steps.multisig_of(locking) or (0, [])
            return len(public_keys) <= MOST_KEYS
        case _:
            return True


def dust_sat(output: Output) -> int:
    """The least that an output may be worth: 546 satoshis to a key hash; nothing where nobody can spend it."""
    if steps.is_unspendable(output.script):
        return 0
    return DUST_TIMES * FEE_RATE_SAT * (8 + len(sized(output.script)) + SPENDING_BYTES) // 1000


def check_spending(transaction: Transaction, spent: Sequence[Output]) -> None:
    """What it spends is of a usual kind, and does not take too long to check. Raises `Refused`.

    How many signatures a script under a hash checks is counted as it runs (`script_engine.run`), not here.
    """
    for each, output in zip(transaction.inputs, spent, strict=True):
        kind = steps.kind_of(output.script)
        if kind in (Kind.NONSTANDARD, Kind.RETURN) or (kind is Kind.SCRIPT_HASH and not _pushes(each.script)):
            raise rejected("bad-txns-nonstandard-inputs", NONSTANDARD)
    checks = _checks(transaction)
    if checks > MOST_CHECKS:
        raise rejected(f"bad-txns-too-many-sigops, {checks}", NONSTANDARD)


def _pushes(unlocking: bytes) -> bool:
    """Whether there is a script to be hashed: what was pushed last."""
    try:
        return any(True for _ in steps.steps(unlocking))
    except NotAScript:
        return False


def _checks(transaction: Transaction) -> int:
    """How many signatures its own scripts check, each multisig at the most that it could."""
    every = [*(each.script for each in transaction.inputs), *(each.script for each in transaction.outputs)]
    return sum(script_engine.signature_checks(script) for script in every)


def check_fee(fee_sat: int, size: int) -> None:
    """A fee between the least that is relayed and what can't be meant. Raises `Refused`."""
    if fee_sat < max(FEE_RATE_SAT * size // 1000, 1):
        raise rejected("min relay fee not met", FEE_TOO_LOW)
    if fee_sat > MOST_FEE_SAT:
        raise rejected(f"absurdly-high-fee, {fee_sat} > {MOST_FEE_SAT}", FEE_TOO_HIGH)
