"""Walks over lists that move while they are read: nothing is missed or comes twice, and no walk goes on forever."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exchange_ops.client.listings import Aside, Listing
from exchange_ops.client.paging import HIGHEST_INDEX, backwards, upwards
from exchange_ops.wire.new_orders import NewOrder
from wire.errors import BadReply

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Row:
    id: int
    at: datetime = NOON


def up(read: Callable[[int], Listing[Any]], *, after: int = 0, limit: int = 3) -> Any:
    return upwards(
        read, after=after, limit=limit, key_of=lambda row: row.id, aside_key=lambda aside: aside.number or aside.index
    )


def back(read: Callable[[datetime | None], Listing[Any]], *, limit: int = 3) -> Any:
    return backwards(read, till=None, limit=limit, instant_of=lambda row: row.at, key_of=lambda row: row.id)


def ids(pages: Any) -> list[int]:
    return [row.id for page in pages for row in page.records]


def rows(*numbers: int) -> Listing[Row]:
    return Listing(tuple(Row(number) for number in numbers))


@given(st.lists(st.lists(st.integers(0, 3), max_size=4), min_size=1, max_size=8), st.integers(1, 4))
def test_what_comes_in_while_we_walk_upwards_is_met_once(arrivals, limit):
    present: list[int] = []
    waiting = list(arrivals)

    def read(first: int) -> Listing[Row]:
        for gap in waiting.pop(0) if waiting else ():
            present.append((present[-1] if present else 0) + 1 + gap)
        return rows(*[number for number in present if number >= first][:limit])

    assert ids(up(read, limit=limit)) == present


def test_an_element_that_can_not_be_read_moves_the_walk_on_too():
    places = []

    def read(first: int) -> Listing[Row]:
        places.append(first)
        return (
            Listing((Row(1),), (Aside("{}", "odd", "", 2), Aside("{}", "odd", "", None, 3))) if first == 1 else rows(4)
        )

    assert ids(up(read)) == [1, 4]
    assert places == [1, 4]


@pytest.mark.parametrize(
    ("page", "says"),
    [
        (rows(9, 8, 7), "sort"),
        (rows(0, 0, 0), "Paging stopped"),
        (Listing((), (Aside("x", "odd"),) * 3), "Paging stopped"),
        (rows(*[HIGHEST_INDEX + 1] * 3), "Paging stopped"),
    ],
)
def test_a_full_page_that_does_not_follow_our_question_ends_the_walk_aloud(page, says):
    walk = up(lambda first: page)
    next(walk)
    with pytest.raises(BadReply, match=says):
        next(walk)


def test_a_key_at_the_end_of_its_range_does_not_carry_the_walk_past_the_others():
    pages = {1: rows(1, 2, 2**63 - 1), 3: rows(3)}
    assert ids(up(lambda first: pages[first])) == [1, 2, 2**63 - 1, 3]


# Back in time --------------------------------------------------------------------------------------------------------


def history(present: list[Row], *, till_is_included: bool, limit: int) -> Callable[[datetime | None], Listing[Row]]:
    def read(till: datetime | None) -> Listing[Row]:
        found = [row for row in present if till is None or row.at < till or (till_is_included and row.at == till)]
        return Listing(tuple(sorted(found, key=lambda row: (row.at, row.id), reverse=True)[:limit]))

    return read


@given(st.lists(st.integers(0, 20), max_size=25), st.booleans())
def test_records_of_the_same_instant_on_both_sides_of_a_page_come_once(instants, till_is_included):
    present = [Row(number, NOON + timedelta(milliseconds=instant)) for number, instant in enumerate(sorted(instants))]
    limit = max((instants.count(one) + instants.count(one + 1) for one in instants), default=0) + 1
    found = ids(back(history(present, till_is_included=till_is_included, limit=limit), limit=limit))
    assert sorted(found) == [row.id for row in present]
    assert len(found) == len(set(found))


def test_what_comes_in_or_is_deleted_while_we_walk_back_disturbs_nothing():
    present = [Row(number, NOON + timedelta(seconds=number)) for number in range(10)]
    read = history(present, till_is_included=True, limit=3)
    found = []
    for page in back(read):
        found += [row.id for row in page.records]
        present.append(Row(100 + len(found), NOON + timedelta(seconds=100 + len(found))))
        present[:] = [row for row in present if row.id != 0]
    assert found == [9, 8, 7, 6, 5, 4, 3, 2, 1]


@pytest.mark.parametrize(
    ("page", "says"),
    [
        (Listing(tuple(Row(number, NOON + timedelta(seconds=number)) for number in (1, 2, 3))), "sort"),
        (Listing((), (Aside("x", "odd"),) * 3), "Paging stopped"),
    ],
)
def test_a_history_that_does_not_follow_our_question_ends_the_walk_aloud(page, says):
    walk = back(lambda till: page)
    next(walk)
    with pytest.raises(BadReply, match=says):
        next(walk)


def test_a_full_page_of_one_instant_ends_the_walk_aloud():
    walk = back(lambda till: rows(3, 2, 1))
    assert [row.id for row in next(walk).records] == [3, 2, 1]
    assert next(walk).records == ()
    with pytest.raises(BadReply, match="Paging stopped"):
        next(walk)


# At the exchange -----------------------------------------------------------------------------------------------------


def resting(number: int) -> NewOrder:
    return NewOrder(
        client_order_id=f"walk-{number:04d}",
        symbol="ETHBTC",
        side="buy",
        quantity=Decimal("0.001"),
        price=Decimal("0.000001"),
    )


def test_the_history_of_orders_is_walked_while_more_are_placed(sandbox, client_as):
    sandbox.control("config", {"history_delay_ms": 0})
    client = client_as("demo-trade")
    for number in range(8):
        client.create_order(order=resting(number))
    names = []
    for count, page in enumerate(client.orders_back(limit=3)):
        names += [order.client_order_id for order in page.records]
        client.create_order(order=resting(100 + count))
    assert sorted(names) == [f"walk-{number:04d}" for number in range(8)]


def test_the_ledger_is_walked_while_entries_come_in(sandbox, client_as):
    client = client_as("demo-full")
    before = [entry.index for page in client.transactions_after(index=0) for entry in page.records]
    last = max(before)
    made, met = [], []
    for _ in range(3):
        made.append(client.transfer_funds(currency="BTC", amount=Decimal("0.01"), type="bankToExchange"))
    for page in client.transactions_after(index=last, limit=2):
        met += [entry.id for entry in page.records]
        if len(made) < 6:
            made.append(client.transfer_funds(currency="BTC", amount=Decimal("0.01"), type="exchangeToBank"))
    assert met == made[: len(met)]
    assert len(met) >= 5


def test_the_trades_of_the_account_are_walked_while_it_trades(sandbox, client_as):
    from tests.sandbox.trading import offered
    from tests.sandbox.worlds import dismiss_traders

    sandbox.inside(lambda: dismiss_traders(sandbox.world))
    sandbox.inside(lambda: offered(sandbox.world, "sell", 1, 100_000))
    client = client_as("demo-trade")

    def trade(number: int) -> list[int]:
        met = client.create_order(order=replace(resting(number), time_in_force="IOC")).trades_report
        return [fill.id for fill in met]

    made = [fill for number in range(5) for fill in trade(number)]
    found = []
    for count, page in enumerate(client.account_trades_after(trade_id=made[0], limit=2)):
        found += [fill.id for fill in page.records]
        made += trade(50 + count) if count < 2 else []
    assert found == made[1:]
    assert len(found) == 6
    (first,) = client.get_order_history(client_order_id="walk-0000").records
    assert [fill.id for fill in client.call("get_order_trades", orderId=first.id)] == made[:1]
    assert first.status == "filled"
