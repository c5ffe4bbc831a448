"""Budgets: who waits, who does not, and that the exchange has nothing to refuse."""

import contextlib
import threading
import time
from decimal import Decimal

import pytest

from exchange_ops.client.budgets import (
    SECOND_NS,
    Budget,
    Budgets,
    Group,
    NoPlace,
    Urgency,
    group_of,
    of_this_process,
    urgency_of,
)
from exchange_ops.client.pacing import NoPlaceInTime
from exchange_ops.keys import store as keys
from exchange_ops.wire import catalogue
from exchange_ops.wire.catalogue import Right
from tests.bounds import stretched
from wire.errors import Refused

HOLD = {"currency": "BTC", "amount": Decimal("0.25"), "address": "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"}


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self):
        self.ns = 10**15

    def __call__(self):
        return self.ns

    def move(self, milliseconds):
        self.ns += milliseconds * 1_000_000


def has_place(budget, urgency=Urgency.READ):
    try:
        with budget.place(urgency, within_ns=0):
            return True
    except NoPlace:
        return False


def test_operations_are_counted_where_the_figures_put_them():
    by_name = catalogue.by_name
    assert group_of(by_name["get_ticker"]) is Group.MARKET
    assert group_of(by_name["create_order"]) is group_of(by_name["cancel_margin_order"]) is Group.TRADING
    assert group_of(by_name["get_trade_history"]) is group_of(by_name["get_balances"]) is Group.OTHER
    urgent = {row.name: urgency_of(row) for row in catalogue.OPERATIONS if urgency_of(row) <= Urgency.DECISION}
    assert urgent == {"commit_withdrawal": Urgency.DECISION, "rollback_withdrawal": Urgency.RELEASE}
    assert urgency_of(by_name["create_withdrawal"]) is Urgency.ACT
    assert urgency_of(by_name["get_order"]) is Urgency.READ


def test_a_place_is_free_again_a_second_after_the_answer():
    clock = Clock()
    budget = Budget(2, clock_ns=clock)
    with budget.place(Urgency.READ, within_ns=0):
        assert has_place(budget)
        assert not has_place(budget)
        clock.move(5000)
        assert has_place(budget)  # the second one's
        assert not has_place(budget)  # the first call is still away
    clock.move(999)
    assert not has_place(budget)
    clock.move(1)
    assert has_place(budget)


def test_reads_and_acts_leave_the_last_places_to_what_must_not_wait():
    budget = Budget(10, clock_ns=Clock())
    assert [has_place(budget) for _ in range(8)] == [True] * 7 + [False]
    assert [has_place(budget, Urgency.ACT) for _ in range(2)] == [True, False]
    assert [has_place(budget, Urgency.DECISION) for _ in range(2)] == [True, False]
    assert [has_place(budget, Urgency.RELEASE) for _ in range(2)] == [True, False]


def test_orders_to_pay_that_hang_leave_a_place_to_a_release():
    budget, hanging = Budget(10, clock_ns=Clock()), contextlib.ExitStack()
    with hanging:
        for _ in range(9):
            hanging.enter_context(budget.place(Urgency.DECISION, within_ns=0))
        assert not has_place(budget, Urgency.DECISION)
        assert has_place(budget, Urgency.RELEASE)


def test_a_budget_of_one_serves_everybody():
    clock = Clock()
    budget = Budget(1, clock_ns=clock)
    for urgency in Urgency:
        assert has_place(budget, urgency)
        clock.move(1000)
    with pytest.raises(ValueError, match="at least"):
        Budget(0)


def test_each_429_in_a_row_makes_the_pause_longer_and_an_answer_makes_it_short_again():
    clock = Clock()
    budget = Budget(10, clock_ns=clock)
    for pause_s in (1, 2, 4, 8, 16, 30, 30):
        budget.refused()
        budget.refused()  # another call of the same moment
        clock.move(pause_s * 1000 - 1)
        assert not has_place(budget)
        assert has_place(budget, Urgency.DECISION)
        clock.move(1)
        assert has_place(budget)
    budget.answered()
    budget.refused()
    clock.move(1000)
    assert has_place(budget)


def test_releases_go_before_decisions_and_these_before_acts_and_reads():
    budget = Budget(1)
    order, threads = [], []

    def go(urgency):
        with budget.place(urgency, within_ns=20 * SECOND_NS):
            order.append(urgency)

    with budget.place(Urgency.READ, within_ns=0):
        for waiting, urgency in enumerate(reversed(Urgency), start=1):
            threads.append(threading.Thread(target=go, args=(urgency,)))
            threads[-1].start()
            until = time.monotonic() + 5
            while len(budget._waiting) < waiting and time.monotonic() < until:
                time.sleep(0.005)
    for thread in threads:
        thread.join(20)
    assert order == [Urgency.RELEASE, Urgency.DECISION, Urgency.ACT, Urgency.READ]


def test_a_call_that_gave_up_or_failed_holds_no_place():
    clock = Clock()
    budget = Budget(1, clock_ns=clock)
    with pytest.raises(KeyError), budget.place(Urgency.READ, within_ns=0):
        raise KeyError
    assert not has_place(budget)
    clock.move(1000)
    assert has_place(budget)
    assert budget._waiting == []


def test_keys_have_budgets_of_their_own_and_share_that_of_market_data():
    budgets = Budgets()
    one, two = budgets.for_key("https://a.test", "one"), budgets.for_key("https://a.test", "two")
    account, market = catalogue.by_name["get_balances"], catalogue.by_name["get_ticker"]
    assert one.budget_for(account) is not two.budget_for(account)
    assert one.budget_for(account) is budgets.for_key("https://a.test", "one").budget_for(account)
    assert one.budget_for(market) is two.budget_for(market)
    assert one.budget_for(market) is not budgets.for_key("https://b.test", "one").budget_for(market)
    slow = budgets.for_key("https://a.test", "slow", {"other": 1})
    assert [has_place(slow.budget_for(account)) for _ in range(2)] == [True, False]
    assert [has_place(slow.budget_for(catalogue.by_name["get_orders"])) for _ in range(2)] == [True, True]
    kept = of_this_process.for_key("https://a.test", "one").budget_for(account)
    of_this_process.forget()
    assert of_this_process.for_key("https://a.test", "one").budget_for(account) is not kept


# At the exchange -----------------------------------------------------------------------------------------------------


@pytest.fixture
def paced(client_as):
    budgets = Budgets()

    def open_client(login="demo-full", **options):
        return client_as(login, budget=budgets.for_key("here", login), **options)

    return open_client


def statuses(sandbox, name):
    return [call["answer"]["status"] for call in sandbox.control(f"calls?operation={name}")["calls"]]


def test_three_threads_of_one_key_are_never_told_too_many(sandbox, paced):
    sandbox.control("config", {"rate_limits": {"market": 100, "trading": 300, "other": 10}})
    ends = time.monotonic() + 2.2

    def read():
        client = paced()
        while time.monotonic() < ends:
            client.get_balances()

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    facts = statuses(sandbox, "get_balances")
    assert set(facts) == {200}
    assert 16 <= len(facts) <= 30


def test_a_read_that_is_told_too_many_waits_and_asks_again(sandbox, paced):
    sandbox.control("faults", {"operation": "get_balances", "kind": "rate_limit", "times": 1})
    began = time.monotonic()
    assert len(paced().get_balances().records) > 0
    assert time.monotonic() - began >= 1
    assert statuses(sandbox, "get_balances") == [429, 200]


def test_waiting_ends_with_the_time_of_the_call(sandbox, paced):
    sandbox.control("faults", {"operation": "get_balances", "kind": "rate_limit", "times": 99})
    began = time.monotonic()
    with pytest.raises(Refused) as refused:
        paced(deadline_s=2).get_balances()
    assert refused.value.code == 429
    assert time.monotonic() - began < stretched(10)
    assert statuses(sandbox, "get_balances") == [429, 429]


def test_what_acts_is_never_sent_again(sandbox, paced):
    sandbox.control("faults", {"operation": "create_withdrawal", "kind": "rate_limit", "times": 1})
    with pytest.raises(Refused):
        paced().create_withdrawal(**HOLD)
    assert statuses(sandbox, "create_withdrawal") == [429]


def test_a_decision_passes_the_reads_that_a_429_holds_back(sandbox, paced):
    client = paced()
    held = client.create_withdrawal(**HOLD)
    sandbox.control("faults", {"operation": "get_balances", "kind": "rate_limit", "times": 99})
    with pytest.raises(Refused):
        paced(deadline_s=1).get_balances()
    assert client.rollback_withdrawal(exchange_id=held) is True
    with pytest.raises(NoPlaceInTime):  # so what was held back before is held back still
        paced(deadline_s=1).create_withdrawal(**HOLD)
    assert len(statuses(sandbox, "create_withdrawal")) == 1


def test_every_client_of_a_key_draws_on_the_same_budget(sandbox, account, demo_keys, settings):
    settings.EXCHANGE_CALLS_PER_SECOND = {"other": 2}
    began = time.monotonic()
    for _ in range(3):
        client = keys.client_for(account, Right.PAYMENTS)
        client.get_balances()
        client.close()
    assert time.monotonic() - began >= 1
    assert statuses(sandbox, "get_balances") == [200, 200, 200]
