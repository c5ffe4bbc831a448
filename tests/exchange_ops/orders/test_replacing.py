"""Replacing: one call, what was filled stays, a lost answer is read, and both orders know of each other."""

from datetime import timedelta
from decimal import Decimal

import pytest

from desk import clock
from exchange_ops.orders import room, workflow
from exchange_ops.orders.models import Order, OrderEvent
from exchange_ops.orders.steps import replacing
from exchange_ops.policy import freezes
from tests.exchange_ops.orders.dealings import FAR

pytestmark = pytest.mark.engine("money: the walk of a replacement")
MINUTE = timedelta(seconds=61)
TWICE = Decimal("0.000002")


def ask(dealing, row, key="replace", **changes):
    wanted = {"quantity": row.quantity, "price": TWICE}
    return replacing.ask(
        order_id=row.pk, person=dealing.operator, request_key=key, now=clock.now(), **(wanted | changes)
    )


def events(row):
    return list(OrderEvent.objects.filter(order=row, version__isnull=False).values_list("event", flat=True))


def test_an_order_is_replaced_by_one_call_and_both_say_so(dealing):
    old = dealing.placed()
    new = ask(dealing, old)
    assert (dealing.fresh(old).state, new.state, new.replaces_id) == ("replacing", "requested", old.pk)
    new = dealing.step(new)
    assert (new.state, new.status, new.active, new.price) == ("placed", "new", True, TWICE)
    old = dealing.step(old)
    assert (old.state, old.status, old.active) == ("placed", "canceled", False)
    assert (dealing.sent("replace_order"), dealing.sent()) == (1, 1)
    assert dealing.calls(new) == [("place", "accepted")]
    assert events(old) == ["asked", "claimed", "accepted", "replace_asked", "replaced"]
    (still_open,) = dealing.client("demo-trade").get_orders().records
    assert still_open.client_order_id == new.client_order_id


def test_what_was_filled_stays_filled_and_is_in_the_average(dealing):
    price = dealing.best_bid()
    old = dealing.placed(price=price)
    dealing.elsewhere("other-full", side="sell", quantity=Decimal("0.2"), price=price)
    dealing.read()
    old = dealing.fresh(old)
    assert old.cum_quantity == Decimal("0.2")
    new = dealing.step(ask(dealing, old, price=price - Decimal("0.000001")))
    assert (new.state, new.status, new.cum_quantity, new.remaining) == ("placed", "new", Decimal("0.2"), Decimal("0.3"))
    assert dealing.step(old).cum_quantity == Decimal("0.2")
    dealing.elsewhere("other-full", side="sell", quantity=Decimal("0.3"), price=new.price)
    dealing.read(later=timedelta(seconds=1))
    new = dealing.fresh(new)
    assert (new.status, new.cum_quantity) == ("filled", Decimal("0.5"))
    exact = (Decimal("0.2") * price + Decimal("0.3") * new.price) / Decimal("0.5")
    assert abs(new.average_price - exact) < Decimal("0.00000000001")


@pytest.mark.parametrize("quantity", ["0.1", "0.2"])
def test_a_whole_quantity_that_is_filled_already_is_refused(dealing, quantity):
    price = dealing.best_bid()
    old = dealing.placed(price=price)
    dealing.elsewhere("other-full", side="sell", quantity=Decimal("0.2"), price=price)
    dealing.read()
    with pytest.raises(replacing.CannotReplace, match=r"0\.2 already filled: enter a larger total quantity"):
        ask(dealing, dealing.fresh(old), quantity=Decimal(quantity), price=price)
    assert dealing.sent("replace_order") == 0


def test_an_answer_that_was_lost_is_read_by_the_new_id_and_never_sent_again(dealing):
    old = dealing.placed()
    dealing.fault("replace_order", "drop_after")
    new = dealing.step(ask(dealing, old))
    assert (new.state, dealing.step(old).state) == ("unknown", "replacing")
    new = dealing.step(new)
    assert (new.state, new.active) == ("found", True)
    assert (dealing.step(old).status, dealing.sent("replace_order")) == ("canceled", 1)
    assert events(dealing.fresh(old))[-1] == "replaced"


def test_a_replacement_that_never_arrived_leaves_the_order_as_it_was(dealing):
    old = dealing.placed()
    dealing.fault("replace_order", "drop_before")
    new = dealing.step(ask(dealing, old))
    for later in (0, 0, 62):
        new = dealing.step(new, later=timedelta(seconds=later))
    assert new.state == "not_seen"
    old = dealing.step(old)
    assert (old.state, old.status, old.active) == ("placed", "new", True)
    assert f"Not replaced by {new.reference}." in old.last_problem
    assert dealing.sent("replace_order") == 1
    assert dealing.step(ask(dealing, old, key="again")).state == "placed"


def test_a_refusal_keeps_the_order_and_says_why(dealing):
    old = dealing.placed()
    dealing.fault("replace_order", "refuse", code=20009)
    new = dealing.step(ask(dealing, old))
    old = dealing.step(old)
    assert (new.state, old.state, old.active) == ("refused", "placed", True)
    assert "Not replaced by" in old.last_problem


def test_the_old_one_cancelled_is_an_answer_that_nothing_new_exists(dealing):
    """The exchange cancels before it finds that the money does not reach: here it is spent meanwhile, past the desk."""
    old = dealing.placed()
    new = ask(dealing, old, quantity=Decimal(30_000_000), price=TWICE)
    dealing.elsewhere(quantity=Decimal(60_000_000))
    new = dealing.step(new)
    assert (new.state, new.exchange_id) == ("refused", None)
    assert new.last_problem.startswith("The exchange cancelled the original order")
    old = dealing.step(old)
    assert (old.state, old.status, old.active) == ("placed", "canceled", False)


def test_an_order_that_was_filled_meanwhile_is_not_replaced(dealing):
    price = dealing.best_bid()
    old = dealing.placed(price=price)
    new = ask(dealing, old, price=FAR)
    dealing.elsewhere("other-full", side="sell", quantity=Decimal("0.5"), price=price)
    assert dealing.step(new).state == "refused"
    dealing.step(old)
    dealing.read(later=timedelta(seconds=1))
    assert (dealing.fresh(old).state, dealing.fresh(old).status) == ("placed", "filled")


def test_cancelling_goes_before_a_replacement_that_was_not_sent(dealing):
    old = dealing.placed()
    new = ask(dealing, old)
    dealing.ask_to_cancel(old)
    assert dealing.step(old).status == "canceled"
    new = dealing.step(new)
    assert (new.state, dealing.sent("replace_order")) == ("not_sent", 0)
    assert "already closed and could not be replaced" in new.last_problem


def test_a_freeze_stops_replacing(dealing, treasury):
    old, other = dealing.placed(), dealing.placed()
    new = ask(dealing, old)
    freezes.freeze(person=None, reason="A test.", account=dealing.account, now=clock.now())
    with pytest.raises(replacing.CannotReplace, match="frozen"):
        ask(dealing, other, key="frozen")
    assert dealing.step(new).state == "not_sent"
    assert (dealing.step(old).state, dealing.step(old).active) == ("placed", True)


def test_one_request_is_one_replacement_and_two_at_once_are_refused(dealing):
    old = dealing.placed()
    first = ask(dealing, old)
    assert ask(dealing, old).pk == first.pk
    with pytest.raises(replacing.CannotReplace, match=first.reference):
        ask(dealing, old, price=FAR * 3)
    with pytest.raises(replacing.CannotReplace, match=r"can't be replaced\. Status"):
        ask(dealing, old, key="another")
    assert Order.objects.filter(replaces=old).count() == 1


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"price": FAR}, "__all__", "Enter a different price or quantity"),
        ({"price": Decimal("0.0000015")}, "price", "multiple of 0.000001"),
        ({"quantity": Decimal("0.50001")}, "quantity", "multiple of 0.0001"),
        ({"quantity": Decimal("1000000"), "price": Decimal(1)}, "quantity", "required, including fees"),
        ({"price": None}, "price", "Enter a price"),
    ],
)
def test_what_breaks_the_rules_is_named_and_changes_nothing(dealing, changes, field, words):
    dealing.read_funds()
    old = dealing.placed()
    with pytest.raises(replacing.CannotReplace) as refused:
        ask(dealing, old, **changes)
    assert words in refused.value.problems[field], refused.value.problems
    assert dealing.fresh(old).state == "placed"


def test_only_operators_replace_and_only_what_is_open(dealing, auditor):
    row = dealing.placed()
    dealing.ask_to_cancel(row)
    row = dealing.step(row)
    with pytest.raises(replacing.CannotReplace, match="canceled"):
        ask(dealing, row)
    open_row = dealing.placed()
    dealing.operator = auditor
    with pytest.raises(replacing.CannotReplace, match="Only operators"):
        ask(dealing, open_row)


def test_the_money_that_the_old_one_holds_may_be_used_by_the_new_one(dealing):
    price = dealing.best_bid()
    (money,) = [one for one in dealing.client("demo-trade").get_trading_balances().records if one.currency == "BTC"]
    most = (money.available * Decimal("0.9") / price).quantize(Decimal("0.1"))
    old = dealing.placed(price=price, quantity=most)
    dealing.read_funds()
    assert ask(dealing, old, price=price - Decimal("0.000001"), quantity=most).state == "requested"


def test_somebody_elses_order_can_be_replaced_and_another_days_is_left_alone(dealing):
    dealing.elsewhere(client_order_id="their-order")
    dealing.read()
    theirs = Order.objects.get(client_order_id="their-order")
    assert dealing.step(ask(dealing, theirs)).state == "placed"
    dealing.elsewhere(client_order_id="their-other")
    dealing.read(later=timedelta(seconds=1))
    other = Order.objects.get(client_order_id="their-other")
    Order.objects.filter(pk=other.pk).update(read_at=clock.now())
    new = ask(dealing, other, key="another day")
    dealing.client("demo-trade").cancel_order(client_order_id="their-other")
    assert dealing.step(new).state == "refused"
    assert dealing.sent("replace_order") == 1


def test_all_of_a_symbol_are_cancelled_by_one_call_also_what_the_desk_had_not_read(dealing):
    first, second = dealing.placed(), dealing.placed()
    other = dealing.placed(symbol="BTCUSD", price=Decimal("0.01"), quantity=Decimal("0.001"))
    dealing.elsewhere(client_order_id="not-read-yet")
    assert cancel_symbol(dealing) == 2
    first = dealing.step(first)
    assert dealing.calls(first)[1:] == [("cancel_all", "accepted")]
    second, unread = dealing.fresh(second), Order.objects.get(client_order_id="not-read-yet")
    assert [row.status for row in (first, second, unread)] == ["canceled"] * 3
    assert [row.state for row in (first, second, dealing.fresh(other))] == ["placed"] * 3
    assert (dealing.sent("cancel_orders"), dealing.sent("cancel_order")) == (1, 0)
    assert dealing.fresh(other).active
    (cancelled,) = OrderEvent.objects.filter(order=second, event="cancel_confirmed")
    assert cancelled.from_state == "cancelling"


@pytest.mark.parametrize("kind", ["drop_before", "drop_after"])
def test_a_lost_answer_to_cancelling_all_is_read_order_by_order(dealing, kind):
    rows = [dealing.placed(), dealing.placed()]
    dealing.fault("cancel_orders", kind)
    cancel_symbol(dealing)
    for _ in range(3):
        rows = [dealing.step(row) for row in rows]
    assert [(row.state, row.status, row.active) for row in rows] == [("placed", "canceled", False)] * 2


def test_an_order_that_is_cancelled_again_after_a_refusal_is_asked_for_again(dealing):
    row = dealing.placed()
    dealing.fault("cancel_orders", "refuse", code=1003)
    cancel_symbol(dealing)
    row = dealing.step(row)
    assert (row.state, row.active) == ("placed", True)
    cancel_symbol(dealing)
    assert dealing.step(row).status == "canceled"
    assert [kind for kind, _ in dealing.calls(row)] == ["place", "cancel_all", "cancel_all"]


def cancel_symbol(dealing):
    return workflow.cancel_all(
        account=dealing.account, symbol="ETHBTC", newest=0, person=dealing.operator, now=clock.now()
    )


def test_the_trail_replays_to_both_rows(dealing):
    old = dealing.placed()
    dealing.step(ask(dealing, old))
    dealing.step(old)
    workflow.sweep(now=clock.now(), client_for=dealing.client_for)
    from desk.models import AuditEvent

    trail = list(AuditEvent.objects.filter(subject__startswith="order:").order_by("seq"))
    assert list(room.REPLAY.check(iter(trail))) == []
