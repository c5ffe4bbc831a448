"""Running scripts: every opcode by what it leaves, every bound at its edge, and judged by other people's code."""

import hashlib

import bitcash
import bitcoin.core
import bitcoin.core.scripteval as peer
import coincurve
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaindata.wire import keys, transactions
from chaindata.wire.addresses import Network
from chaindata.wire.scripts import steps
from chaindata.wire.scripts.opcodes import NAMES
from chaindata.wire.scripts.sighash import Digests
from chaindata.wire.transactions import Input, Output
from sandbox.chain.scripts import schnorr, script_engine
from sandbox.chain.scripts.script_spending import Spending
from sandbox.chain.scripts.script_terms import MANDATORY, STANDARD, CannotUnlock, Reason
from tests.sandbox.chain.assembling import CODES, code

VALUE_SAT = 5_000


def spending(*, locktime: int = 0, sequence: int = transactions.FINAL_SEQUENCE, version: int = 2) -> Spending:
    spent = Input(bytes(range(32)), 1, b"", sequence)
    made = transactions.build(inputs=[spent], outputs=[Output(4_000, b"\x51")], version=version, locktime=locktime)
    return Spending(made, 0, VALUE_SAT)


def left(script: bytes, *, rules=STANDARD, stack: tuple[bytes, ...] = (), by: Spending | None = None) -> list[bytes]:
    """The stack that a script leaves."""
    values = list(stack)
    script_engine.execute(script, values, by or spending(), rules)
    return values


def reason(script: bytes, **more) -> Reason:
    """Why it fails."""
    with pytest.raises(CannotUnlock) as caught:
        left(script, **more)
    return caught.value.reason


# What each opcode leaves ---------------------------------------------------------------------------------------------

SAME = [  # both leave the same
    ("1 2 3 DROP", "1 2"),
    ("1 2 3 2DROP", "1"),
    ("1 2 NIP", "2"),
    ("1 2 DUP", "1 2 2"),
    ("1 2 2DUP", "1 2 1 2"),
    ("1 2 3 3DUP", "1 2 3 1 2 3"),
    ("1 2 OVER", "1 2 1"),
    ("1 2 3 4 2OVER", "1 2 3 4 1 2"),
    ("1 2 3 ROT", "2 3 1"),
    ("1 2 3 4 5 6 2ROT", "3 4 5 6 1 2"),
    ("1 2 SWAP", "2 1"),
    ("1 2 3 4 2SWAP", "3 4 1 2"),
    ("1 2 TUCK", "2 1 2"),
    ("7 8 9 0 PICK", "7 8 9 9"),
    ("7 8 9 2 PICK", "7 8 9 7"),
    ("7 8 9 0 ROLL", "7 8 9"),
    ("7 8 9 2 ROLL", "8 9 7"),
    ("0 IFDUP", "0"),
    ("5 IFDUP", "5 5"),
    ("<80> IFDUP", "<80>"),
    ("4 4 DEPTH", "4 4 2"),
    ("DEPTH", "0"),
    ("1 2 TOALTSTACK 3 FROMALTSTACK", "1 3 2"),
    ("'ab' 'cd' CAT", "'abcd'"),
    ("'ab' 0 CAT", "'ab'"),
    ("'abcd' 1 SPLIT", "'a' 'bcd'"),
    ("'abcd' 0 SPLIT", "0 'abcd'"),
    ("'abcd' 4 SPLIT", "'abcd' 0"),
    ("1 4 NUM2BIN", "<01000000>"),
    ("-1 4 NUM2BIN", "<01000080>"),
    ("0 3 NUM2BIN", "<000000>"),
    ("0 0 NUM2BIN", "0"),
    ("<0100> 1 NUM2BIN", "1"),
    ("<ff00> 2 NUM2BIN", "255"),
    ("<ff80> 3 NUM2BIN", "<ff0080>"),
    ("<01000000> BIN2NUM", "1"),
    ("<01000080> BIN2NUM", "-1"),
    ("<000080> BIN2NUM", "0"),
    ("<ffffff7f00> BIN2NUM", "2147483647"),
    ("'abc' REVERSEBYTES", "'cba'"),
    ("0 REVERSEBYTES", "0"),
    ("'abc' SIZE", "'abc' 3"),
    ("0 SIZE", "0 0"),
    ("<0ff0> <3c3c> AND", "<0c30>"),
    ("<0ff0> <3c3c> OR", "<3ffc>"),
    ("<0ff0> <3c3c> XOR", "<33cc>"),
    ("'a' 'a' EQUAL", "1"),
    ("'a' <6100> EQUAL", "0"),
    ("1 1ADD", "2"),
    ("1 1SUB", "0"),
    ("-5 NEGATE", "5"),
    ("-5 ABS", "5"),
    ("0 NOT", "1"),
    ("5 NOT", "0"),
    ("5 0NOTEQUAL", "1"),
    ("0 0NOTEQUAL", "0"),
    ("2 3 ADD", "5"),
    ("2 3 SUB", "-1"),
    ("7 2 DIV", "3"),
    ("-7 2 DIV", "-3"),
    ("7 -2 DIV", "-3"),
    ("-7 -2 DIV", "3"),
    ("7 2 MOD", "1"),
    ("-7 2 MOD", "-1"),
    ("7 -2 MOD", "1"),
    ("-7 -2 MOD", "-1"),
    ("2147483647 2147483647 ADD", "4294967294"),
    ("1 0 BOOLAND", "0"),
    ("1 5 BOOLAND", "1"),
    ("0 5 BOOLOR", "1"),
    ("0 0 BOOLOR", "0"),
    ("3 3 NUMEQUAL", "1"),
    ("3 4 NUMEQUAL", "0"),
    ("3 4 NUMNOTEQUAL", "1"),
    ("3 4 LESSTHAN", "1"),
    ("4 4 LESSTHAN", "0"),
    ("4 3 GREATERTHAN", "1"),
    ("4 4 GREATERTHAN", "0"),
    ("4 4 LESSTHANOREQUAL", "1"),
    ("5 4 LESSTHANOREQUAL", "0"),
    ("4 4 GREATERTHANOREQUAL", "1"),
    ("3 4 GREATERTHANOREQUAL", "0"),
    ("3 4 MIN", "3"),
    ("3 4 MAX", "4"),
    ("1 1 3 WITHIN", "1"),
    ("3 1 3 WITHIN", "0"),
    ("0 1 3 WITHIN", "0"),
    ("'abc' RIPEMD160", "<8eb208f7e05d987a9b044a8e98c6b087f15a0bfc>"),
    ("'abc' SHA1", "<a9993e364706816aba3e25717850c26c9cd0d89d>"),
    ("'abc' SHA256", "<ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad>"),
    ("'abc' HASH160", "<bb1be98c142444d7a56aa3981c3942a978e4dc33>"),
    ("'abc' HASH256", "<4f8b42c22dd3729b519ba6f68d2da7cc5b2d606d05daed5ad5128cc03e6c6358>"),
    ("1 IF 2 ELSE 3 ENDIF", "2"),
    ("0 IF 2 ELSE 3 ENDIF", "3"),
    ("0 NOTIF 2 ELSE 3 ENDIF", "2"),
    ("0 IF 2 ELSE 3 ELSE 4 ENDIF", "3"),
    ("1 IF 2 ELSE 3 ELSE 4 ENDIF", "2 4"),
    ("0 IF 1 IF 2 ELSE 3 ENDIF ELSE 4 ENDIF", "4"),
    ("0 IF RETURN VER RESERVED RESERVED1 0xba ENDIF 1", "1"),
    ("<80> IF 2 ELSE 3 ENDIF", "3"),
    ("1 VERIFY 2", "2"),
    ("NOP CODESEPARATOR 1", "1"),
    ("-1 16", "-1 16"),
]


@pytest.mark.parametrize(("script", "same"), SAME)
def test_an_opcode_leaves(script, same):
    assert left(code(script)) == left(code(same))


FAILING = [
    *((name, Reason.STACK) for name in ("DUP", "VERIFY", "CHECKSIG", "SIZE", "HASH160", "NOT", "IFDUP", "BIN2NUM")),
    *((f"1 {name}", Reason.STACK) for name in ("2DUP", "CAT", "SPLIT", "NUM2BIN", "ADD", "PICK", "ROLL", "SWAP")),
    ("1 1 CHECKDATASIG", Reason.STACK),
    ("1 1 WITHIN", Reason.STACK),
    ("1 2 3 2OVER", Reason.STACK),
    ("1 2 3 4 5 2ROT", Reason.STACK),
    ("7 8 2 PICK", Reason.STACK),
    ("7 8 -1 ROLL", Reason.STACK),
    ("FROMALTSTACK", Reason.ALTERNATE_STACK),
    ("0 VERIFY", Reason.VERIFY),
    ("1 2 EQUALVERIFY", Reason.EQUALVERIFY),
    ("1 2 NUMEQUALVERIFY", Reason.NUMEQUALVERIFY),
    ("1 RETURN", Reason.RETURN),
    ("1 0 DIV", Reason.DIVISION),
    ("1 0 MOD", Reason.MODULO),
    ("'ab' 'abc' XOR", Reason.OPERAND_SIZE),
    ("'ab' 3 SPLIT", Reason.SPLIT_RANGE),
    ("'ab' -1 SPLIT", Reason.SPLIT_RANGE),
    ("256 1 NUM2BIN", Reason.IMPOSSIBLE_ENCODING),
    ("1 0 NUM2BIN", Reason.IMPOSSIBLE_ENCODING),
    ("1 521 NUM2BIN", Reason.PUSH_SIZE),
    ("1 -1 NUM2BIN", Reason.PUSH_SIZE),
    ("<ffffffff00> BIN2NUM", Reason.NUMBER_RANGE),
    ("<0000000001> 1ADD", Reason.UNKNOWN),
    ("<0100> 1ADD", Reason.UNKNOWN),
    ("IF 1 ENDIF", Reason.CONDITIONAL),
    ("1 IF", Reason.CONDITIONAL),
    ("1 ELSE", Reason.CONDITIONAL),
    ("1 ENDIF", Reason.CONDITIONAL),
    ("0 IF VERIF ENDIF", Reason.BAD_OPCODE),
    ("0 IF VERNOTIF ENDIF", Reason.BAD_OPCODE),
    *((name, Reason.BAD_OPCODE) for name in ("VER", "RESERVED", "RESERVED1", "RESERVED2", "0xbd", "0xff", "0x02aa")),
    *((f"0 IF {name} ENDIF", Reason.DISABLED_OPCODE) for name in ("INVERT", "2MUL", "2DIV", "MUL", "LSHIFT", "RSHIFT")),
    *((name, Reason.SPARE_OPCODE) for name in ("NOP1", "NOP4", "NOP10")),
    ("0x0101", Reason.MINIMAL),
    ("0x0181", Reason.MINIMAL),
    ("0x4c00", Reason.MINIMAL),
    ("0x4c0161", Reason.MINIMAL),
    ("0x4d010061", Reason.MINIMAL),
    ("0 IF 0x4c0161 ELSE 0x4c0161 ENDIF", Reason.MINIMAL),
    ("0 0 21 CHECKMULTISIG", Reason.KEY_COUNT),
    ("0 0 -1 CHECKMULTISIG", Reason.KEY_COUNT),
    ("0 1 0 CHECKMULTISIG", Reason.SIGNATURE_COUNT),
    ("0 -1 0 CHECKMULTISIG", Reason.SIGNATURE_COUNT),
    ("0 0 CHECKMULTISIG", Reason.STACK),
    ("0 0 1 CHECKMULTISIG", Reason.STACK),
    ("<00> 0 0 CHECKMULTISIG", Reason.BITFIELD_SIZE),
    ("1 CHECKLOCKTIMEVERIFY", Reason.LOCKTIME),
    ("-1 CHECKLOCKTIMEVERIFY", Reason.NEGATIVE_LOCKTIME),
    ("CHECKLOCKTIMEVERIFY", Reason.STACK),
    ("<000000000001> CHECKLOCKTIMEVERIFY", Reason.UNKNOWN),
    ("1 CHECKSEQUENCEVERIFY", Reason.LOCKTIME),
    ("-1 CHECKSEQUENCEVERIFY", Reason.NEGATIVE_LOCKTIME),
    ("0 'key' CHECKSIG", Reason.KEY_FORM),
    ("'sig' 'key' CHECKSIG", Reason.DER),
    ("'sig' 'msg' 'key' CHECKDATASIG", Reason.DER),
]


@pytest.mark.parametrize(("script", "why"), FAILING)
def test_a_script_fails(script, why):
    assert reason(code(script)) is why


def test_what_is_asked_of_relayed_scripts_only_is_let_through_in_blocks():
    for script in ("1 NOP1", "1 CHECKLOCKTIMEVERIFY", "5 CHECKSEQUENCEVERIFY"):
        reason(code(script))
        assert left(code(script), rules=MANDATORY)


@pytest.mark.parametrize("script", ["0x0101", "0x4c00", "0x4c0161", "<0100> 1ADD"])
def test_pushes_and_numbers_of_the_shortest_form_are_asked_of_every_script(script):
    assert reason(code(script), rules=MANDATORY) is reason(code(script))
    assert judged("", script) == (reason(code(script)), True)


def test_every_opcode_is_told_apart():
    """None is forgotten: each does something, is spare or disabled, or is none."""
    none = {"VER", "VERIF", "VERNOTIF", "RESERVED", "RESERVED1", "RESERVED2", "INVALIDOPCODE"}
    for opcode, name in NAMES.items():
        is_none = name.removeprefix("OP_") in none
        unknown = False
        try:
            left(bytes([opcode]), stack=(b"\x01",) * 8)
        except CannotUnlock as problem:
            unknown = problem.reason is Reason.BAD_OPCODE
        assert unknown is is_none, name
    for opcode in set(range(0x4F, 0x100)) - set(NAMES):
        assert reason(bytes([opcode])) is Reason.BAD_OPCODE


# Bounds --------------------------------------------------------------------------------------------------------------


def test_operations_are_counted():
    assert left(code("1 " + "NOP " * 201)) == [b"\x01"]
    assert reason(code("1 " + "NOP " * 202)) is Reason.OPERATIONS
    assert reason(code("0 IF " + "NOP " * 200 + "ENDIF")) is Reason.OPERATIONS  # what is not executed, too
    twenty = "0 0 " + "0 " * 20 + "20 CHECKMULTISIG DROP "
    assert left(code("1 " + twenty * 9 + "NOP " * 3)) == [b"\x01"]  # 22 each
    assert reason(code("1 " + twenty * 9 + "NOP " * 4)) is Reason.OPERATIONS


def test_values_are_bounded():
    assert left(code(f"<{'61' * 520}>")) == [b"a" * 520]
    assert reason(code(f"<{'61' * 521}>")) is Reason.PUSH_SIZE
    assert reason(code(f"0 IF <{'61' * 521}> ENDIF")) is Reason.PUSH_SIZE
    assert left(code(f"<{'61' * 519}> 'b' CAT")) == [b"a" * 519 + b"b"]
    assert reason(code(f"<{'61' * 519}> 'bc' CAT")) is Reason.PUSH_SIZE


def test_the_stacks_are_bounded_together():
    assert len(left(code("1 " * 1000))) == 1000
    assert reason(code("1 " * 1001)) is Reason.STACK_SIZE
    assert reason(code("1 " * 999 + "TOALTSTACK 1 1 1")) is Reason.STACK_SIZE
    assert reason(code("DUP " * 5), stack=(b"",) * 999) is Reason.STACK_SIZE


def test_scripts_are_bounded():
    assert reason(b"\x00" * 10_001) is Reason.SCRIPT_SIZE


def test_doubling_a_value_again_and_again_ends_quickly():
    assert reason(code("'a' " + "DUP CAT " * 100)) is Reason.PUSH_SIZE


# Locktimes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "locktime", "sequence", "holds"),
    [
        (100, 100, 0, True),
        (101, 100, 0, False),
        (100, 100, 0xFFFFFFFF, False),
        (100, 500_000_000, 0, False),
        (500_000_000, 499_999_999, 0, False),
        (500_000_000, 500_000_001, 0, True),
        (0, 0, 0, True),
        (4_294_967_295, 4_294_967_295, 0, True),
    ],
)
def test_a_locktime_is_reached(wanted, locktime, sequence, holds):
    script, by = code(f"{wanted} CHECKLOCKTIMEVERIFY"), spending(locktime=locktime, sequence=sequence)
    if holds:
        assert left(script, by=by) == left(code(str(wanted)))  # it stays
    else:
        assert reason(script, by=by) is Reason.LOCKTIME


@pytest.mark.parametrize(
    ("wanted", "sequence", "version", "holds"),
    [
        (10, 10, 2, True),
        (11, 10, 2, False),
        (10, 10, 1, False),
        (10, 10, -1, True),
        (10, 1 << 31 | 10, 2, False),
        (1 << 31, 0xFFFFFFFF, 1, True),
        (1 << 22 | 10, 10, 2, False),
        (1 << 22 | 10, 1 << 22 | 11, 2, True),
        (1 << 20 | 10, 10, 2, True),
    ],
)
def test_an_age_is_reached(wanted, sequence, version, holds):
    script, by = code(f"{wanted} CHECKSEQUENCEVERIFY"), spending(sequence=sequence, version=version)
    if holds:
        assert left(script, by=by)
    else:
        assert reason(script, by=by) is Reason.LOCKTIME


# Both scripts together -----------------------------------------------------------------------------------------------


def judged(unlocking: str | bytes, locking: str | bytes) -> tuple[Reason, bool] | None:
    one, two = (each if isinstance(each, bytes) else code(each) for each in (unlocking, locking))
    return script_engine.objection(one, two, spending())


def paying_to_hash_of(script: bytes) -> bytes:
    return steps.locking(steps.script_hash_address(script, Network.REGTEST))


def test_what_unlocks_meets_what_locks():
    assert judged("2 3", "ADD 5 EQUAL") is None
    assert judged("2 4", "ADD 5 EQUAL") == (Reason.ENDS_FALSE, True)
    assert judged("", "") == (Reason.ENDS_FALSE, True)
    assert judged("", "<80>") == (Reason.ENDS_FALSE, True)
    assert judged("", "<0080>") == (Reason.ENDS_FALSE, True)
    assert judged("1 1", "") == (Reason.CLEAN_STACK, False)
    assert judged("1 NOP", "") == (Reason.PUSH_ONLY, False)
    assert judged("1 TOALTSTACK", "FROMALTSTACK") == (Reason.ALTERNATE_STACK, True)
    assert judged("1 IF", "1 ENDIF") == (Reason.CONDITIONAL, True)
    assert judged(code("1") + b"\x05a", "DROP 1") == (Reason.BAD_OPCODE, True)


def test_a_script_hash_runs_its_script():
    inner = code("SHA256 <" + "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" + "> EQUAL")
    locking = paying_to_hash_of(inner)
    assert judged(code("'abc'") + steps.push(inner), locking) is None
    assert judged(code("'abd'") + steps.push(inner), locking) == (Reason.ENDS_FALSE, True)
    assert judged(code("'abc'") + steps.push(inner + b"\x61"), locking) == (Reason.ENDS_FALSE, True)
    assert judged(code("1 'abc'") + steps.push(inner), locking) == (Reason.CLEAN_STACK, False)
    assert judged(code("'abc' NOP") + steps.push(inner), locking) == (Reason.PUSH_ONLY, True)
    assert judged("", locking) == (Reason.STACK, True)


# Signatures ----------------------------------------------------------------------------------------------------------

KEYS = [keys.of_number(number, Network.REGTEST) for number in (5, 6, 7, 8)]
OTHER = bitcash.PrivateKeyTestnet.from_int(9)


def signed(locking: bytes, by, *, hash_type: int = 0x41, value_sat: int = VALUE_SAT) -> bytes:
    """A signature of the test's one spending, made by libsecp256k1."""
    made = transactions.build(inputs=[Input(bytes(range(32)), 1, b"")], outputs=[Output(4_000, b"\x51")])
    digest = Digests(made).digest(0, script_code=locking, value_sat=value_sat, hash_type=hash_type)
    return coincurve.PrivateKey.from_int(int(by.secret.reveal(), 16)).sign(digest, hasher=None) + bytes([hash_type])


@pytest.mark.parametrize("hash_type", [0x41, 0x42, 0x43, 0xC1, 0xC2, 0xC3])
def test_a_key_hash_takes_the_signature_of_its_key(hash_type):
    locking = steps.locking(KEYS[0].address)
    good = signed(locking, KEYS[0], hash_type=hash_type)
    assert judged(steps.push(good) + steps.push(KEYS[0].public_key), locking) is None
    other = steps.push(good) + steps.push(KEYS[1].public_key)
    assert judged(other, locking) == (Reason.EQUALVERIFY, True)
    wrong = signed(locking, KEYS[1], hash_type=hash_type)
    assert judged(steps.push(wrong) + steps.push(KEYS[0].public_key), locking) == (Reason.NOT_EMPTY, True)
    amount = signed(locking, KEYS[0], hash_type=hash_type, value_sat=VALUE_SAT + 1)
    assert judged(steps.push(amount) + steps.push(KEYS[0].public_key), locking) == (Reason.NOT_EMPTY, True)
    assert judged(b"\x00" + steps.push(KEYS[0].public_key), locking) == (Reason.ENDS_FALSE, True)


def with_high_s(signature: bytes) -> bytes:
    """The other value that would be as good."""
    r = signature[4 : 4 + signature[3]]
    s = keys.ORDER - int.from_bytes(signature[6 + signature[3] : -1], "big")
    raw = s.to_bytes(33, "big") if s >> 255 else s.to_bytes(32, "big")
    body = b"\x02" + bytes([len(r)]) + r + b"\x02" + bytes([len(raw)]) + raw
    return b"\x30" + bytes([len(body)]) + body + signature[-1:]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda good: good[:-1] + b"\x01", Reason.NO_FORKID),
        (lambda good: good[:-1] + b"\x40", Reason.HASH_TYPE),
        (lambda good: good[:-1] + b"\x44", Reason.HASH_TYPE),
        (lambda good: good[:-1] + b"\x61", Reason.HASH_TYPE),
        (lambda good: good[:-1], Reason.DER),
        (lambda good: good[:1] + bytes([good[1] + 1]) + good[2:], Reason.DER),
        (lambda good: b"\x31" + good[1:], Reason.DER),
        (with_high_s, Reason.HIGH_S),
        (lambda good: good[:-2] + bytes([good[-2] ^ 1]) + good[-1:], Reason.NOT_EMPTY),
    ],
)
def test_a_signature_that_is_changed_unlocks_nothing(change, why):
    locking = steps.key_locking(KEYS[0].public_key)
    good = signed(locking, KEYS[0])
    assert judged(steps.push(good), locking) is None
    assert judged(steps.push(change(good)), locking) == (why, True)


def test_each_single_byte_of_a_signature_counts():
    locking = steps.key_locking(KEYS[0].public_key)
    good = signed(locking, KEYS[0])
    for place in range(len(good)):
        changed = good[:place] + bytes([good[place] ^ 0x10]) + good[place + 1 :]
        assert judged(steps.push(changed), locking) is not None, place


def test_keys_in_their_odd_forms():
    whole = OTHER._pk.public_key.format(compressed=False)
    locking = steps.push(whole) + bytes([CODES["CHECKSIG"]])
    made = transactions.build(inputs=[Input(bytes(range(32)), 1, b"")], outputs=[Output(4_000, b"\x51")])
    digest = Digests(made).digest(0, script_code=locking, value_sat=VALUE_SAT)
    assert judged(steps.push(OTHER._pk.sign(digest, hasher=None) + b"\x41"), locking) is None
    hybrid = steps.push(bytes([6 + (whole[-1] & 1)]) + whole[1:]) + bytes([CODES["CHECKSIG"]])
    assert judged("0", hybrid) == (Reason.KEY_FORM, True)
    off = steps.push(b"\x02" + bytes(31) + b"\x05") + bytes([CODES["CHECKSIG"], CODES["NOT"]])
    assert judged("0", off) is None  # no point of the curve: no signature, and no error


@given(st.integers(1, 4), st.data())
def test_a_multisig_takes_signatures_in_the_order_of_its_keys(required, data):
    locking = steps.multisig(required, [each.public_key for each in KEYS])
    chosen = data.draw(st.lists(st.integers(0, 3), min_size=required, max_size=required))
    made = [signed(locking, KEYS[place]) for place in chosen]
    in_order = chosen == sorted(set(chosen))
    unlocking = b"\x00" + b"".join(map(steps.push, made))
    # Each of the four keys counts as a check, so that a single signature is too short for them.
    fits = None if len(unlocking) >= 4 * 43 - 60 else (Reason.SIGNATURE_CHECKS, False)
    assert judged(unlocking, locking) == (fits if in_order else (Reason.NOT_EMPTY, True))


def test_a_multisig_wants_its_empty_value_and_no_schnorr():
    locking = steps.multisig(1, [KEYS[0].public_key, KEYS[1].public_key])
    good = steps.push(signed(locking, KEYS[1]))
    assert judged(good, locking) == (Reason.STACK, True)
    assert judged(b"\x51" + good, locking) == (Reason.ONLY_SCHNORR, True)
    assert judged(b"\x00" + steps.push(bytes(64) + b"\x41"), locking) == (Reason.SCHNORR_NOT_HERE, True)
    assert judged(b"\x00\x00", locking) == (Reason.ENDS_FALSE, True)


def test_signatures_sign_what_follows_a_separator():
    tail = steps.key_locking(KEYS[0].public_key)
    locking = code("1 DROP CODESEPARATOR") + tail
    assert judged(steps.push(signed(tail, KEYS[0])), locking) is None
    assert judged(steps.push(signed(locking, KEYS[0])), locking) == (Reason.NOT_EMPTY, True)
    skipped = code("0 IF CODESEPARATOR ENDIF") + tail
    assert judged(steps.push(signed(skipped, KEYS[0])), skipped) is None


@given(st.binary(max_size=80))
def test_a_signature_of_any_bytes(message):
    key = coincurve.PrivateKey.from_int(77)
    good = key.sign(message)  # of the SHA-256 of the message
    locking = steps.push(message) + steps.push(key.public_key.format()) + bytes([CODES["CHECKDATASIG"]])
    if message and script_engine.is_minimal(next(steps.steps(steps.push(message)))):
        assert judged(steps.push(good), locking) is None
        assert judged(steps.push(key.sign(message + b"x")), locking) == (Reason.NOT_EMPTY, True)
        assert judged(b"\x00", locking + bytes([CODES["NOT"]])) is None


# Published: the first of the vectors that the signatures' specification gives, and its wrong ones made by hand.
SCHNORR_KEY = bytes.fromhex("0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798")
SCHNORR_SIGNATURE = bytes.fromhex(
    "787a848e71043d280c50470e8e1532b2dd5d20ee912a45dbdd2bd1dfbf187ef67031a98831859dc34dffeedda86831842ccd0079e1f92af177"
    "f7f22cc1dced05"
)


def test_a_published_schnorr_signature():
    assert schnorr.is_signed(bytes(32), signature=SCHNORR_SIGNATURE, public_key=SCHNORR_KEY)
    for place in range(0, 64, 7):
        changed = SCHNORR_SIGNATURE[:place] + bytes([SCHNORR_SIGNATURE[place] ^ 4]) + SCHNORR_SIGNATURE[place + 1 :]
        assert not schnorr.is_signed(bytes(32), signature=changed, public_key=SCHNORR_KEY)
    assert not schnorr.is_signed(b"\x01" * 32, signature=SCHNORR_SIGNATURE, public_key=SCHNORR_KEY)
    assert not schnorr.is_signed(bytes(32), signature=SCHNORR_SIGNATURE, public_key=b"\x03" + SCHNORR_KEY[1:])
    assert not schnorr.is_signed(bytes(32), signature=SCHNORR_SIGNATURE, public_key=b"\x02" + bytes(31) + b"\x05")
    assert not schnorr.is_signed(bytes(32), signature=b"\xff" * 64, public_key=SCHNORR_KEY)


def schnorr_signed(digest: bytes, secret: int, nonce: int, *, flipped: bool = False) -> bytes:
    """A signature by libsecp256k1's arithmetic: the nonce is negated when its point's place is no square."""
    key, point = (coincurve.PrivateKey.from_int(each).public_key for each in (secret, nonce))
    x, y = point.point()
    is_square = pow(y, (schnorr.PRIME - 1) // 2, schnorr.PRIME) == 1
    signed_nonce = nonce if is_square is not flipped else keys.ORDER - nonce
    r = x.to_bytes(32, "big")
    challenge = int.from_bytes(hashlib.sha256(r + key.format() + digest).digest(), "big")
    return r + ((signed_nonce + challenge * secret) % keys.ORDER).to_bytes(32, "big")


@settings(max_examples=12)
@given(st.integers(1, keys.ORDER - 1), st.integers(1, keys.ORDER - 1), st.binary(min_size=32, max_size=32))
def test_schnorr_signatures_by_other_arithmetic(secret, nonce, digest):
    key = coincurve.PrivateKey.from_int(secret).public_key
    for form in (key.format(), key.format(compressed=False)):
        good = schnorr_signed(digest, secret, nonce)
        assert schnorr.is_signed(digest, signature=good, public_key=form)
        other = schnorr_signed(digest, secret, nonce, flipped=True)
        assert not schnorr.is_signed(digest, signature=other, public_key=form)


def test_schnorr_signatures_unlock_one_key_or_the_chosen_ones_of_several():
    secrets = [int(each.secret.reveal(), 16) for each in KEYS]
    made = transactions.build(inputs=[Input(bytes(range(32)), 1, b"")], outputs=[Output(4_000, b"\x51")])

    def signed_of(locking: bytes, which: int) -> bytes:
        digest = Digests(made).digest(0, script_code=locking, value_sat=VALUE_SAT)
        return steps.push(schnorr_signed(digest, secrets[which], 1_000 + which) + b"\x41")

    single = steps.key_locking(KEYS[0].public_key)
    assert judged(signed_of(single, 0), single) is None
    assert judged(signed_of(single, 1), single) == (Reason.NOT_EMPTY, True)
    several = steps.multisig(2, [each.public_key for each in KEYS])
    one, two, four = (signed_of(several, which) for which in (0, 1, 3))
    assert judged(b"\x5b" + one + two, several) == (Reason.BIT_COUNT, True)
    assert judged(code("3") + one + two, several) is None
    assert judged(code("9") + one + four, several) is None
    assert judged(code("9") + one + two, several) == (Reason.NOT_EMPTY, True)
    assert judged(code("3") + two + one, several) == (Reason.NOT_EMPTY, True)
    assert judged(code("<13>") + one + two, several) == (Reason.BIT_RANGE, True)
    assert judged(code("<0300>") + one + two, several) == (Reason.BITFIELD_SIZE, True)
    assert judged(code("3") + b"\x00\x00", several) == (Reason.NOT_EMPTY, True)
    older = steps.push(signed(several, KEYS[0]))
    assert judged(code("3") + older + older, several) == (Reason.ONLY_SCHNORR, True)


# Other people's interpreter ------------------------------------------------------------------------------------------

THEIRS_TOO = [
    each
    for name, each in CODES.items()
    if 0x4F <= each <= 0xB9
    and name
    not in {
        *("CHECKSIG", "CHECKSIGVERIFY", "CHECKMULTISIG", "CHECKMULTISIGVERIFY"),
        *("CAT", "SPLIT", "NUM2BIN", "BIN2NUM", "AND", "OR", "XOR", "DIV", "MOD"),  # still disabled there
        *("CHECKLOCKTIMEVERIFY", "CHECKSEQUENCEVERIFY"),
        "WITHIN",  # leaves a zero byte there where it does not hold
    }
]
words = st.one_of(
    st.sampled_from(THEIRS_TOO).map(lambda opcode: bytes([opcode])),
    st.integers(-2, 5).map(steps.push_number),
    st.binary(max_size=6).map(steps.push),
    st.sampled_from(["0 IF", "1 IF", "ELSE", "ENDIF", "NOTIF", "DUP", "2 PICK", "1 ROLL"]).map(code),
)


@given(st.lists(words, max_size=25).map(b"".join), st.lists(st.binary(max_size=5), max_size=6))
def test_another_interpreter_leaves_the_same(script, stack):
    """Without the rules for relayed scripts, which it does not know."""
    theirs: list[bytes] | None = list(stack)
    made = bitcoin.core.CTransaction([bitcoin.core.CTxIn()], [])
    try:
        peer.EvalScript(theirs, bitcoin.core.CScript(script), made, 0)
    except Exception:  # whatever ends it there
        theirs = None
    try:
        mine = left(script, rules=MANDATORY, stack=tuple(stack))
    except CannotUnlock:
        mine = None
    assert mine == theirs


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_any_bytes_end_with_a_reason_or_unlock(unlocking, locking):
    found = judged(unlocking, locking)
    assert found is None or isinstance(found[0], Reason)


# Counting ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "count"),
    [
        ("", 0),
        ("CHECKSIG CHECKSIGVERIFY CHECKDATASIG CHECKDATASIGVERIFY", 4),
        ("3 CHECKMULTISIG", 20),
        ("0 CHECKMULTISIG", 20),
        ("<11> CHECKMULTISIG", 20),
        ("CHECKSIG 0x05aa CHECKSIG", 1),
    ],
)
def test_signature_checks_are_counted(script, count):
    assert script_engine.signature_checks(code(script)) == count


def checked(unlocking: bytes, locking: bytes) -> tuple[tuple[Reason, bool] | None, int]:
    """The verdict, and how many signature checks were counted."""
    by = spending()
    return script_engine.objection(unlocking, locking, by), by.checks


def test_what_unlocks_is_long_enough_for_the_checks_it_asks_for():
    """43 bytes for each, less 60: one check is free, two want 26 bytes, three 69 (supplement 10)."""
    key, message = KEYS[0], b"m"
    private = coincurve.PrivateKey.from_int(int(key.secret.reveal(), 16))
    signature = private.sign(message)
    check = steps.push(signature) + steps.push(message) + steps.push(key.public_key) + code("CHECKDATASIGVERIFY")
    for checks, least in ((1, 0), (2, 26), (3, 69), (4, 112)):
        locking = check * checks + code("DROP 1")
        for length, why in ((least, None), (least - 1, (Reason.SIGNATURE_CHECKS, False))):
            if length > 1:
                filler = steps.push(b"x" * (length - (1 if length <= 76 else 2)))
                assert len(filler) == length
                assert checked(filler, locking)[0] == why, (checks, length)
        assert len(steps.push(b"x")) >= least or checked(steps.push(b"x"), locking)[0] == (
            Reason.SIGNATURE_CHECKS,
            False,
        )


def test_what_counts_as_a_check():
    empty, key = b"\x00", steps.push(KEYS[0].public_key)
    spared = code("0 0 CHECKMULTISIG")
    assert checked(b"\x00", spared) == (None, 0)
    assert checked(empty + key, code("CHECKSIG NOT"))[1] == 0
    several = steps.multisig(2, [each.public_key for each in KEYS])
    made = b"".join(steps.push(signed(several, KEYS[place])) for place in (0, 2))
    assert checked(b"\x00" + made, several) == (None, 4)
    assert checked(b"\x00\x00\x00", several + code("NOT")) == (None, 0)
