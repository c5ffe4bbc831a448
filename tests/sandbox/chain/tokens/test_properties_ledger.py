"""The property-token layer on a real chain: what it reads there, and that it follows it wherever it goes."""

from random import Random

import msgspec
import pytest

from chaindata.wire import catalogue
from chaindata.wire.scripts import steps
from chaindata.wire.tokens import payload_fields, payloads
from chaindata.wire.tokens.payload_fields import Form
from chaindata.wire.tokens.payloads import Burn, CreateFixed, Freeze, Grant, Payload, SimpleSend
from chaindata.wire.transactions import Input, Output, build
from sandbox.chain import seeding, wallet
from sandbox.chain.node.blocks import Block
from sandbox.chain.node.terms import Refused
from sandbox.chain.scenarios import properties as property_story
from sandbox.chain.scenarios import token_acts
from sandbox.chain.scenarios.author import Author
from sandbox.chain.state import Chain
from sandbox.chain.tokens import properties, properties_reading
from sandbox.chain.tokens.properties import PropertyLedger
from sandbox.chain.tokens.properties_terms import BURN_ADDRESS, BURN_SCRIPT, COIN_SAT, printed
from sandbox.chain.wallet import Purse
from tests.sandbox.chain.tokens.token_layers import picture
from tests.sandbox.worlds import START_MS, opened
from wire import records

PEOPLE = ("anna", "bert", "cleo")
TOKEN = 10**8


@pytest.fixture
def author() -> Author:
    """Three people with three hundred tokens each."""
    made = Author(5)
    made.mine(112)
    token_acts.enrich(made, dict.fromkeys(PEOPLE, 3), ())
    for name in PEOPLE:
        made.fund(name, 5 * COIN_SAT)
    made.mine()
    return made


def address(author: Author, name: str) -> str:
    return printed(author.purse(name).address)


def balance(author: Author, name: str, property_id: int = 1) -> int:
    return author.chain.properties.state.balance(property_id, address(author, name))


def fresh(chain: Chain) -> PropertyLedger:
    """Another ledger of the same chain, which has seen nothing yet."""
    return PropertyLedger(chain)


def agrees(chain: Chain) -> bool:
    """Whether the chain's ledger knows what a fresh one computes."""
    kept, anew = chain.properties, fresh(chain)
    return (
        picture(kept.state) == picture(anew.state)
        and list(kept.records()) == list(anew.records())
        and kept.heights(0, chain.tip.height) == anew.heights(0, chain.tip.height)
    )


# Reading -------------------------------------------------------------------------------------------------------------


def read(author: Author, *outputs: Output, payer: str = "anna") -> properties_reading.Carried | None:
    """What a transaction with these outputs says; its change comes first."""
    made = wallet.pay(author.chain, author.purse(payer), outputs, change_at=0)
    return properties_reading.read(made, author.chain.output)


def carrier(payload: Payload) -> Output:
    return Output(0, payloads.carrier(payload.raw))


def test_the_last_address_paid_receives_and_the_first_input_sends(author):
    bert, cleo = (Output(1_000, author.purse(name).script) for name in ("bert", "cleo"))
    for outputs, receiver in (
        ((carrier(SimpleSend(1, 1)), bert, cleo), "cleo"),
        ((bert, cleo, carrier(SimpleSend(1, 1))), "cleo"),
        ((cleo, carrier(SimpleSend(1, 1)), bert), "bert"),
        ((cleo, carrier(SimpleSend(1, 1)), Output(1_000, BURN_SCRIPT)), "cleo"),
        ((carrier(SimpleSend(1, 1)),), "anna"),  # the change
    ):
        said = read(author, *outputs)
        assert said is not None
        assert (said.sender, said.receiver) == (address(author, "anna"), address(author, receiver))
        assert said.payload == SimpleSend(1, 1)
        assert said.fee_sat > 0


def test_nobody_is_paid_but_the_burn_address(author):
    made = wallet.pay(
        author.chain, author.purse("anna"), [Output(COIN_SAT, BURN_SCRIPT), carrier(Burn())], change=False
    )
    said = properties_reading.read(made, author.chain.output)
    assert said is not None
    assert (said.receiver, said.burnt_sat) == ("", COIN_SAT)


def test_a_burn_pays_first_and_says_so_second(author):
    burnt, said = Output(COIN_SAT, BURN_SCRIPT), carrier(Burn())
    for outputs, expected in (((burnt, said), COIN_SAT), ((said, burnt), 0), ((said,), 0), ((burnt, burnt, said), 0)):
        made = wallet.pay(author.chain, author.purse("anna"), outputs)
        found = properties_reading.read(made, author.chain.output)
        assert found is not None
        assert found.burnt_sat == expected


def test_the_first_carrier_speaks(author):
    said = read(author, Output(0, steps.returning([b"note"])), carrier(SimpleSend(1, 1)), carrier(SimpleSend(1, 2)))
    assert said is not None
    assert said.payload == SimpleSend(1, 1)


@pytest.mark.parametrize(
    "script",
    [
        steps.returning([payloads.MARKER]) + steps.push(b"more"),
        steps.returning([payloads.MARKER[:3]]),
        steps.returning([b"", payloads.MARKER + SimpleSend(1, 1).raw]),
        bytes([steps.OP_RETURN]) + steps.push(payloads.MARKER + SimpleSend(1, 1).raw)[:-1],
        bytes([steps.OP_RETURN]),
        payloads.MARKER,
    ],
)
def test_other_scripts_say_nothing(author, script):
    assert read(author, Output(0, script)) is None


def test_payloads_that_mean_nothing_are_carried_and_not_seen(author):
    whole = Freeze(4, 1, address(author, "bert")).raw
    cuts = [whole[:length] for length in range(len(whole))]
    odd = [*cuts, whole + b"\x00", b"\x00\x01" + whole[2:], Freeze(4, 1, "nobody").raw, b"\x00\x00\xff\xff"]
    for raw in odd:
        said = read(author, Output(0, payloads.carrier(raw)))
        assert said is not None
        assert (said.raw, said.payload) == (raw, None)
    author.pay("anna", [Output(0, payloads.carrier(odd[-1]))])
    before = author.chain.properties.count()
    author.mine()
    assert author.chain.properties.count() == before
    assert not list(author.chain.properties.pending())


def test_who_has_no_address_sends_nothing():
    spent = Output(COIN_SAT, steps.multisig(1, [bytes([2]) + bytes(31) + b"\x01"]))
    for script, is_seen in ((spent.script, False), (b"\x51", False), (steps.locking(seeding_address()), True)):
        made = build(inputs=[Input(b"\x11" * 32, 0, b"")], outputs=[carrier(SimpleSend(1, 1))])
        said = properties_reading.read(made, lambda txid, n, script=script: Output(COIN_SAT, script))
        assert (said is not None) == is_seen
    assert properties_reading.read(made, lambda txid, n: None) is None


def seeding_address():
    return Author(1).purse("anybody").address


# Following the chain -------------------------------------------------------------------------------------------------


def test_burnt_coins_mature_in_the_next_block_and_not_again(author):
    assert balance(author, "anna") == 300 * TOKEN
    token_acts.burn(author, "anna", COIN_SAT)
    assert balance(author, "anna") == 300 * TOKEN
    author.mine()
    assert balance(author, "anna") == 300 * TOKEN
    author.mine()
    assert balance(author, "anna") == 400 * TOKEN
    author.mine(5)
    assert balance(author, "anna") == 400 * TOKEN


def test_what_a_reorganisation_takes_out_of_a_block_is_undone_and_comes_again(author):
    token_acts.act(author, "anna", SimpleSend(1, 100 * TOKEN), "bert")
    author.mine()
    assert (balance(author, "anna"), balance(author, "bert")) == (200 * TOKEN, 400 * TOKEN)
    seen = author.chain.properties.count()
    author.chain.reorganise(1, at_ms=author._next_ms)
    assert (balance(author, "anna"), balance(author, "bert")) == (300 * TOKEN, 300 * TOKEN)
    assert author.chain.properties.count() == seen - 1
    assert len(list(author.chain.properties.pending())) == 1
    author.mine()
    assert (balance(author, "anna"), balance(author, "bert")) == (200 * TOKEN, 400 * TOKEN)
    assert agrees(author.chain)


@pytest.mark.parametrize("depth", [1, 2, 30, 49, 50, 51, 90])
def test_a_reorganisation_of_any_depth_is_followed(depth):
    built = seeding.scenario(3).chain
    chain = built.redated(range(1, 1 + built.tip.height), entered_ms=START_MS)
    assert chain.properties.count() > 40
    chain.reorganise(depth, at_ms=START_MS)
    assert agrees(chain)
    for _ in range(3):
        chain.mine(at_ms=START_MS)
        assert agrees(chain)


class Counting(PropertyLedger):
    """A ledger that tells which blocks it folded in."""

    def __init__(self, chain: Chain) -> None:
        self.folded: list[int] = []
        super().__init__(chain)

    def _fold(self, block: Block) -> None:
        self.folded.append(block.height)
        super()._fold(block)


def test_going_back_begins_at_a_copy(author):
    author.mine(2 * properties.COPIED_EVERY)
    ledger = Counting(author.chain)
    assert ledger.count() > 0
    assert ledger.folded == list(range(author.chain.tip.height + 1))
    ledger.folded.clear()
    author.chain.reorganise(3, at_ms=author._next_ms)
    assert picture(ledger.state) == picture(fresh(author.chain).state)
    copied = (author.chain.tip.height - 4) // properties.COPIED_EVERY * properties.COPIED_EVERY
    assert ledger.folded == list(range(copied + 1, author.chain.tip.height + 1))
    ledger.folded.clear()
    assert ledger.heights(0, 10**6)
    assert not ledger.folded


def test_a_random_life_ends_as_a_fresh_computation(author):
    dice = Random(11)
    token_acts.acts(author, ("anna", CreateFixed(precision=0, name="N", amount=1_000)))
    sent = 0
    for _ in range(60):
        name, receiver = dice.choice(PEOPLE), dice.choice(PEOPLE)
        payload = dice.choice(
            (
                SimpleSend(3, dice.randint(1, 400)),
                SimpleSend(1, dice.randint(1, 200) * TOKEN),
                Grant(3, 5),
                payloads.SendAll(),
                payloads.SendToOwners(3, dice.randint(1, 50), 1),
                CreateFixed(precision=2, name="M", amount=dice.randint(1, 99)),
            )
        )
        try:
            token_acts.act(author, name, payload, receiver)
            sent += 1
        except (wallet.CannotPay, Refused):
            pass  # a reorganisation left somebody without coins for the fee
        if dice.random() < 0.5:
            author.mine(dice.randint(1, 3))
        if dice.random() < 0.2:
            author.chain.reorganise(dice.randint(1, 6), at_ms=author._next_ms)
        if dice.random() < 0.4:
            assert agrees(author.chain)
    assert sent > 40
    assert agrees(author.chain)
    author.mine()
    assert agrees(author.chain)


# The story -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 2, 99])
def test_the_story_ends_as_told_whatever_the_seed_and_the_time(seed):
    chains = [seeding.begun(seed, started_ms=each) for each in (START_MS, START_MS + 10**10)]
    one, other = (chain.properties for chain in chains)
    assert [record.carried.txid for record in one.records()] == [record.carried.txid for record in other.records()]
    assert [record.effect for record in one.records()] == [record.effect for record in other.records()]
    author = Author(seed)
    jonas, karla, greta = (address(author, name) for name in ("jonas", "karla", "greta"))
    state = one.state
    assert [each.name for each in state.properties.values()] == [
        "WHC",
        "Harbour Points",
        "Harbour Credit",
        "Harbour Shares A",
        "Harbour Shares B",
        "Harbour Berths",
    ]
    points, credit = property_story.FIXED, property_story.MANAGED
    assert sum(units for _, units in state.holders(points)) == state.total(points) == 100_000_000
    assert (state.total(credit), state.is_frozen(credit, karla), state.is_frozen(credit, jonas)) == (
        600_000,
        True,
        False,
    )
    closed, open_sale = state.sales[property_story.CLOSED_SALE], state.sales[property_story.OPEN_SALE]
    assert (closed.sold, closed.raised) == (1_026, 4_104_000_000)
    assert closed.ending is not None
    assert (open_sale.sold, open_sale.ending) == (1_924_999_999, None)
    sold_out = state.sales[property_story.SOLD_OUT]
    assert (sold_out.sold, sold_out.raised) == (10, 500_000_000)
    assert sold_out.ending is not None
    assert sold_out.ending.is_sold_out
    family = state.gallery.families[property_story.COLLECTIBLE_FAMILY]
    assert (family.most, family.issued, family.destroyed) == (5, 4, 1)
    assert [each.id for each in state.gallery.owned(1, BURN_ADDRESS)] == [3]
    assert {record.reason for record in one.records() if record.reason} == {
        "Sender is frozen for the property",
        "Sender has insufficient balance",
        "Sender is not the issuer of the property",
        "Property does not exist",
        "the receive address no have active crowd property",
        "burn BCH is less 1 BCH",
        "Sender is not the owner of the token",
    }
    assert {type(record.payload) for record in one.records() if record.is_valid} == set(payloads.KINDS.values())
    assert next(said.sender for said in one.pending()) == greta


def test_what_waits_at_the_beginning_is_valid_in_the_first_block():
    chain = seeding.begun(1, started_ms=START_MS)
    waiting = {said.txid for said in chain.properties.pending()}
    assert len(waiting) == 2
    chain.mine(at_ms=START_MS)
    assert {record.carried.txid for record in chain.properties.records_at(chain.tip.height)} == waiting
    assert all(record.is_valid for record in chain.properties.records_at(chain.tip.height))


def test_every_answer_is_read_by_the_records_of_the_client():
    world = opened(seed=1, still=True)
    ledger = world.chain.properties
    person = next(record.carried.sender for record in ledger.records() if isinstance(record.payload, Grant))
    everything = list(ledger.records())
    calls = [
        *(("get_token_transaction", {"txid": record.carried.txid}) for record in everything),
        *(("get_send_to_owners", {"txid": record.carried.txid, "recipientFilter": "*"}) for record in everything),
        *(("get_payload", {"txid": record.carried.txid}) for record in everything[:3]),
        *(("get_property", {"propertyId": each}) for each in ledger.state.properties),
        *(("get_crowdsale", {"propertyId": each, "verbose": True}) for each in ledger.state.sales),
        *(("get_token_balances_of_property", {"propertyId": each}) for each in ledger.state.properties),
        ("get_token_balance", {"address": person, "propertyId": 4}),
        ("get_token_balances_of_address", {"address": person}),
        ("get_balances_hash", {"propertyId": 4}),
        ("get_consensus_hash", {}),
        ("get_grants", {"propertyId": 4}),
        ("get_token_layer", {}),
        ("get_seed_blocks", {"startBlock": 0, "endBlock": 200}),
        ("get_token_transactions_of_block", {"index": everything[0].moment.height}),
        ("get_pending_token_transactions", {"address": next(ledger.pending()).sender}),
        ("get_properties", {}),
        ("get_frozen_balance", {"address": person, "propertyId": 4}),
        ("get_frozen_balances_of_address", {"address": person}),
        ("get_frozen_balances_of_property", {"propertyId": 4}),
        ("get_collectibles_of_address", {"address": BURN_ADDRESS, "propertyId": "1"}),
        ("get_destroyed_collectibles", {"propertyId": "1"}),
        ("get_collectible_property", {"propertyId": "1"}),
        ("get_collectible", {"propertyId": "1", "tokenId": "77"}),
    ]
    group = {each.name for each in catalogue.ALL if each.group == catalogue.TOKEN_RETRIEVAL}
    assert {name for name, _ in calls} == group
    records.unknown.clear()
    for name, arguments in calls:
        answer = world.ask_chain(name, arguments)
        assert records.decode(msgspec.json.encode(answer), catalogue.by_name[name].result) is not None
    assert not records.unknown.counts()


def some_bytes(dice: Random, form: Form) -> bytes:
    """What a field may hold on a chain where everybody writes what they like."""
    match form:
        case payload_fields.Number():
            size = form.size
            return dice.choice((bytes(size), b"\xff" * size, dice.randbytes(size), bytes(size - 1) + dice.randbytes(1)))
        case payload_fields.Text():
            return (
                dice.choice((b"", b"\xff\xfe", "🍞".encode(), b'"<b>\\\n', dice.randbytes(20).replace(b"\0", b"?")))
                + b"\0"
            )
        case _:
            return dice.randbytes(1)


def test_whatever_stands_in_a_payload_is_answered(author):
    """Every type with odd values in every field: seen, judged, and told in members that the client can read."""
    dice, world = Random(4), opened(seed=1, still=True)
    jonas = Purse(1, "jonas")
    sent = {}
    for kind in [kind for kind in payloads.KINDS.values() for _ in range(12)]:
        head = b"\0\0" + kind.key[0].to_bytes(2, "big") + bytes(kind.key[1:])
        raw = head + b"".join(some_bytes(dice, form) for form in kind.layout)
        if kind in (Freeze, payloads.Unfreeze):
            raw = raw[:16] + address(author, "anna").encode() + b"\0"
        made = wallet.pay(world.chain, jonas, [Output(0, payloads.carrier(raw))])
        sent[world.broadcast(made.raw)] = raw
        if len(sent) % 20 == 0:
            world.control("chain/mine", {"blocks": 1})
    everything = {said.txid for said in world.chain.properties.pending()} | {
        record.carried.txid for record in world.chain.properties.records()
    }
    assert set(sent) <= everything
    for txid, raw in sent.items():
        for name in ("get_token_transaction", "get_send_to_owners"):
            answer = world.ask_chain(name, {"txid": txid, "recipientFilter": "*"})
            assert records.decode(msgspec.json.encode(answer), catalogue.by_name[name].result).txid == txid
        assert world.ask_chain("get_payload", {"txid": txid}) == {"payload": raw.hex(), "payloadsize": len(raw)}
    assert world.ask_chain("get_properties", {})
    assert agrees(world.chain)
