"""The matching engine: price before time, in whole numbers, with the same answers as a book too simple to be wrong."""

from collections import defaultdict
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from sandbox.exchange.orders.matching import BUY, SELL, Book


def filled(*orders: tuple[int, str, int, int]) -> Book:
    """A book with resting orders: number, side, price, quantity."""
    book = Book("ETHBTC")
    for number, side, price, quantity in orders:
        assert book.add(number, side, price, quantity).resting
    return book


def test_an_order_rests_and_is_seen_from_both_sides() -> None:
    book = filled((1, BUY, 90, 5), (2, SELL, 110, 7), (3, BUY, 95, 1))
    assert (book.best(BUY), book.best(SELL)) == (95, 110)
    assert book.levels(BUY) == [(95, 1), (90, 5)]
    assert book.levels(SELL) == [(110, 7)]
    assert (book.remaining(1), book.remaining(99), 3 in book, 99 in book, len(book)) == (5, 0, True, False, 3)


def test_the_better_price_goes_first_and_then_the_earlier_order() -> None:
    book = filled((1, SELL, 102, 5), (2, SELL, 101, 5), (3, SELL, 101, 5))
    assert book.add(4, BUY, 102, 12) == ([(2, 101, 5), (3, 101, 5), (1, 102, 2)], False, "")
    assert book.levels(SELL) == [(102, 3)]
    assert 4 not in book


def test_trades_happen_at_the_resting_price_and_the_rest_rests() -> None:
    book = filled((1, BUY, 100, 3))
    assert book.add(2, SELL, 90, 10) == ([(1, 100, 3)], True, "")
    assert (book.best(BUY), book.levels(SELL)) == (None, [(90, 7)])


def test_a_partly_filled_order_keeps_its_place() -> None:
    book = filled((1, SELL, 100, 5), (2, SELL, 100, 5))
    book.add(3, BUY, 100, 2)
    assert book.add(4, BUY, 100, 4).fills == [(1, 100, 3), (2, 100, 1)]


def test_a_market_order_takes_at_any_price_and_never_rests() -> None:
    book = filled((1, SELL, 100, 5), (2, SELL, 10**12, 5))
    assert book.add(3, BUY, None, 12) == ([(1, 100, 5), (2, 10**12, 5)], False, "unfilled")
    assert len(book) == 0
    assert book.add(4, SELL, None, 1) == ((), False, "unfilled")


def test_immediate_or_cancel_takes_what_there_is() -> None:
    book = filled((1, SELL, 100, 5))
    assert book.add(2, BUY, 99, 5, time_in_force="IOC") == ((), False, "unfilled")
    assert book.add(3, BUY, 100, 9, time_in_force="IOC") == ([(1, 100, 5)], False, "unfilled")
    assert len(book) == 0


def test_fill_or_kill_takes_all_or_nothing() -> None:
    book = filled((1, SELL, 100, 5), (2, SELL, 101, 5))
    assert book.add(3, BUY, 100, 6, time_in_force="FOK") == ((), False, "unfilled")
    assert book.add(4, BUY, None, 11, time_in_force="FOK") == ((), False, "unfilled")
    assert len(book) == 2
    assert book.add(5, BUY, 101, 6, time_in_force="FOK").fills == [(1, 100, 5), (2, 101, 1)]


def test_a_post_only_order_is_not_taken_in_when_it_would_take() -> None:
    book = filled((1, SELL, 100, 5))
    assert book.add(2, BUY, 100, 5, post_only=True) == ((), False, "postOnly")
    assert book.levels(SELL) == [(100, 5)]
    assert book.add(3, BUY, 99, 5, post_only=True).resting
    assert book.add(4, SELL, 99, 5, post_only=True).reason == "postOnly"


def test_a_cancelled_order_is_gone() -> None:
    book = filled((1, BUY, 100, 5), (2, BUY, 100, 6))
    assert (book.cancel(1), book.cancel(1), book.cancel(99)) == (5, 0, 0)
    assert book.add(3, SELL, 100, 7).fills == [(2, 100, 6)]
    assert book.best(BUY) is None


def test_recorded_fills_can_be_lived_again() -> None:
    book = filled((1, BUY, 100, 5), (2, BUY, 100, 5))
    book.reduce(1, 2)
    book.rest(3, BUY, 100, 4)
    assert book.levels(BUY) == [(100, 12)]
    book.reduce(1, 3)
    assert 1 not in book
    assert book.add(4, SELL, 100, 9).fills == [(2, 100, 5), (3, 100, 4)]
    for order_id, quantity, problem in ((9, 1, KeyError), (2, 1, KeyError)):
        with pytest.raises(problem):
            book.reduce(order_id, quantity)
    book.rest(5, SELL, 100, 4)
    for quantity in (0, -1, 5):
        with pytest.raises(ValueError, match="not a part"):
            book.reduce(5, quantity)
    assert book.remaining(5) == 4


def test_depth_volume_and_cost() -> None:
    book = filled(*((number, SELL, 100 + number, 10) for number in range(1, 6)))
    assert book.levels(SELL, 2) == [(101, 10), (102, 10)]
    assert len(book.levels(SELL, 99)) == 5
    assert book.volume_for(SELL, 11) == [(101, 10), (102, 10)]
    assert book.volume_for(SELL, 10) == [(101, 10)]
    assert book.volume_for(SELL, 0) == []
    assert len(book.volume_for(SELL, 1_000)) == 5
    assert book.walk(BUY, 15) == (15, 10 * 101 + 5 * 102)
    assert book.walk(BUY, 15, 101) == (10, 1010)
    assert book.walk(BUY, 1_000) == (50, sum(10 * price for price in range(101, 106)))
    assert book.walk(SELL, 5) == (0, 0)


def test_levels_that_come_and_go_are_not_hoarded() -> None:
    book = filled((1, BUY, 1, 1))
    for number in range(2, 20_000):
        book.add(number, BUY, number, 1)
        book.cancel(number)
    assert book.levels(BUY) == [(1, 1)]
    assert len(book._bids.keys) <= 128
    assert book.add(20_000, SELL, 1, 1).fills == [(1, 1, 1)]


@dataclass
class One:
    """An order of the plain book."""

    number: int
    side: str
    price: int
    left: int


@dataclass
class Plain:
    """A book as a list: every answer is a search through all of it."""

    resting: list[One] = field(default_factory=list)

    def meeting(self, side: str, price: int | None) -> list[One]:
        sign = 1 if side == BUY else -1
        fit = [one for one in self.resting if one.side != side and (price is None or sign * one.price <= sign * price)]
        return sorted(fit, key=lambda one: sign * one.price)

    def add(
        self, number: int, side: str, price: int | None, quantity: int, *, post_only: bool, force: str
    ) -> tuple[list[tuple[int, int, int]], bool, str]:
        met = self.meeting(side, price)
        if met and post_only:
            return [], False, "postOnly"
        if met and force == "FOK" and sum(one.left for one in met) < quantity:
            return [], False, "unfilled"
        fills = []
        for one in met:
            part = min(one.left, quantity)
            if part:
                fills.append((one.number, one.price, part))
                one.left -= part
                quantity -= part
        self.resting = [one for one in self.resting if one.left]
        if not quantity:
            return fills, False, ""
        if price is None or force in ("IOC", "FOK"):
            return fills, False, "unfilled"
        self.resting.append(One(number, side, price, quantity))
        return fills, True, ""

    def levels(self, side: str) -> list[tuple[int, int]]:
        sizes: dict[int, int] = defaultdict(int)
        for one in self.resting:
            if one.side == side:
                sizes[one.price] += one.left
        return sorted(sizes.items(), reverse=side == BUY)


sides = st.sampled_from([BUY, SELL])


class Both(RuleBasedStateMachine):
    """The engine and the plain book, asked the same."""

    def __init__(self) -> None:
        super().__init__()
        self.book, self.plain, self.number = Book("ETHBTC"), Plain(), 0

    @rule(
        side=sides,
        price=st.one_of(st.none(), st.integers(1, 12)),
        quantity=st.integers(1, 20),
        post_only=st.booleans(),
        force=st.sampled_from(["GTC", "GTC", "Day", "GTD", "IOC", "FOK"]),
    )
    def add(self, side: str, price: int | None, quantity: int, post_only: bool, force: str) -> None:
        self.number += 1
        fills, *rest = self.book.add(self.number, side, price, quantity, post_only=post_only, time_in_force=force)
        assert (list(fills), *rest) == self.plain.add(
            self.number, side, price, quantity, post_only=post_only, force=force
        )

    @precondition(lambda self: self.plain.resting)
    @rule(place=st.integers(0, 10**6))
    def cancel(self, place: int) -> None:
        one = self.plain.resting.pop(place % len(self.plain.resting))
        assert self.book.cancel(one.number) == one.left

    @precondition(lambda self: self.plain.resting)
    @rule(place=st.integers(0, 10**6), part=st.integers(1, 20))
    def reduce(self, place: int, part: int) -> None:
        one = self.plain.resting[place % len(self.plain.resting)]
        part = min(part, one.left)
        one.left -= part
        self.plain.resting = [each for each in self.plain.resting if each.left]
        self.book.reduce(one.number, part)

    @invariant()
    def they_agree_and_the_book_is_not_crossed(self) -> None:
        for side in (BUY, SELL):
            levels = self.plain.levels(side)
            assert self.book.levels(side) == levels
            assert self.book.best(side) == (levels[0][0] if levels else None)
        bid, ask = self.book.best(BUY), self.book.best(SELL)
        assert bid is None or ask is None or bid < ask
        assert len(self.book) == len(self.plain.resting)


TestBoth = Both.TestCase
TestBoth.settings = settings(max_examples=90, stateful_step_count=60, deadline=None)


@given(st.lists(st.tuples(sides, st.integers(1, 9), st.integers(1, 9)), max_size=60))
def test_nothing_is_made_or_lost(orders: list[tuple[str, int, int]]) -> None:
    book = Book("ETHBTC")
    given_in = traded = 0
    for number, (side, price, quantity) in enumerate(orders, 1):
        given_in += quantity
        traded += 2 * sum(part for _, _, part in book.add(number, side, price, quantity).fills)
    resting = sum(size for side in (BUY, SELL) for _, size in book.levels(side))
    assert given_in == traded + resting
