"""Looking for an order whose sending had an unknown outcome, at an exchange whose history lags."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from exchange_ops.client.sightings import ABSENT_AFTER, LOOKS, Sight, look_for_order
from exchange_ops.wire.new_orders import NewOrder
from wire.errors import BadReply, OutcomeUnknown, Refused

RESTING = NewOrder(
    client_order_id="sight-0001", symbol="ETHBTC", side="buy", quantity=Decimal("0.001"), price=Decimal("0.000001")
)
ENDED = NewOrder(
    client_order_id="sight-0002",
    symbol="ETHBTC",
    side="buy",
    quantity=Decimal("0.001"),
    price=Decimal("0.000001"),
    time_in_force="IOC",
)


@pytest.fixture
def client(sandbox, client_as):
    sandbox.control("config", {"history_delay_ms": 5000})
    return client_as("demo-trade")


@pytest.fixture
def sent_at(sandbox):
    return datetime.fromtimestamp(sandbox.world.clock.now_ms() / 1000, UTC)


def lost(sandbox, client, order, kind):
    """The order is sent, and nobody knows what came of it."""
    sandbox.control("faults", {"operation": "create_order", "kind": kind, "times": 1})
    with pytest.raises(OutcomeUnknown):
        client.create_order(order=order)


def look(client, order, sent_at, later=timedelta(0), **more):
    return look_for_order(client, client_order_id=order.client_order_id, sent_at=sent_at, now=sent_at + later, **more)


def sent(sandbox):
    return len(sandbox.control("calls?operation=create_order")["calls"])


def test_an_order_that_rests_is_found_among_the_active_ones(sandbox, client, sent_at):
    lost(sandbox, client, RESTING, "drop_after")
    seen = look(client, RESTING, sent_at)
    assert (seen.sight, seen.looks, seen.order.status) == (Sight.PRESENT, 1, "new")
    assert sent(sandbox) == 1


def test_an_order_that_ended_is_found_when_the_history_knows_it(sandbox, client, sent_at):
    lost(sandbox, client, ENDED, "drop_after")
    early = look(client, ENDED, sent_at)
    assert (early.sight, early.order) == (Sight.NOT_YET_SEEN, None)
    sandbox.control("config", {"history_delay_ms": 0})
    seen = look(client, ENDED, sent_at, looks_before=early.looks)
    assert (seen.sight, seen.looks, seen.order.status) == (Sight.PRESENT, 2, "expired")
    assert sent(sandbox) == 1


def test_an_order_that_never_arrived_is_absent_only_after_looks_and_time(sandbox, client, sent_at):
    lost(sandbox, client, RESTING, "drop_before")
    assert look(client, RESTING, sent_at, ABSENT_AFTER).sight is Sight.NOT_YET_SEEN
    soon = ABSENT_AFTER - timedelta(milliseconds=1)
    assert look(client, RESTING, sent_at, soon, looks_before=LOOKS * 9).sight is Sight.NOT_YET_SEEN
    gone = look(client, RESTING, sent_at, ABSENT_AFTER, looks_before=LOOKS - 1)
    assert (gone.sight, gone.looks, gone.order) == (Sight.ABSENT, LOOKS, None)
    assert sent(sandbox) == 1


def test_an_order_of_another_day_with_the_same_id_is_not_ours(client, sent_at):
    client.create_order(order=RESTING)
    tomorrow = sent_at + timedelta(days=1)
    assert look(client, RESTING, tomorrow).sight is Sight.NOT_YET_SEEN
    assert look(client, RESTING, sent_at).sight is Sight.PRESENT


@pytest.mark.parametrize("operation", ["get_order", "get_order_history"])
def test_a_look_that_fails_says_nothing(sandbox, client, sent_at, operation):
    sandbox.control("faults", {"operation": operation, "kind": "html", "times": 1})
    with pytest.raises(BadReply):
        look(client, RESTING, sent_at, ABSENT_AFTER, looks_before=LOOKS)


def test_a_refusal_that_is_not_about_the_order_says_nothing(client_as, sent_at):
    with pytest.raises(Refused) as refused:
        look(client_as("demo-read"), RESTING, sent_at, ABSENT_AFTER, looks_before=LOOKS)
    assert refused.value.code == 1003


def test_a_replacement_is_found_by_its_own_id(sandbox, client, sent_at):
    client.create_order(order=RESTING)
    client.replace_order(
        client_order_id="sight-0001", new_client_order_id="sight-0009", quantity=Decimal("0.002"), price=RESTING.price
    )
    seen = look_for_order(client, client_order_id="sight-0009", sent_at=sent_at, now=sent_at)
    assert (seen.sight, seen.order.quantity) == (Sight.PRESENT, Decimal("0.002"))


def test_margin_orders_are_looked_for_among_their_own(client, sent_at):
    client.create_order(order=RESTING)
    assert look(client, RESTING, sent_at, margin=True).sight is Sight.NOT_YET_SEEN
