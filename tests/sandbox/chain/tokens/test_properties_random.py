"""Random sequences of valid and invalid token transactions: nothing is made or lost that no rule makes or takes."""

from collections import Counter
from random import Random

from chaindata.wire.tokens import payloads
from chaindata.wire.tokens.payloads import Payload
from sandbox.chain.tokens.properties_terms import BURN_ADDRESS, COIN_SAT, UNITS_PER_SAT, Record
from tests.sandbox.chain.tokens.token_layers import START_S, Layer, picture

PEOPLE = ("bchtest:a", "bchtest:b", "bchtest:c", "bchtest:d")
TOKEN = 10**8


def some_amount(dice: Random) -> int:
    return dice.choice((dice.randint(0, 30), dice.randint(1, 9), dice.randint(0, 40) * TOKEN, 2**63 - 1))


def some_creation(dice: Random) -> Payload:
    named = {"name": dice.choice("NNNN ").strip(), "precision": dice.choice((0, 0, 0, 3, 8, 9))}
    match dice.randrange(3):
        case 0:
            return payloads.CreateFixed(**named, amount=some_amount(dice))
        case 1:
            return payloads.CreateManaged(**named, previous_id=dice.randrange(2))
        case _:
            return payloads.CreateCrowdsale(
                **named,
                tokens_per_unit=dice.choice((1, TOKEN // 7, 3 * TOKEN, 10**16)),
                deadline=START_S + dice.randrange(200_000),
                early_bonus=dice.randrange(256),
                total=some_amount(dice),
            )


def some_payload(dice: Random, layer: Layer) -> Payload:
    """Anything that can be said, of properties that mostly are there."""
    property_id, amount = dice.choice([*layer.state.properties, 2, 99]), some_amount(dice)
    family_id, token_id, person = dice.randint(0, 2), dice.randint(0, 4), dice.choice(PEOPLE)
    return dice.choice(
        (
            payloads.Burn(),
            payloads.SimpleSend(property_id, amount),
            payloads.SendToOwners(property_id, amount, dice.choice([*layer.state.properties, property_id])),
            payloads.SendAll(1) if dice.random() < 0.2 else payloads.Burn(),
            some_creation(dice),
            payloads.Participate(amount),
            payloads.Participate(dice.randint(0, 10**9)),
            payloads.CloseCrowdsale(property_id),
            payloads.Grant(property_id, amount),
            payloads.Revoke(property_id, amount),
            payloads.ChangeIssuer(property_id),
            payloads.Freeze(property_id, amount, person),
            payloads.Unfreeze(property_id, amount, person),
            payloads.IssueCollectibles("N", "", "", "", dice.randint(0, 9)),
            payloads.IssueCollectible(family_id, token_id, 0, ""),
            payloads.TransferCollectible(family_id, token_id),
            payloads.DestroyCollectible(family_id, token_id),
        )
    )


def some_event(dice: Random, layer: Layer) -> tuple[Payload, str, str]:
    """A payload, its sender and its receiver: mostly those who may."""
    payload = some_payload(dice, layer)
    about = layer.state.properties.get(getattr(payload, "property_id", 0))
    sender = about.issuer if about is not None and about.issuer in PEOPLE and dice.random() < 0.6 else ""
    selling = list(layer.state.selling)
    receiver = dice.choice(selling) if isinstance(payload, payloads.Participate) and selling else ""
    receiver = getattr(payload, "address", "") or receiver or dice.choice((*PEOPLE, ""))
    return payload, sender or dice.choice(PEOPLE), receiver


class Sums:
    """What there must be of each property, counted from what valid transactions say alone."""

    def __init__(self) -> None:
        self.of: dict[int, int] = {1: 0}

    def count(self, record: Record) -> None:
        payload, effect = record.payload, record.effect
        match payload:
            case payloads.Burn():
                self.of[1] += record.carried.burnt_sat * UNITS_PER_SAT
            case payloads.SendToOwners():
                self.of[1] -= len(effect.shares)
                assert sum(each.units for each in effect.shares) == payload.amount
            case payloads.CreateFixed():
                self.of[effect.property_id] = payload.amount
            case payloads.CreateManaged():
                self.of[effect.property_id] = 0
            case payloads.CreateCrowdsale():
                self.of[effect.property_id] = payload.total
            case payloads.Grant():
                self.of[payload.property_id] += payload.amount
            case payloads.Revoke():
                self.of[payload.property_id] -= payload.amount
            case payloads.Participate():
                assert effect.paid <= payload.amount


def check(layer: Layer, sums: Sums) -> None:
    state = layer.state
    assert set(state.properties) == set(sums.of)
    maturing = sum(units for waiting in state.maturing.values() for _, units in waiting)
    for property_id, expected in sums.of.items():
        held = state.balances.get(property_id, {})
        assert all(units > 0 for units in held.values())
        unsold = 0
        sale = state.sales.get(property_id)
        if sale is not None and sale.ending is None:
            unsold = sale.total - sale.sold
            assert unsold > 0
            assert state.selling[state.properties[property_id].issuer] == property_id
        assert sum(held.values()) + unsold + (maturing if property_id == 1 else 0) == expected
    for family_id, family in state.gallery.families.items():
        owned = [state.gallery.owned(family_id, each) for each in (*PEOPLE, BURN_ADDRESS)]
        assert sum(len(each) for each in owned) == family.issued <= family.most
        assert len(owned[-1]) == family.destroyed


def furnished() -> tuple[Layer, Sums]:
    """A layer with everything that can be acted upon."""
    a, b, c, _ = PEOPLE
    layer, sums = Layer(), Sums()
    layer.enrich(*PEOPLE)
    sums.of[1] = 400 * TOKEN
    deadline = layer.moment.time_s + 30_000
    for payload, sender, receiver in (
        (payloads.CreateFixed(precision=0, name="N", amount=60), a, ""),
        (payloads.CreateManaged(precision=0, name="N", previous_id=1), a, ""),
        (
            payloads.CreateCrowdsale(
                precision=0, name="N", tokens_per_unit=3 * TOKEN, deadline=deadline, early_bonus=7, total=80
            ),
            b,
            "",
        ),
        (payloads.Grant(4, 30), a, b),
        (payloads.Grant(4, 30), a, c),
        (payloads.Grant(4, 30), a, ""),
        (payloads.SimpleSend(3, 20), a, b),
        (payloads.IssueCollectibles("N", "", "", "", 5), a, ""),
        (payloads.IssueCollectible(1, 0, 0, ""), a, ""),
    ):
        sums.count(layer.good(payload, sender, receiver))
    return layer, sums


def test_random_transactions_keep_every_sum_and_replay_to_the_same():
    valid: Counter[type[Payload]] = Counter()
    reasons: Counter[str] = Counter()
    for seed in range(12):
        dice = Random(seed)
        layer, sums = furnished()
        for _ in range(400):
            record = random_block(dice, layer)
            if record.is_valid:
                sums.count(record)
                valid[type(record.payload)] += 1
            reasons[record.reason] += 1
            check(layer, sums)
        assert picture(layer.replayed()) == picture(layer.state)
    assert set(valid) == set(payloads.KINDS.values())
    assert sum(valid.values()) > 800
    assert len(reasons) > 25


def random_block(dice: Random, layer: Layer) -> Record:
    """What became of one random transaction; what is not valid changed nothing."""
    payload, sender, receiver = some_event(dice, layer)
    burnt_sat = dice.choice((COIN_SAT - 1, COIN_SAT, 3 * COIN_SAT)) if isinstance(payload, payloads.Burn) else 0
    layer.block(later_s=dice.randint(0, 1_500))  # what is due at a block's beginning happens before the picture
    before = picture(layer.state)
    record = layer.say(payload, sender, receiver, later_s=0, burnt_sat=burnt_sat)
    assert record.is_valid or picture(layer.state) == before
    return record


def test_a_copy_goes_its_own_way():
    dice = Random(99)
    layer, _ = furnished()
    kept, before = layer.state.copy(), picture(layer.state)
    for _ in range(200):
        layer.say(*some_event(dice, layer), burnt_sat=COIN_SAT)
    assert picture(kept) == before != picture(layer.state)
