"""Cash accounts of a chain: the published one, collisions of any size, and what reorganisations make of them."""

import random

import pytest

from chaindata.wire import cash_accounts, headers, proofs, transactions
from chaindata.wire.cash_accounts import Payment, Registration
from chaindata.wire.scripts import steps
from chaindata.wire.transactions import Output, Transaction
from sandbox.chain import wallet
from sandbox.chain.cash_accounts import CashAccountLedger, registered_in
from sandbox.chain.node.blocks import Block
from sandbox.chain.node.terms import Refused
from sandbox.chain.scenarios.author import Author
from sandbox.chain.scenarios.cash_accounts import REGISTRARS
from sandbox.chain.wallet import Purse
from sandbox.world.world import World
from tests.chaindata.wire import vectors
from tests.sandbox.worlds import opened

COIN_SAT = 100_000_000
AT_MS = 1_600_000_000_000
PUBLISHED = vectors.CASH_ACCOUNTS[1]


class Registry:
    """A chain whose people register names."""

    def __init__(self) -> None:
        self.author = Author(4)
        self.chain = self.author.chain
        self.ledger: CashAccountLedger = self.chain.cash_accounts
        self.author.mine(105)
        self.author.pay(self.author.miner, [Output(COIN_SAT, self.author.purse("ann").script) for _ in range(40)])
        self.author.mine(4)
        self.ann = self.author.purse("ann")

    def register(self, name: str, *payments: Payment) -> Transaction:
        return self.say(Registration(name, payments or (self.own(),)))

    def say(self, *registrations: Registration) -> Transaction:
        outputs = [Output(0, cash_accounts.script_of(each)) for each in registrations]
        return self.author.pay("ann", outputs)

    def own(self, kind: int = 1) -> Payment:
        return Payment(kind, self.ann.address.hash)

    def names(self) -> list[tuple[str, int]]:
        return [(account.registration.name, account.number) for account, _ in self.ledger.paying(lambda _: True)]


@pytest.fixture
def registry() -> Registry:
    return Registry()


def test_the_published_account_is_found_in_its_block() -> None:
    registration = transactions.read(bytes.fromhex(PUBLISHED["transaction"]))
    header = proofs.read(bytes.fromhex(PUBLISHED["inclusionProof"])).header
    block = Block(header, PUBLISHED["height"], (registration,), (registration.txid_bytes,), chainwork=0, received_ms=0)
    assert block.hash == PUBLISHED["blockhash"]
    (account,) = registered_in(block, number=PUBLISHED["height"] - cash_accounts.HEIGHT_OFFSET)
    assert account.identifier == "cgcardona#122;"
    assert (account.collision.hash, account.collision.count, account.collision.length) == ("6383276713", 0, 0)
    assert account.emoji == "🍞"


def test_the_first_block_of_all_has_number_100(registry: Registry) -> None:
    assert registry.chain.tip.height == 110 - 1
    registry.register("first")
    registry.author.mine()
    assert registry.names() == [("first", 100)]
    assert registry.ledger.numbered_from(11).offset == 11
    assert registry.names() == []
    registry.ledger.numbered_from(5)
    assert registry.names() == [("first", 105)]
    assert [each.registration.name for each in registry.ledger.named("FIRST", 105)] == ["first"]
    assert registry.ledger.named("first", 100) == []


def test_what_waits_is_not_registered_yet_and_what_is_left_behind_no_more(registry: Registry) -> None:
    made = registry.register("wanderer")
    assert registry.names() == []
    block = registry.author.mine()
    (account,) = registry.ledger.named("wanderer", 100)
    before = (account.block.hash, account.collision.hash, account.emoji)
    assert before[0] == block.hash
    registry.chain.reorganise(2, at_ms=AT_MS)
    assert registry.names() == []
    again = registry.author.mine()
    assert made.txid_bytes in again.txids_bytes
    (account,) = registry.ledger.named("wanderer", again.height - 10)
    assert account.collision.hash == cash_accounts.collision_hash(again.hash, made.txid) != before[1]


def test_a_transaction_with_two_registrations_registers_none(registry: Registry) -> None:
    claims = [Output(0, cash_accounts.script_of(Registration(name, (registry.own(),)))) for name in ("one", "two")]
    paid = registry.author.pay("ann", claims[:1])
    for outputs, count in ((claims[:1], 1), (claims, 0), ([*claims, claims[0]], 0)):
        made = transactions.build(inputs=paid.inputs, outputs=[*outputs, paid.outputs[-1]])
        block = Block(registry.chain.tip.header, 200, (made,), (made.txid_bytes,), chainwork=0, received_ms=0)
        assert len(registered_in(block, number=190)) == count


@pytest.mark.parametrize("count", [2, 3, 11, 30])
def test_any_number_of_namesakes_is_told_apart(registry: Registry, count: int) -> None:
    dice = random.Random(count)
    for _ in range(count):
        registry.register("".join(dice.choice((letter, letter.upper())) for letter in "namesake"))
    registry.register("another")
    block = registry.author.mine()
    accounts = registry.ledger.named("NAMESAKE", 100)
    assert len(accounts) == count
    for each in accounts:
        own = each.collision.hash
        others = [other.collision.hash for other in accounts if other is not each]
        assert each.collision.count == count - 1
        shared = [other for other in others if other.startswith(own[: each.collision.length])]
        assert shared == []
        assert any(other.startswith(own[: each.collision.length - 1]) for other in others)
        assert registry.ledger.named("namesake", 100, own[: each.collision.length]) == [each]
        assert each.block is block
        proof = proofs.read(each.inclusion_proof)
        found = proofs.check(
            proof,
            easiest_target=headers.EASIEST_TARGET["regtest"],
            transactions=len(block.transactions),
            txids_bytes={each.transaction.txid_bytes},
        )
        assert block.transactions[found[0].position] == each.transaction
    (alone,) = registry.ledger.named("another", 100)
    assert (alone.collision.count, alone.collision.length, alone.identifier) == (0, 0, "another#100;")


def test_accounts_are_found_by_any_of_their_payments(registry: Registry) -> None:
    code, stealth = Payment(3, bytes(range(80))), Payment(4, bytes(range(66)))
    registry.register("several", registry.own(), registry.own(0x81), code)
    registry.author.mine()
    registry.register("other", stealth, Payment(0x84, stealth.content))
    registry.author.mine()
    found = registry.ledger.paying(lambda payment: payment.content == registry.ann.address.hash)
    assert [(account.registration.name, payment.kind) for account, payment in found] == [
        ("several", 1),
        ("several", 0x81),
    ]
    keys = registry.ledger.paying(lambda payment: payment.kind & 0x7F == stealth.kind)
    assert [(account.number, payment.kind) for account, payment in keys] == [(101, 4), (101, 0x84)]
    assert registry.ledger.paying(lambda payment: payment == code)[0][0].registration.name == "several"


def test_what_only_looks_like_a_registration_is_passed_over(registry: Registry) -> None:
    mark = cash_accounts.MARKER
    for odd in (
        [mark],
        [mark, b"name"],
        [mark, b"na-me", b"\x01" + bytes(20)],
        [mark, b"n" * 100, b"\x01" + bytes(20)],
        [mark, b"name", b"\x01" + bytes(19)],
        [mark, b"name", b"\x09" + bytes(20)],
        [mark, b"", b"\x01" + bytes(20)],
    ):
        registry.author.pay("ann", [Output(0, steps.returning(odd))])
    registry.author.mine()
    assert registry.names() == []


# In a world ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def world() -> World:
    return opened(still=True)


def test_every_kind_of_payment_is_shown_and_looked_up_in_the_text_that_is_shown(world: World) -> None:
    purse = Purse(1, REGISTRARS[0])
    payments = [Payment(3, bytes(range(80))), Payment(4, bytes(range(66))), Payment(0x81, purse.address.hash)]
    for number, each in enumerate(payments):
        script = cash_accounts.script_of(Registration(f"shown{number}", (each,)))
        world.broadcast(wallet.pay(world.chain, purse, [Output(0, script)]).raw)
    world.control("chain/mine", {"blocks": 1})
    account = str(world.chain.tip.height - world.config.cash_account_offset)
    addresses = {}
    for number in range(3):
        answer = world.ask_chain("look_up_cash_account", {"account": f"shown{number}", "number": account})
        (payment,) = answer["information"]["payment"]
        addresses[payment["type"]] = payment["address"]
        found = world.ask_chain("find_cash_accounts", {"account": payment["address"]})
        assert [f"shown{number}"] == [each["nameText"] for each in found["results"]][-1:]
        assert found["results"][-1]["payloadType"] == (3, 4, 1)[number]
        assert found["results"][-1]["payloadAddress"] == payment["address"]
    assert addresses["Payment Code"].startswith("PM")
    assert addresses["Stealth Keys"] == bytes(range(66)).hex()
    assert addresses["Key Hash"].startswith("slptest:q")


def test_the_offset_of_the_numbers_is_a_setting(world: World) -> None:
    def is_known(number: int) -> bool:
        try:
            world.ask_chain("look_up_cash_account", {"account": "Harbourmaster", "number": str(number)})
        except Refused:
            return False
        return True

    (first, *_) = [account for account, _ in world.chain.cash_accounts.paying(lambda _: True)]
    height = first.block.height
    assert [is_known(height - 10), is_known(height - 20)] == [True, False]
    world.control("config", {"cash_account_offset": 20})
    assert [is_known(height - 10), is_known(height - 20)] == [False, True]
    world.control("config", {"cash_account_offset": height - 99})
    assert not is_known(99)
    assert not is_known(100)
