"""Profit and loss by lots: figures counted by hand, and what holds whatever happens."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exchange_ops.portfolio import lots
from exchange_ops.portfolio.lots import AVERAGE, FIFO, METHODS, Lot, Movement

START = datetime(2026, 1, 1, tzinfo=UTC)


def moves(*rows):
    """Movements, a day apart: quantity and value, or None for a value that isn't known."""
    return [
        Movement(START + timedelta(days=number), Decimal(quantity), None if value is None else Decimal(value))
        for number, (quantity, value) in enumerate(rows)
    ]


def held(rows):
    return sum((row.quantity for row in rows), Decimal(0))


BOUGHT_TWICE = [("1", "100"), ("1", "200"), ("-1", "250")]


def test_first_in_first_out_sells_the_oldest():
    book = lots.book(moves(*BOUGHT_TWICE), balance=Decimal(1), method=FIFO)
    assert book.realised == 150
    assert book.lots == [Lot(START + timedelta(days=1), Decimal(1), Decimal(200))]


def test_average_cost_sells_a_part_of_everything():
    book = lots.book(moves(*BOUGHT_TWICE), balance=Decimal(1), method=AVERAGE)
    assert book.realised == 100
    assert (book.quantity, book.cost) == (1, 150)


@pytest.mark.parametrize("method", METHODS)
def test_a_sale_is_booked_on_its_day(method):
    book = lots.book(moves(*BOUGHT_TWICE), balance=Decimal(1), method=method)
    assert {day: figures.realised for day, figures in book.days.items() if figures.realised} == {
        (START + timedelta(days=2)).date(): book.realised
    }


@pytest.mark.parametrize("method", METHODS)
def test_what_was_there_before_has_no_known_cost_and_earns_nothing(method):
    book = lots.book(moves(("-1", "250")), balance=Decimal(2), method=method)
    assert (book.opening, book.realised) == (3, 0)
    assert (book.sold_without_cost, book.proceeds_without_cost) == (1, 250)
    assert [(lot.quantity, lot.cost) for lot in book.lots] == [(2, None)]


@pytest.mark.parametrize("method", METHODS)
def test_what_left_at_no_known_price_takes_its_cost_along_and_earns_nothing(method):
    book = lots.book(moves(("2", "300"), ("-1", None)), balance=Decimal(1), method=method)
    assert (book.realised, book.left_without_price, book.cost_without_price, book.cost) == (0, 1, 150, 150)


@pytest.mark.parametrize("method", METHODS)
def test_what_left_unseen_is_said_and_is_no_loss(method):
    book = lots.book(moves(("2", "300")), balance=Decimal("0.5"), method=method)
    assert (book.opening, book.unexplained, book.realised, book.quantity) == (0, Decimal("1.5"), 0, Decimal("0.5"))


@pytest.mark.parametrize("method", METHODS)
def test_a_sale_across_a_known_and_an_unknown_lot_divides_what_it_brought(method):
    book = lots.book(moves(("1", "100"), ("-2", "400")), balance=Decimal(0), method=method)
    assert (book.opening, book.realised, book.proceeds_without_cost) == (1, 100, 200)


def test_a_price_that_is_not_known_gives_no_figure():
    assert lots.unrealised(quantity=Decimal(2), cost=Decimal(100), price=None) is None
    assert lots.unrealised(quantity=Decimal(2), cost=Decimal(100), price=Decimal(60)) == 20


amounts = st.decimals(min_value="0.00000001", max_value="1000000", places=8)
worths = st.one_of(st.none(), st.decimals(min_value="0", max_value="10000000", places=8))
signed = st.tuples(amounts, st.booleans()).map(lambda pair: pair[0] if pair[1] else -pair[0])
histories = st.lists(st.tuples(signed, worths), max_size=12).map(lambda rows: moves(*rows))


@given(histories, st.decimals(min_value="0", max_value="1000000", places=8), st.sampled_from(list(METHODS)))
def test_the_lots_add_up_to_what_is_held(history, balance, method):
    book = lots.book(history, balance=balance, method=method)
    assert held(book.lots) == balance
    assert all(lot.quantity > 0 and (lot.cost is None or lot.cost >= 0) for lot in book.lots)
    assert min(book.opening, book.unexplained) >= 0


@given(histories, st.sampled_from(list(METHODS)))
def test_nothing_is_lost_between_cost_and_proceeds(history, method):
    """All that was paid is in a lot, in what was realised or in what left without a price."""
    final = max(held(history), Decimal(0))
    book = lots.book(history, balance=final, method=method)
    if book.unexplained:
        return
    paid = sum((row.value for row in history if row.quantity > 0 and row.value is not None), Decimal(0))
    brought = sum((row.value for row in history if row.quantity < 0 and row.value is not None), Decimal(0))
    assert book.realised + book.proceeds_without_cost == brought - (paid - book.cost - book.cost_without_price)


@given(
    st.lists(st.tuples(amounts, amounts), min_size=1, max_size=8), st.lists(amounts, min_size=1, max_size=8), amounts
)
def test_both_methods_agree_once_everything_is_sold(bought, parts, price):
    whole = sum((quantity for quantity, _ in bought), Decimal(0))
    sold, rest = [], whole
    for part in parts[:-1]:
        sold.append(min(part, rest))
        rest -= sold[-1]
    sold.append(rest)
    history = moves(*bought, *((-part, part * price) for part in sold if part))
    first, average = (lots.book(history, balance=Decimal(0), method=method) for method in (FIFO, AVERAGE))
    assert first.realised == average.realised == whole * price - sum((cost for _, cost in bought), Decimal(0))
    assert not first.lots
    assert not average.lots


@given(st.lists(st.tuples(signed, amounts), max_size=12).map(lambda rows: moves(*rows)))
def test_both_methods_agree_in_total_where_some_costs_are_not_known(history):
    """What has no known cost is divided differently, so the sum of both figures is what agrees."""
    books = [lots.book(history, balance=Decimal(0), method=method) for method in METHODS]
    if any(book.unexplained for book in books):
        return
    assert len({book.realised + book.proceeds_without_cost for book in books}) == 1
