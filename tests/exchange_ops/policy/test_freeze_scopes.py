"""Freezes of a currency, a destination and everything: what each stops at which step, and what goes on."""

from decimal import Decimal

import pytest
from django.db import IntegrityError, transaction

from desk import clock
from desk.incidents.models import Incident
from desk.machines import calls
from exchange_ops.addresses import destinations
from exchange_ops.orders import states as orders
from exchange_ops.policy import freezes
from exchange_ops.policy.models import Freeze
from exchange_ops.positions import states as margin
from exchange_ops.shared import alarms
from exchange_ops.transfers import states as transfers
from exchange_ops.withdrawals.decisions import approvals
from tests import trail
from tests.exchange_ops.withdrawals.steps.test_drafting import thaw
from tests.exchange_ops.withdrawals.walks import ADDRESS, OTHER_ADDRESS

pytestmark = pytest.mark.django_db(transaction=True)

CASH = "bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a"  # the address of the cash address format's own test
LEGACY = "1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu"


def of_currency(code):
    return Freeze(kind=Freeze.CURRENCY, currency=code)


def of_destination(address):
    return Freeze(kind=Freeze.DESTINATION, address=address, destination=destinations.identity(address))


def of_everything():
    return Freeze(kind=Freeze.EVERYTHING)


def begin(freeze, person=None):
    return freezes.begin(freeze, person=person, reason="Something is odd", now=clock.now())


def lift(frozen):
    """Without the votes, which have tests of their own."""
    Freeze.objects.filter(pk=frozen.pk).update(thawed_at=clock.now())


@pytest.fixture
def others():
    """Freezes that cover nothing of these tests: another currency and another address."""
    return lambda *codes: [begin(each) for each in (*map(of_currency, codes), of_destination(OTHER_ADDRESS))]


@pytest.fixture
def at_the_claim(monkeypatch):
    """`at_the_claim(freeze)`: it begins a moment before the next claim takes its lock."""

    def prepare(freeze):
        claim = calls.claim

        def late(*arguments, **named):
            begin(freeze)
            return claim(*arguments, **named)

        monkeypatch.setattr(calls, "claim", late)

    return prepare


def test_before_a_hold_each_scope_stops_a_payout_and_no_other_does(walk, others):
    others("ETH")
    row = walk.until(walk.request(), "queued")
    for freeze, words in (
        (of_currency("BTC"), "BTC is frozen: Something is odd"),
        (of_destination(ADDRESS), f"The destination {ADDRESS} is frozen: Something is odd"),
        (of_everything(), "Everything is frozen: Something is odd"),
    ):
        frozen = begin(freeze)
        row = walk.until(walk.step(walk.step(row)), "queued")
        assert (row.last_problem, row.exchange_id) == (words, None)
        lift(frozen)
    assert walk.calls() == []
    assert walk.until(row, "held").exchange_id


def test_what_was_approved_before_a_freeze_is_not_paid_and_the_preview_named_it(walk):
    named = [walk.committing(), walk.committing(address=OTHER_ADDRESS, amount=Decimal("0.06"))]
    waiting = walk.until(walk.request(amount=Decimal("0.07")), "queued")
    for freeze, released in ((of_destination(ADDRESS), named[:1]), (of_currency("BTC"), named[1:])):
        assert freezes.would_release(freeze) == released
        assert [each.reference for each in freezes.would_stop(freeze)] == [waiting.reference]
        begin(freeze, walk.approvers[0])
        assert [walk.fresh(row).decision for row in named] == ["rollback", "rollback" if freeze.currency else "commit"]
    assert freezes.would_release(of_everything()) == []
    assert walk.step(walk.step(waiting)).state in {"queued", "review"}
    assert walk.until(named[0], "rolled_back")
    assert walk.calls("commit_withdrawal") == []
    assert trail.problems() == []


@pytest.mark.every(3, "test_frozen_in_the_moment shows the claims, and the orders here the scopes, with every commit")
def test_a_payout_is_stopped_at_its_claims(walk, at_the_claim):
    row, ordered = walk.until(walk.request(), "queued"), walk.committing(amount=Decimal("0.006"))
    at_the_claim(of_everything())
    assert walk.step(row).exchange_id is None
    assert walk.step(ordered).put_count == 0
    assert len(walk.calls("create_withdrawal")) == 1
    assert walk.calls("commit_withdrawal") == []


def test_a_held_payout_is_released_when_the_monitor_finds_a_freeze_and_is_not_approved_meanwhile(walk, others):
    others("ETH")
    row, paid = walk.held(), walk.committing(amount=Decimal("0.006"))
    assert walk.until(paid, "committed"), "by freezes of another currency and another address"
    Freeze.objects.create(kind=Freeze.CURRENCY, currency="BTC", reason="Odd", frozen_at=clock.now())
    with pytest.raises(approvals.CannotApprove, match="BTC is frozen, so nothing can be approved"):
        walk.approve(row)
    row = walk.step(row)
    assert (row.state, row.events.last().event, row.last_problem) == ("rolling_back", "frozen", "BTC is frozen: Odd")


@pytest.mark.every(3, "test_frozen_in_the_moment shows the claims, and the orders here the scopes, with every commit")
def test_each_scope_stops_a_transfer_as_it_says(moving, others, at_the_claim):
    others("ETH")
    row = moving.approved()
    for freeze, words in ((of_currency(row.currency), f"{row.currency} is frozen"), (of_everything(), "Everything is")):
        assert [each.reference for each in freezes.would_stop(freeze)] == [row.reference]
        frozen = begin(freeze)
        moving.step(row)
        assert moving.step(row).last_problem.startswith(words)
        lift(frozen)
    assert freezes.would_stop(of_destination(ADDRESS)) == []
    row = moving.until(row, "approved")
    at_the_claim(of_currency(row.currency))
    assert moving.step(row).state != transfers.SENDING
    assert moving.calls(row) == []


def test_each_scope_stops_an_order_by_either_currency_of_its_symbol(dealing, others, at_the_claim):
    others("LTC")
    for freeze in (of_currency("ETH"), of_currency("BTC"), of_everything()):
        row = dealing.place()
        assert [each.reference for each in freezes.would_stop(freeze)] == [row.reference]
        frozen = begin(freeze)
        row = dealing.step(row)
        assert (row.state, row.last_problem) == (orders.NOT_SENT, frozen.sentence)
        lift(frozen)
    assert dealing.sent() == 0
    assert dealing.placed()
    row = dealing.place()
    at_the_claim(of_currency("BTC"))
    assert dealing.step(row).state != orders.SENDING
    assert dealing.sent() == 1


def test_each_scope_stops_a_margin_action(margin_desk, others):
    others("LTC")
    for freeze in (of_currency("ETH"), of_everything()):
        row = margin_desk.ask(margin.OPEN, amount=Decimal(1))
        assert [each.reference for each in freezes.would_stop(freeze)] == [row.reference]
        frozen = begin(freeze)
        assert margin_desk.step(row).last_problem == frozen.sentence
        lift(frozen)
    assert margin_desk.calls(row) == []
    assert margin_desk.step(margin_desk.ask(margin.OPEN, amount=Decimal(1))).state != margin.NOT_SENT


def test_one_orders_it_two_for_every_account_lift_it_and_what_it_voided_stays_void(walk, make_person):
    row = walk.until(walk.request(amount=Decimal(20)), "review")
    walk.approve(row)
    limited = make_person("treasury", username="of-one")
    limited.limits = f" treasury:{walk.account.pk} "
    limited.save()
    with pytest.raises(freezes.CannotFreeze, match="for all accounts"):
        begin(of_currency("BTC"), limited)
    frozen = begin(of_currency("BTC"), walk.approvers[0])
    assert begin(of_currency("BTC"), walk.approvers[1]).pk == frozen.pk
    other = begin(of_currency("ETH"))
    assert Incident.objects.get(kind=alarms.FROZEN_ACROSS, cause=f"freeze:{frozen.pk}").sentence == (
        f"BTC was frozen by {walk.approvers[0]}; no payouts or transfers of BTC, and no orders or margin actions in "
        "its markets, on any account until the freeze is lifted. Something is odd. Two treasurers must lift it."
    )
    with pytest.raises(freezes.CannotThaw, match="for all accounts"):
        freezes.thaw(freeze_id=frozen.pk, person=limited, answer={}, reason="Over", session_key="s", now=clock.now())
    assert thaw(walk, frozen, walk.approvers[0]).thawed_at is None
    with pytest.raises(freezes.CannotThaw, match="You already approved"):
        thaw(walk, frozen, walk.approvers[0])
    assert freezes.stopping(row.movement) == frozen
    assert thaw(walk, frozen, walk.approvers[1]).thawed_at is not None
    assert freezes.stopping(row.movement) is None
    assert freezes.latest_number(row.movement) == frozen.pk < other.pk
    row = walk.step(row)
    assert (row.state, approvals.valid(row, "review").count()) == ("review", 0)
    assert trail.problems() == []


@pytest.mark.parametrize(
    "other",
    [LEGACY, CASH.upper(), CASH.partition(":")[2], f" {LEGACY} "],
)
def test_every_form_of_an_address_is_one_destination(other):
    assert destinations.identity(other) == destinations.identity(CASH)
    begin(of_destination(other))
    with pytest.raises(IntegrityError), transaction.atomic():
        Freeze.objects.create(
            kind="destination", address=CASH, destination=destinations.identity(CASH), reason="x", frozen_at=clock.now()
        )


def test_addresses_that_only_look_alike_are_different_destinations():
    ripple = "rPEPPER7kfTD9w2To4CQk6UCfuHM9c6GDY"
    assert destinations.identity(ripple) == ripple
    assert destinations.identity(ripple) != destinations.identity(ripple.lower())
    assert destinations.identity("0xAB5801a7D398351b8bE11C439e05C5B3259aeC9B") == destinations.identity(
        "0xab5801a7d398351b8be11c439e05c5b3259aec9b"
    )
    script = "3P14159f73E4gFr7JterCCQh9QjiTjiZrG"
    litecoin = "MVcg9uEvtWuP5N6V48EHfEtbz48qR8TKZ9"
    assert destinations.identity(script) != destinations.identity(litecoin)
    assert destinations.identity(litecoin).startswith("main:script:")
