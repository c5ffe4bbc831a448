"""Tokens on a real chain at random: after every few acts, blocks and reorganisations the ledger agrees with a recount.

The recount starts from nothing each time: it walks all transactions there are, parents first, and keeps its own books.
"""

import random
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

import pytest

from chaindata.wire.tokens import slp
from chaindata.wire.tokens.slp import Genesis, Message, Mint, Send
from chaindata.wire.transactions import Output, Transaction
from sandbox.chain.node.terms import Refused
from sandbox.chain.scenarios.author import Author
from sandbox.chain.simple_ledger import simple_ledger_figures as figures
from sandbox.chain.simple_ledger import simple_ledger_spending as spending
from sandbox.chain.simple_ledger.simple_ledger import TokenCoin
from sandbox.chain.state import Chain
from sandbox.chain.wallet import DUST_SAT, Purse

COIN_SAT = 100_000_000
NAMES = ("ann", "ben", "cat")
AT_MS = 1_600_000_000_000


# The recount ---------------------------------------------------------------------------------------------------------


class Book(NamedTuple):
    """What a recount finds: each message's validity, and what unspent and spent outputs hold."""

    valid: dict[bytes, bool]
    messages: dict[bytes, Message]
    units: dict[tuple[bytes, int], tuple[str, int]]
    batons: dict[tuple[bytes, int], str]
    spenders: dict[tuple[bytes, int], bytes]
    scripts: dict[tuple[bytes, int], bytes]


def every_transaction(chain: Chain) -> list[Transaction]:
    confirmed = [each for height in range(1, chain.tip.height + 1) for each in chain.at(height).transactions]
    waiting = {each.txid_bytes: each for each in (*confirmed, *(entry.transaction for entry in chain.mempool))}
    ordered: list[Transaction] = []
    while waiting:
        ready = [each for each in waiting.values() if not any(spent.txid_bytes in waiting for spent in each.inputs)]
        ordered += ready
        for each in ready:
            del waiting[each.txid_bytes]
    return ordered


def recount(chain: Chain) -> Book:
    book = Book({}, {}, {}, {}, {}, {})
    for each in every_transaction(chain):
        txid_bytes, places = each.txid_bytes, [(spent.txid_bytes, spent.index) for spent in each.inputs]
        book.spenders.update(dict.fromkeys(places, txid_bytes))
        book.scripts.update({(txid_bytes, n): output.script for n, output in enumerate(each.outputs)})
        try:
            message = slp.read(each.outputs[0].script)
        except slp.NotAMessage:
            continue
        book.messages[txid_bytes] = message
        token, made = (each.txid if isinstance(message, Genesis) else message.token_id), []
        match message:
            case Genesis():
                is_valid, made = True, [message.quantity]
            case Mint():
                is_valid, made = token in [book.batons.get(place) for place in places], [message.quantity]
            case Send():
                there = [units for place in places for name, units in [book.units.get(place, ("", 0))] if name == token]
                is_valid, made = sum(there) >= sum(message.quantities), list(message.quantities)
        book.valid[txid_bytes] = is_valid
        if not is_valid:
            continue
        for n, units in enumerate(made, start=1):
            if units and n < len(each.outputs):
                book.units[txid_bytes, n] = token, units
        if getattr(message, "baton_vout", None) is not None and message.baton_vout < len(each.outputs):
            book.batons[txid_bytes, message.baton_vout] = token
    return book


def status(book: Book, token: str, genesis: Genesis) -> str:
    if genesis.baton_vout is None:
        return "NEVER_CREATED"
    places = [place for place, named in book.batons.items() if named == token]
    spenders = [book.spenders.get(place) for place in places]
    if None in spenders:
        return "ALIVE"
    mints = [isinstance(book.messages.get(each), Mint) and book.valid[each] for each in spenders]
    return "DEAD_ENDED" if all(mints) else "DEAD_BURNED"


def assert_agrees(chain: Chain) -> None:
    book, ledger = recount(chain), chain.simple_ledger
    assert {txid: ledger.verdicts.by_id(txid).is_valid for txid in book.valid} == book.valid
    tokens = {each.id: each for each in ledger.tokens()}
    geneses = {txid[::-1].hex(): each for txid, each in book.messages.items() if isinstance(each, Genesis)}
    assert set(tokens) == set(geneses)
    for token_id, genesis in geneses.items():
        found, held, minted, moves = figures.token_figures(chain, tokens[token_id]), Counter(), genesis.quantity, 1
        for place, (token, units) in book.units.items():
            if token == token_id and place not in book.spenders:
                held[book.scripts[place]] += units
        for txid, message in book.messages.items():
            if book.valid[txid] and not isinstance(message, Genesis) and message.token_id == token_id:
                moves += 1
                minted += message.quantity if isinstance(message, Mint) else 0
        assert figures.held_by_script(ledger.coins_of_token(tokens[token_id])) == held
        assert (found.minted, found.circulating, found.transactions) == (minted, sum(held.values()), moves)
        assert found.holders == len(held)
        assert found.baton == status(book, token_id, genesis)
    for txid, message in book.messages.items():
        spent = sum(
            book.units[place][1] for place, each in book.spenders.items() if each == txid and place in book.units
        )
        made = sum(units for (each, _), (_, units) in book.units.items() if each == txid)
        burnt = spent - made if isinstance(message, Send) else spent
        assert figures.burn_of(ledger, txid) == (Decimal(spent) / 100, Decimal(made) / 100, Decimal(burnt) / 100)
    for script in set(book.scripts.values()):
        by_token = Counter()
        for place, (token, units) in book.units.items():
            if book.scripts[place] == script and place not in book.spenders:
                by_token[token] += units
        assert figures.held_by_token(ledger.coins_of_script(script)) == by_token


# The acts ------------------------------------------------------------------------------------------------------------


class Crowd:
    """Three people with coins, and what they may do with tokens."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.author = Author(seed)
        self.chain = self.author.chain
        self.author.mine(105)
        self.author.pay(self.author.miner, [Output(COIN_SAT, self.author.purse(n).script) for n in NAMES * 6])
        self.author.mine()
        self.done: Counter[str] = Counter()

    def act(self) -> None:
        acts: list[Callable[[], None]] = [self.create, self.mint, self.send, self.send, self.claim, self.forget]
        act = self.dice.choice([*acts, self.mine, self.mine, self.turn_over])
        try:
            act()
            self.done[act.__name__] += 1
        except (spending.CannotSpend, Refused):
            self.author.mine()

    def someone(self) -> Purse:
        return self.author.purse(self.dice.choice(NAMES))

    def kept(self, purse: Purse, *, batons: bool) -> list[TokenCoin]:
        return [
            each for each in self.chain.simple_ledger.coins_of_script(purse.script) if each.holding.is_baton is batons
        ]

    def say(self, purse: Purse, message: Message, outputs: int, kept: list[TokenCoin]) -> None:
        paid = [Output(DUST_SAT, self.someone().script) for _ in range(outputs)]
        change = self.someone().script
        self.author.send(spending.compose(self.chain, purse, message, paid, spending=kept, change=change))

    def create(self) -> None:
        vout, quantity = self.dice.choice([None, 2, 2, 3, 9]), self.dice.choice([0, 5, 1000, 2**64 - 1])
        self.say(self.someone(), Genesis(b"T", b"", b"", b"", 2, vout, quantity), self.dice.choice([2, 3]), [])

    def mint(self) -> None:
        purse = self.someone()
        for baton in self.kept(purse, batons=True)[:1]:
            message = Mint(baton.holding.token_id, self.dice.choice([None, 2, 2, 2, 9]), self.dice.randint(0, 50))
            self.say(purse, message, 2, [baton])

    def send(self) -> None:
        purse = self.someone()
        kept = self.dice.sample(held := self.kept(purse, batons=False), min(len(held), self.dice.randint(1, 3)))
        if kept:
            named = kept[0].holding.token_id
            there = sum(each.holding.quantity for each in kept if each.holding.token_id == named)
            part = self.dice.randint(0, min(there, 2**64 - 1))
            parts = (part, min(there - part - self.dice.choice([0, 0, 0, min(1, there - part)]), 2**64 - 1))
            self.say(purse, Send(named, parts), self.dice.choice([1, 2, 2, 2]), kept)

    def claim(self) -> None:
        """A message that is not covered by what is spent."""
        purse = self.someone()
        tokens = [each.id for each in self.chain.simple_ledger.tokens()] or ["ab" * 32]
        spent = self.kept(purse, batons=self.dice.random() < 0.2)[:1]
        message = self.dice.choice(
            [Mint(self.dice.choice(tokens), 2, 9), Send(self.dice.choice(tokens), (9, 2**64 - 1))]
        )
        self.say(purse, message, 2, spent)

    def forget(self) -> None:
        """Tokens or a baton are spent as plain coins."""
        purse = self.someone()
        kept = self.kept(purse, batons=self.dice.random() < 0.2)[:2]
        self.author.pay(
            purse, [Output(COIN_SAT // 10, self.someone().script)], spending=[(k.txid_bytes, k.n) for k in kept]
        )

    def mine(self) -> None:
        self.author.mine()

    def turn_over(self) -> None:
        self.chain.reorganise(self.dice.randint(1, 3), at_ms=AT_MS + self.chain.tip.height)


@pytest.mark.parametrize("seed", range(6))
def test_the_ledger_agrees_with_a_recount_whatever_happens(seed: int) -> None:
    crowd = Crowd(seed)
    for number in range(60):
        crowd.act()
        if number % 12 == 0:
            assert_agrees(crowd.chain)
    assert_agrees(crowd.chain)
    fresh = crowd.chain.redated([each.header.time for each in _blocks(crowd.chain)], entered_ms=AT_MS)
    assert_agrees(fresh)
    assert min(crowd.done[name] for name in ("create", "send", "forget", "claim", "mine", "turn_over")) > 0


def test_each_state_of_a_baton_is_met_at_random() -> None:
    found = set()
    for seed in range(5):
        crowd = Crowd(100 + seed)
        for _ in range(60):
            crowd.act()
        found |= {figures.token_figures(crowd.chain, each).baton for each in crowd.chain.simple_ledger.tokens()}
    assert found == {"ALIVE", "NEVER_CREATED", "DEAD_BURNED", "DEAD_ENDED"}


def _blocks(chain: Chain) -> list:
    return [chain.at(height) for height in range(1, chain.tip.height + 1)]


# A reorganisation, step by step --------------------------------------------------------------------------------------


def test_a_token_of_an_abandoned_block_waits_again_and_keeps_what_it_was() -> None:
    crowd = Crowd(1)
    ann, chain = crowd.author.purse("ann"), crowd.chain
    genesis = Genesis(b"T", b"", b"", b"", 0, 2, 100)
    made = spending.create(chain, ann, genesis, to=ann.script, baton_to=ann.script, change=ann.script)
    crowd.author.send(made)
    block = crowd.author.mine()
    (token,) = chain.simple_ledger.tokens()
    assert (token.block.hash, [move.height for move in token.moves]) == (block.hash, [block.height])
    chain.reorganise(1, at_ms=AT_MS)
    (token,) = chain.simple_ledger.tokens()
    assert (token.block, [move.height for move in token.moves]) == (None, [None])
    assert figures.token_figures(chain, token).circulating == 100
    again = crowd.author.mine()
    (token,) = chain.simple_ledger.tokens()
    assert (token.block.hash, [move.height for move in token.moves]) == (again.hash, [again.height])
    assert again.hash != block.hash


def test_a_token_that_vanishes_with_its_branch_is_gone() -> None:
    crowd = Crowd(2)
    chain = crowd.chain
    crowd.say(crowd.author.purse("ann"), Genesis(b"T", b"", b"", b"", 0, None, 7), 1, [])
    assert len(chain.simple_ledger.tokens()) == 1
    (entry,) = chain.mempool
    chain.mempool.remove_all_of(entry.txid_bytes)
    assert chain.simple_ledger.tokens() == []
    assert chain.simple_ledger.token(entry.txid) is None
    assert chain.simple_ledger.decimals(entry.txid) is None
