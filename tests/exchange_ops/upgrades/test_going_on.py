"""What was under way when the version was replaced goes on with this one, in front of the exchange as it stood then.

Nothing is paid or moved twice, and nothing without approvals that count in this version; what an earlier version had
ordered to be paid is paid.
"""

from collections import Counter
from contextlib import suppress

import pytest
from django.core.management import call_command

from desk import audit_check
from desk.models import Person, SpentTotpStep
from exchange_ops.orders.models import Order
from exchange_ops.policy.models import Freeze
from exchange_ops.shared.models import Account
from exchange_ops.transfers.models import Transfer
from exchange_ops.withdrawals.decisions import approvals
from exchange_ops.withdrawals.models import Withdrawal
from sandbox.exchange.accounts.transactions import Phase
from tests.exchange_ops.orders.dealings import Dealing
from tests.exchange_ops.transfers.movings import Moving
from tests.exchange_ops.upgrades import under_way
from tests.exchange_ops.withdrawals.walks import Walk

COSTS = "all migrations from the recorded version on, in front of a sandbox that lives again"
WAITING = {"review", "held"}
STEPS = 6
# What these versions signed is approved anew; approvals of later ones count.
APPROVED_ANEW = {"0.7.0"}


@pytest.fixture
def walk(upgraded, exchange):
    """The desk's people and its worker, with codes that were not used before the upgrade."""
    approvers = [Person.objects.get(username=name) for name in ("treasury", "treasury2", "treasury3")]
    desk = Walk(
        account=Account.objects.get(name="Main desk"),
        sandbox=exchange,
        operator=Person.objects.get(username="operator"),
        approvers=approvers,
    )
    under_way.read_prices()
    desk._codes.update(SpentTotpStep.objects.values_list("person_id", "step"))
    return desk


def active_freezes():
    return set(Freeze.objects.filter(thawed_at=None).values_list("pk", flat=True))


def went_on(step, row):
    """As far as workers bring it by themselves."""
    for _ in range(STEPS):
        row = step(row)
    return row


def payouts(walk):
    """By what each was when the version was replaced."""
    return {row.reason: row for row in Withdrawal.objects.filter(account=walk.account).order_by("pk")}


def paid(walk):
    """Names of the payouts that the exchange was ordered to pay; it has no other payout, and none twice."""
    named = {row.exchange_id: name for name, row in payouts(walk).items() if row.exchange_id}
    assert {one.id for one in walk.payouts()} <= set(named), "a payout that is nobody's"
    every = walk.sandbox.world.exchange.payouts
    return {name for number, name in named.items() if every[number].phase is Phase.COMMITTED}


def approved(walk, row):
    """With as many approvals as the rules want now, at each stage that it waits at."""
    for _ in range(2):
        for person in walk.approvers:
            if walk.fresh(row).state in WAITING:
                with suppress(approvals.CannotApprove):  # who approved already, once more
                    walk.approve(row, person)
        row = went_on(walk.step, row)
    return row


@pytest.mark.every(3, COSTS)
def test_payouts_go_on_and_are_paid_once_with_approvals_that_count_here(walk, recorded):
    frozen, anew = active_freezes(), recorded.version in APPROVED_ANEW
    rows = payouts(walk)
    assert set(rows) == set(under_way.PAYOUTS)
    for row in rows.values():
        went_on(walk.step, row)
    assert paid(walk) == {*under_way.ORDERED, *(() if anew else under_way.APPROVED)}
    states = {name: row.state for name, row in payouts(walk).items()}
    assert {states[name] for name in under_way.UNPAID} == {"rolled_back"}
    open_ones = set(rows) - paid(walk) - {*under_way.UNPAID, under_way.NEVER_ARRIVED}
    assert {states[name] for name in open_ones} <= WAITING, states
    if anew:  # an approval that the earlier version took is none of the two
        half = rows[under_way.HALF_APPROVED]
        assert walk.approve(half, walk.approvers[1]).state == "held"
    for name in open_ones:
        approved(walk, rows[name])
    assert paid(walk) == {*rows} - {*under_way.UNPAID, under_way.NEVER_ARRIVED}
    ends_in_order(walk, frozen)


def ends_in_order(walk, frozen):
    """Nothing was frozen on the way, the books of both sides agree, and the trail bears out every row."""
    assert active_freezes() == frozen
    assert walk.balanced()
    walk.read_ledger()
    assert audit_check.verify(replay=True) == []


@pytest.mark.thorough(COSTS)
def test_transfers_go_on_and_move_once(walk, recorded):
    frozen, moving, anew = active_freezes(), Moving(walk), recorded.version in APPROVED_ANEW
    rows = {row.reason: row for row in Transfer.objects.filter(account=walk.account)}
    for row in rows.values():
        went_on(moving.step, row)
    states = {name: moving.fresh(row).state for name, row in rows.items()}
    assert states == under_way.TRANSFERS | ({"approved": "review"} if anew else {})
    for row in rows.values():
        if moving.fresh(row).state == "review":
            moving.approve(row)
            assert went_on(moving.step, row).state == "done"
    moved = {name: len({entry.id for entry in moving.moved(row)}) for name, row in rows.items()}
    assert moved == dict.fromkeys(rows, 1) | {"never arrived": 0}
    ends_in_order(walk, frozen)


@pytest.mark.thorough(COSTS)
def test_orders_go_on_and_are_placed_once(walk):
    frozen = active_freezes()
    dealing = Dealing(account=walk.account, sandbox=walk.sandbox, operator=walk.operator)
    rows = {
        row.request_key: row for row in Order.objects.filter(account=walk.account, request_key__in=under_way.ORDERS)
    }
    for row in rows.values():
        went_on(dealing.step, row)
    dealing.read()
    assert {name: dealing.fresh(row).state for name, row in rows.items()} == under_way.ORDERS
    found = Counter(one.client_order_id for one in dealing.client("demo-trade").get_orders().records)
    assert set(found.values()) <= {1}
    ends_in_order(walk, frozen)


@pytest.mark.thorough(COSTS)
def test_the_books_agree_after_an_upgrade(walk, capsys):
    call_command("reconcile", account=walk.account.name)
    assert "DIFFERS" not in capsys.readouterr().out
