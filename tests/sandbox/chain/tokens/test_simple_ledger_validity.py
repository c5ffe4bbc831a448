"""Validity of simple-ledger transactions: the public cases of what is spent by what, and any order of asking.

The cases are those of `tx_input_tests` of simpleledger/slp-unit-test-data (MIT) that concern token type 1, told here by
their facts. That collection gives the validity of what is spent, and asks for that of the transaction which spends it.
"""

import random
from typing import NamedTuple

import pytest

from chaindata.wire import transactions
from chaindata.wire.scripts import steps
from chaindata.wire.tokens import slp, slp_rules
from chaindata.wire.tokens.slp import Genesis, Message, Mint, Send
from chaindata.wire.tokens.slp_rules import Holding
from chaindata.wire.transactions import Input, Output, Transaction
from sandbox.chain.simple_ledger.simple_ledger_validity import Verdicts, judge

ONE, TWO = "88" * 32, "99" * 32  # tokens whose genesis nobody asks for
HALF, MILLION = 2**64, 10**6
LOCKING = bytes.fromhex("76a914") + b"\xaa" * 20 + bytes.fromhex("88ac")


class Parent(NamedTuple):
    """A transaction that is spent: its message, whether that is taken for valid, and its outputs after the first."""

    message: Message | None
    is_valid: bool = True
    outputs: int = 2


def send(token_id: str, *quantities: int) -> Send:
    return Send(token_id, quantities)


GENESIS = Genesis(b"", b"", b"", b"", 0, 2, 100)
G = "genesis"  # stands for the id of the genesis among the parents
PLAIN = Parent(None, False, 4)
MADE = Parent(GENESIS, True, 3)
LARGE = {"a": Parent(send(TWO, HALF - 100), outputs=1), "b": Parent(send(TWO, MILLION), outputs=1)}
MIXED = {"a": Parent(send(ONE, 1100), outputs=1), "b": Parent(send(TWO, 1000), outputs=1)}
FIRST, SECOND = send(ONE, 300, 1000), send(ONE, 400, 1000)
BOTH = {"a": Parent(FIRST), "b": Parent(SECOND)}
ONLY_A = {"a": Parent(FIRST), "b": Parent(SECOND, False)}
ONLY_B = {"a": Parent(FIRST, False), "b": Parent(SECOND)}
NEITHER = {"a": Parent(FIRST, False), "b": Parent(SECOND, False)}
LAST_MINT = {"a": Parent(Mint(ONE, None, 100), outputs=1)}
FROM_GENESIS = {"plain": PLAIN, G: MADE}
MINTED = {"a": Parent(Mint(ONE, 241, 100), outputs=1)}
SPLIT = {"b": Parent(send(ONE, 50, 50))}
BATON, OTHER_BATON = Mint(G, 2, 100), Mint(G, 2, 200)

CASES = [
    # parents, what is spent, message, other token type, outputs after the first, valid
    ("a genesis without inputs and outputs", {}, [], Genesis(b"", b"", b"", b"", 0, 2, 1), None, 0, True),
    ("a genesis of type 65", {}, [], Genesis(b"", b"", b"", b"", 0, 2, 1), 65, 0, False),
    ("a genesis after an ordinary one", {"plain": PLAIN}, [("plain", 0)], GENESIS, None, 3, True),
    ("a send of tokens", FROM_GENESIS, [("plain", 1), (G, 1)], send(G, 50, 50), None, 2, True),
    ("a send of tokens and baton", FROM_GENESIS, [("plain", 1), (G, 1), (G, 2)], send(G, 50, 50), None, 2, True),
    ("a send of the baton alone", FROM_GENESIS, [("plain", 1), (G, 2)], send(G, 50, 50), None, 2, False),
    ("a mint with the baton", FROM_GENESIS, [("plain", 1), (G, 2)], Mint(G, None, 23), None, 2, True),
    ("a mint of another type", FROM_GENESIS, [("plain", 1), (G, 2)], Mint(G, None, 23), 129, 2, False),
    ("a mint with baton and tokens", FROM_GENESIS, [(G, 1), ("plain", 1), (G, 2)], Mint(G, None, 23), None, 2, True),
    ("a mint with tokens alone", FROM_GENESIS, [(G, 1), ("plain", 1)], Mint(G, None, 23), None, 2, False),
    ("sums over 64 bits, all", LARGE, [("a", 1), ("b", 1)], send(TWO, HALF - MILLION, 1_999_900), None, 2, True),
    ("one too many", LARGE, [("a", 1), ("b", 1)], send(TWO, HALF - MILLION, 1_999_901), None, 2, False),
    ("one too few", LARGE, [("a", 1), ("b", 1)], send(TWO, HALF - MILLION, 1_999_899), None, 2, True),
    ("small amounts of much", LARGE, [("a", 1), ("b", 1)], send(TWO, 100, 100), None, 2, True),
    ("too many for no outputs", LARGE, [("a", 1), ("b", 1)], send(TWO, 0, 0, 0, HALF - 1, HALF - 1), None, 2, False),
    ("less than is there of the token", MIXED, [("a", 1), ("b", 1)], send(ONE, 500, 501), None, 2, True),
    ("more than is there of the token", MIXED, [("a", 1), ("b", 1)], send(TWO, 500, 501), None, 2, False),
    ("more of it for no outputs", MIXED, [("a", 1), ("b", 1)], send(TWO, 0, 0, 500, 501), None, 2, False),
    ("as much as two give", BOTH, [("a", 1), ("b", 1)], send(ONE, 600, 100), None, 2, True),
    ("as much as one gives twice", BOTH, [("a", 1), ("a", 2)], send(ONE, 1300), None, 1, True),
    ("more than one gives twice", BOTH, [("a", 1), ("a", 2)], send(ONE, 1301), None, 1, False),
    ("less than one gives twice", BOTH, [("a", 1), ("a", 2)], send(ONE, 301), None, 1, True),
    ("a send of type 65", BOTH, [("a", 1), ("b", 1)], send(ONE, 1), 65, 2, False),
    ("a send of type 129", BOTH, [("a", 1), ("b", 1)], send(ONE, 1), 129, 2, False),
    ("more than two give", BOTH, [("a", 1), ("b", 1)], send(ONE, 600, 101), None, 2, False),
    ("as much as the valid first gives", ONLY_A, [("a", 1), ("b", 1)], send(ONE, 100, 200), None, 2, True),
    ("more than the valid first gives", ONLY_A, [("a", 1), ("b", 1)], send(ONE, 100, 201), None, 2, False),
    ("as much as the valid second gives", ONLY_B, [("a", 1), ("b", 1)], send(ONE, 200, 200), None, 2, True),
    ("more than the valid second gives", ONLY_B, [("a", 1), ("b", 1)], send(ONE, 200, 201), None, 2, False),
    ("nothing of another token, invalid inputs", NEITHER, [("a", 1), ("b", 1)], send(TWO, 0, 0, 0, 0), None, 2, True),
    ("nothing of another token, valid inputs", BOTH, [("a", 1), ("b", 1)], send(TWO, 0, 0, 0, 0), None, 2, True),
    ("too much after a mint", LAST_MINT, [("a", 1)], send(ONE, 200, 25), None, 2, False),
    ("what an invalid send made", {"b": Parent(send(ONE, 200, 25), False)}, [("b", 2)], send(ONE, 25), None, 1, False),
    ("a mint is split", MINTED, [("a", 1)], send(ONE, 50, 50), None, 2, True),
    ("a part is sent on", SPLIT, [("b", 2)], send(ONE, 40), None, 1, True),
    ("more than the part is sent on", SPLIT, [("b", 2)], send(ONE, 60), None, 1, False),
    (
        "parts are merged",
        {"c": Parent(send(ONE, 40), outputs=1), "d": Parent(send(ONE, 40), outputs=1)},
        [("c", 1), ("d", 1)],
        send(ONE, 55),
        None,
        1,
        True,
    ),
    ("a baton of a mint", {G: MADE, "m": Parent(BATON)}, [("m", 2)], BATON, None, 2, True),
    ("a baton of an invalid mint", {G: MADE, "m": Parent(BATON, False)}, [("m", 2)], BATON, None, 2, False),
    ("a baton for another type", {G: MADE, "m": Parent(BATON)}, [("m", 2)], BATON, 129, 2, False),
    (
        "an invalid and a valid baton",
        {G: MADE, "m": Parent(BATON, False), "n": Parent(OTHER_BATON)},
        [("m", 2), ("n", 2)],
        BATON,
        None,
        2,
        True,
    ),
]  # fmt: skip


def transaction(spent: list[tuple[bytes, int]], script: bytes | None, outputs: int, *more: bytes) -> Transaction:
    """A transaction that nobody signed."""
    made = [Output(0, script)] if script is not None else []
    made += [Output(546, LOCKING)] * outputs + [Output(0, each) for each in more]
    return transactions.build(inputs=[Input(txid, n, b"") for txid, n in spent], outputs=made)


def of_token(message: Message | None, token_id: str) -> Message | None:
    """The message, of this token if it is of the genesis among the parents."""
    match message:
        case Mint(token_id="genesis"):
            return Mint(token_id, message.baton_vout, message.quantity)
        case Send(token_id="genesis"):
            return Send(token_id, message.quantities)
    return message


def script_of(message: Message | None, token_type: int | None) -> bytes | None:
    script = None if message is None else slp.script_of(message)
    if script is None or token_type is None:
        return script
    return script.replace(b"SLP\0\x01\x01", b"SLP\0\x01" + bytes([token_type]))


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_a_public_case(case):
    _, parents, spent, message, token_type, outputs, is_valid = case
    made = {G: transaction([], slp.script_of(GENESIS), 3)} if G in parents else {}
    token_id = made[G].txid if made else ONE
    holdings: dict[tuple[str, int], Holding] = {}
    for name, each in parents.items():
        facts = of_token(each.message, token_id)
        made[name] = made.get(name) or transaction([], script_of(facts, None), each.outputs)
        if each.is_valid and facts is not None:
            there = slp_rules.holdings(facts, txid=made[name].txid, outputs=1 + each.outputs)
            holdings |= {(name, n): holding for n, holding in there.items()}
    judged = transaction(
        [(made[name].txid_bytes, n) for name, n in spent],
        script_of(of_token(message, token_id), token_type),
        outputs,
    )
    verdict = judge(judged, [holdings[place] for place in spent if place in holdings])
    assert verdict.is_valid is is_valid
    assert bool(verdict.holdings) <= is_valid


@pytest.mark.parametrize(("first", "second", "is_valid"), [(200, 400, True), (400, 200, False)])
def test_only_the_first_output_is_read(first, second, is_valid):
    scripts_of = [slp.script_of(send(ONE, each, 0, 20)) for each in (first, second)]
    judged = transaction([], scripts_of[0], 2, scripts_of[1])
    assert judge(judged, [Holding(ONE, 300)]).is_valid is is_valid
    misplaced = transaction([], None, 1, scripts_of[0])
    assert judge(misplaced, [Holding(ONE, 900)]).reason == "SLP OP_RETURN parsing error (Bad OP_RETURN)."


def test_why_a_message_is_not_valid_is_said():
    assert judge(transaction([], slp.script_of(send(ONE, 1)), 1), []).reason == slp_rules.TOO_LITTLE
    assert judge(transaction([], slp.script_of(Mint(ONE, None, 1)), 1), []).reason == slp_rules.NO_BATON
    odd = judge(transaction([], bytes.fromhex("6a04534c500001020453454e44"), 1), [])
    assert odd.claims
    assert odd.message is None
    assert odd.reason == "SLP OP_RETURN parsing error (The token type is not 1, the only one supported)."
    assert not judge(transaction([], steps.returning([b"a note"]), 1), []).claims


# Any order of asking -------------------------------------------------------------------------------------------------


def naive(plans: list[tuple[Message | None, list[tuple[int, int]], int]], ids: list[str]) -> list[bool]:
    """The validity of planned transactions by the rules, written once more: parents before children, no parsing."""
    units: dict[tuple[int, int], tuple[str, int]] = {}
    batons: dict[tuple[int, int], str] = {}
    verdicts = []
    for number, (message, spent, outputs) in enumerate(plans):
        found: list[tuple[int, str, int]] = []
        is_valid, token = False, ids[number]
        if isinstance(message, Genesis):
            is_valid, found = True, [(1, token, message.quantity)]
        elif isinstance(message, Mint):
            token = message.token_id
            is_valid, found = token in [batons.get(each) for each in spent], [(1, token, message.quantity)]
        elif isinstance(message, Send):
            token = message.token_id
            there = [units[each][1] for each in spent if each in units and units[each][0] == token]
            is_valid = sum(there) >= sum(message.quantities)
            found = [(place + 1, token, each) for place, each in enumerate(message.quantities)]
        verdicts.append(is_valid)
        if not is_valid:
            continue
        units |= {(number, n): (token_id, each) for n, token_id, each in found if n <= outputs and each}
        vout = getattr(message, "baton_vout", None)
        if vout is not None and vout <= outputs:
            batons[number, vout] = token
    return verdicts


def random_graph(dice: random.Random, size: int) -> tuple[list, list[Transaction]]:
    """Planned transactions that spend any outputs of earlier ones, now and then the same ones, and their bytes."""
    plans: list = []
    made: list[Transaction] = []
    tokens: list[str] = [TWO]
    for _ in range(size):
        earlier = [(number, n) for number, each in enumerate(made) for n in range(1, len(each.outputs))]
        spent = dice.sample(earlier, min(len(earlier), dice.randint(0, 3)))
        token, vout = dice.choice(tokens), dice.choice([None, 2, 3, 9])
        message = dice.choice(
            [
                None,
                Genesis(b"", b"", b"", b"", 0, vout, dice.randint(0, 9)),
                Mint(token, vout, dice.randint(0, 9)),
                Send(token, tuple(dice.randint(0, 3) for _ in range(dice.randint(1, 4)))),
                Send(token, tuple(dice.randint(0, 3) for _ in range(dice.randint(1, 4)))),
            ]
        )
        outputs = dice.randint(1, 4)
        inputs = [(made[number].txid_bytes, n) for number, n in spent]
        script = script_of(message, None) or LOCKING
        made.append(transaction([*inputs, (bytes([len(made) % 256] * 32), len(made))], script, outputs))
        plans.append((message, spent, outputs))
        if isinstance(message, Genesis):
            tokens.append(made[-1].txid)
    return plans, made


@pytest.mark.parametrize("seed", range(40))
def test_verdicts_are_those_of_the_rules_in_whatever_order_they_are_asked_for(seed):
    dice = random.Random(seed)
    plans, made = random_graph(dice, 40)
    expected = naive(plans, [each.txid for each in made])
    by_id = {each.txid_bytes: each for each in made}
    for _ in range(3):
        verdicts = Verdicts(by_id.get)
        order = dice.sample(range(len(made)), len(made))
        found = {number: verdicts.on(made[number]).is_valid for number in order}
        assert [found[number] for number in range(len(made))] == expected
    assert True in expected
    assert False in expected


def test_a_long_ancestry_is_judged_without_going_deep():
    genesis = transaction([(ONE.encode()[:32], 0)], slp.script_of(GENESIS), 3)
    made = [genesis]
    script = slp.script_of(send(genesis.txid, 100))
    for _ in range(5_000):
        made.append(transaction([(made[-1].txid_bytes, 1)], script, 1))
    verdicts = Verdicts({each.txid_bytes: each for each in made}.get)
    assert verdicts.on(made[-1]).holdings == {1: Holding(genesis.txid, 100)}
    broken = transaction([(made[-1].txid_bytes, 1)], slp.script_of(send(genesis.txid, 101)), 1)
    assert not verdicts.on(broken).is_valid
