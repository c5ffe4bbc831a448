"""What an order comes to with what was to replace it: what counts, what surely guards, and the most that may close."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from exchange_ops.orders.brackets.chains import PATIENCE, Link, Presence, comes_to

NOW = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)
LATELY, LONG_AGO = NOW - timedelta(seconds=5), NOW - PATIENCE - timedelta(seconds=1)
THERE, COMING, NOT_SEEN, ABSENT = Presence.THERE, Presence.COMING, Presence.NOT_SEEN, Presence.ABSENT


def link(number, quantity, presence=THERE, *, filled="0", replaces=None, since=LATELY, is_open=None, final=False):
    is_open = presence is THERE if is_open is None else is_open
    amounts = {"quantity": Decimal(quantity), "filled": Decimal(filled)}
    return Link(number, presence=presence, since=since, replaces=replaces, open=is_open, final=final, **amounts)


STOP = link(1, "1.0")
GONE = link(1, "1.0", is_open=False)
ENDED = link(1, "1.0", is_open=False, final=True)
CASES = {
    # what was sent and read: number, rests, least, most, open
    "works alone": ([STOP], (1, "1.0", "1.0", "1.0", True)),
    "filled in part": ([link(1, "1.0", filled="0.3")], (1, "0.7", "0.7", "0.7", True)),
    "on its way": ([link(1, "1.0", COMING)], (1, "0", "1.0", "1.0", True)),
    "on its way for too long": ([link(1, "1.0", COMING, since=LONG_AGO)], (1, "0", "0", "1.0", True)),
    "not seen": ([link(1, "1.0", NOT_SEEN)], (1, "0", "0", "1.0", False)),
    "refused": ([link(1, "1.0", ABSENT)], (1, "0", "0", "0", False)),
    "a smaller one is coming": ([STOP, link(2, "0.4", COMING, replaces=1)], (1, "1.0", "0.4", "1.0", True)),
    "a larger one is coming": ([STOP, link(2, "1.5", COMING, replaces=1)], (1, "1.0", "1.0", "1.5", True)),
    "a smaller one was not seen": ([STOP, link(2, "0.4", NOT_SEEN, replaces=1)], (1, "1.0", "1.0", "1.0", True)),
    "a larger one was not seen": ([STOP, link(2, "1.5", NOT_SEEN, replaces=1)], (1, "1.0", "1.0", "1.5", True)),
    "a refused one": ([STOP, link(2, "1.5", ABSENT, replaces=1)], (1, "1.0", "1.0", "1.0", True)),
    "the new one is there": ([GONE, link(2, "0.4", replaces=1)], (2, "0.4", "0.4", "0.4", True)),
    "the old one is gone, the new one not there yet": (
        [GONE, link(2, "0.4", COMING, replaces=1)],
        (1, "0", "0.4", "0.4", True),
    ),
    "the old one is gone, the new one was not seen": (
        [GONE, link(2, "0.4", NOT_SEEN, replaces=1)],
        (1, "0", "0", "0.4", False),
    ),
    "the old one has ended for good": ([ENDED, link(2, "0.4", NOT_SEEN, replaces=1)], (1, "0", "0", "0", False)),
    "the old one has ended for good while one is on its way": (
        [ENDED, link(2, "0.4", COMING, replaces=1)],
        (1, "0", "0", "0", False),
    ),
    "what the old one had filled, the new one has": (
        [link(1, "1.0", filled="0.3", is_open=False), link(2, "0.8", replaces=1)],
        (2, "0.5", "0.5", "0.5", True),
    ),
    "two replacements, one after the other": (
        [GONE, link(2, "0.8", replaces=1, is_open=False), link(3, "0.6", replaces=2)],
        (3, "0.6", "0.6", "0.6", True),
    ),
    "two for the same place": (
        [STOP, link(2, "0.4", NOT_SEEN, replaces=1), link(3, "1.2", COMING, replaces=1)],
        (1, "1.0", "1.0", "1.2", True),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_an_order_comes_to(case):
    links, (number, rests, least, most, is_open) = CASES[case]
    chain = comes_to(links, now=NOW)
    assert (chain.number, chain.rests, chain.least, chain.most, chain.open) == (
        number,
        Decimal(rests),
        Decimal(least),
        Decimal(most),
        is_open,
    )


@pytest.mark.parametrize(
    ("since", "is_overdue"), [(LATELY, False), (NOW - PATIENCE, False), (LONG_AGO, True), (None, False)]
)
def test_what_is_on_its_way_is_counted_on_for_so_long(since, is_overdue):
    """What waits for a person has not been sent yet, however long."""
    assert comes_to([STOP, link(2, "1.0", COMING, replaces=1, since=since)], now=NOW).is_overdue(NOW) is is_overdue
