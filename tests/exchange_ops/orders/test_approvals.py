"""An order beyond a limit waits for somebody else, is judged again as they approve, and is placed once or never."""

import re
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import DatabaseError, connection, transaction

from desk import clock
from desk.machines.decisions import Act
from desk.people import roles, stepup, totp
from exchange_ops.ledger.models import Balance
from exchange_ops.market.models import Ticker
from exchange_ops.orders import machine, sending
from exchange_ops.orders.brackets import workflow as brackets
from exchange_ops.orders.brackets.workflow import Exits
from exchange_ops.orders.decisions import approvals
from exchange_ops.orders.decisions import digest as digests
from exchange_ops.orders.models import Order, OrderApproval, OrderCall
from exchange_ops.orders.request_checks import CannotPlace, request_of
from exchange_ops.orders.views import choices
from exchange_ops.policy import freezes
from exchange_ops.policy import quorum as policy
from exchange_ops.policy.models import PolicyVersion
from tests import trail
from tests.exchange_ops.earlier_signatures import earlier_version
from tests.exchange_ops.orders import order_rows
from tests.exchange_ops.orders.test_new_order import PATH, figures, typed
from tests.exchange_ops.policy_changes.keeping import SECRET, Codes

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("votes counted under locks")]


@pytest.fixture
def treasurer(make_person):
    person = make_person("treasury", username="tilda")
    totp.enrol(person, SECRET)
    return person


@pytest.fixture
def codes():
    return Codes()


@pytest.fixture
def waits(dealing):
    """An order for ETH that its asker may not place alone: everything above 0.0000001 of value is too much."""
    order_rows.limit_for_approval(most=Decimal("0.0000001"), now=clock.now())
    row = dealing.place()
    assert row.state == "waiting"
    return row


def approve(codes, person, row, *, now=None, digest=None, **more):
    now = now or clock.now()
    words = {"digest": row.digest if digest is None else digest, "comment": "Fine", "session_key": "s", **more}
    return approvals.approve(order_id=row.pk, person=person, answer=codes.answer(person, now), now=now, **words)


def test_it_waits_is_approved_and_is_placed_exactly_once(dealing, waits, treasurer, codes):
    assert (waits.sends, waits.oversteps[0]["name"], waits.oversteps[0]["beyond"]) == (0, "over_value", "approve")
    assert dealing.step(waits).state == "waiting"
    assert (dealing.sent(), OrderCall.objects.count()) == (0, 0)
    row = approve(codes, treasurer, waits)
    assert (row.state, row.decided_by) == ("requested", treasurer)
    row = dealing.step(row)
    assert (row.state, row.status, dealing.sent()) == ("placed", "new", 1)
    with pytest.raises(approvals.CannotDecide, match="Already decided by tilda"):
        approve(codes, treasurer, waits)
    assert dealing.sent() == 1
    assert trail.problems() == []


def test_an_approval_of_an_earlier_version_counts_with_its_unsigned_comment(dealing, waits, treasurer, codes):
    with earlier_version():
        row = approve(codes, treasurer, waits)
    assert OrderApproval.objects.get().confirmation.signed_with is None
    assert (dealing.step(row).state, dealing.sent()) == ("placed", 1)
    assert trail.problems() == []


def test_the_boxes_ticked_with_an_approval_are_signed_with_it(dealing, waits, treasurer, codes):
    row = approve(codes, treasurer, waits, comment="", confirmed=["price_far:12", "over_value:20"])
    listed = OrderApproval.objects.get().confirmation.signed_with.listed
    assert '"over_value:20 price_far:12"' in listed
    assert (dealing.step(row).state, trail.problems()) == ("placed", [])


def test_the_requester_and_others_without_the_role_decide_nothing(dealing, waits, make_person, codes):
    dealing.operator.groups.add(*make_person(roles.TREASURY, username="source-of-the-group").groups.all())
    totp.enrol(dealing.operator, SECRET)
    with pytest.raises(approvals.CannotDecide, match="You requested this order"):
        approve(codes, dealing.operator, waits)
    with pytest.raises(approvals.CannotDecide, match="You requested this order"):
        approvals.decline(order_id=waits.pk, person=dealing.operator, reason="no", now=clock.now())
    admin = make_person("admin")
    totp.enrol(admin, SECRET)
    with pytest.raises(approvals.CannotDecide, match="Only treasury"):
        approve(codes, admin, waits)
    assert dealing.fresh(waits).state == "waiting"


@pytest.mark.parametrize("end", ["declined", "withdrawn", "lapsed"])
def test_what_is_declined_withdrawn_or_expired_is_never_sent(dealing, waits, treasurer, codes, end):
    if end == "declined":
        with pytest.raises(approvals.CannotDecide, match="Enter a reason"):
            approvals.decline(order_id=waits.pk, person=treasurer, reason=" ", now=clock.now())
        approvals.decline(order_id=waits.pk, person=treasurer, reason="Too much today", now=clock.now())
    elif end == "withdrawn":
        with pytest.raises(approvals.CannotDecide, match="Only the requester"):
            approvals.withdraw(order_id=waits.pk, person=treasurer, now=clock.now())
        approvals.withdraw(order_id=waits.pk, person=dealing.operator, reason="A slip", now=clock.now())
    else:
        late = approvals.APPROVE_WITHIN + timedelta(seconds=1)
        with pytest.raises(approvals.CannotDecide, match="the approval deadline has passed"):
            approve(codes, treasurer, waits, now=clock.now() + late)
        dealing.step(waits, later=late)
    row = dealing.fresh(waits)
    assert (row.state, row.next_action_at) == (end, None)
    with pytest.raises(approvals.CannotDecide):
        approve(codes, treasurer, row)
    dealing.step(row, later=timedelta(hours=1))
    assert (dealing.sent(), OrderCall.objects.count()) == (0, 0)
    assert trail.problems() == []


def test_the_market_that_moved_is_confirmed_by_the_approver_by_name(dealing, treasurer, codes):
    order_rows.limit_for_approval(most=Decimal("0.0000001"), now=clock.now())
    ticker = Ticker.objects.get(pk="ETHBTC")
    row = dealing.place(price=ticker.ask or ticker.last)
    Ticker.objects.filter(pk="ETHBTC").update(ask=(ticker.ask or ticker.last) / 2, read_at=clock.now())
    with pytest.raises(approvals.NotConfirmed, match="Price far from the market") as moved:
        approve(codes, treasurer, row)
    assert "The market has moved" in str(moved.value)
    assert not OrderApproval.objects.exists()
    found = approvals.find_oversteps(row, now=clock.now())
    tokens = [each.token for each in approvals.to_confirm(row, found)]
    assert approve(codes, treasurer, row, confirmed=tokens).state == "requested"
    kept = row.events.get(event="quorum_reached").evidence
    assert [each["name"] for each in kept["oversteps"]] == ["price_far", "over_value"]


def test_rules_that_refuse_by_now_and_money_that_is_gone_end_it_there(dealing, waits, treasurer, codes):
    Balance.objects.filter(wallet="trading").update(available=Decimal(0))
    with pytest.raises(approvals.CannotDecide, match="The order can no longer be placed"):
        approve(codes, treasurer, waits)
    assert dealing.fresh(waits).state == "waiting"


def test_a_freeze_a_wrong_code_and_another_digest_approve_nothing(dealing, waits, treasurer, codes):
    with pytest.raises(approvals.CannotDecide, match="changed after you opened it"):
        approve(codes, treasurer, waits, digest="0" * 64)
    odd = {"answer": {"kind": "totp", "code": "000000"}, "comment": "", "session_key": "s"}
    with pytest.raises(stepup.CannotConfirm):
        approvals.approve(order_id=waits.pk, person=treasurer, digest=waits.digest, now=clock.now(), **odd)
    freezes.freeze(person=treasurer, reason="Odd", account=dealing.account, now=clock.now())
    with pytest.raises(approvals.CannotDecide, match="frozen"):
        approve(codes, treasurer, waits)
    assert (dealing.fresh(waits).state, dealing.sent()) == ("waiting", 0)


def test_the_exits_placed_with_it_are_approved_with_it_and_none_are_added_while_it_waits(
    dealing, waits, treasurer, codes
):
    exits = Exits(stop=Decimal("0.000005"), take=Decimal("0.00002"))
    with pytest.raises(CannotPlace, match="once the exchange has accepted the order"):
        brackets.attach(order_id=waits.pk, exits=exits, person=dealing.operator, now=clock.now())
    row = brackets.place(
        exits=exits,
        requested=replace(request_of(waits), price=Decimal("0.00001")),
        account=dealing.account,
        initiator=dealing.operator,
        request_key="with-exits",
        confirmed=["price_far:110"],
        now=clock.now(),
    )
    assert (row.state, row.bracket.stop_price) == ("waiting", exits.stop)
    earlier = digests.compute(row, exits=None)
    assert not digests.matches(earlier, row)
    row.digest = earlier  # as a version before 0.8.0 wrote it
    with pytest.raises(approvals.CannotDecide, match="requested in an earlier version"):
        approvals._refuse_unless_open(row, Act(treasurer, clock.now(), "s", "", earlier))
    assert choices.decision_context(row, treasurer)["why_not"].startswith("Nothing was placed. ")
    assert "earlier version of Countersign" in sending._obstacle(row, clock.now())
    row = dealing.fresh(row)
    approved = approve(codes, treasurer, row)
    brackets.let_go(bracket_id=row.bracket.pk, person=dealing.operator, now=clock.now())
    assert not approvals.is_approved(dealing.fresh(approved)), "approved was an order with exits"
    row = dealing.step(approved)
    assert (row.state, dealing.sent()) == ("not_sent", 0)


def test_an_approval_whose_giver_lost_the_role_places_nothing(dealing, waits, treasurer, codes):
    row = approve(codes, treasurer, waits)
    treasurer.groups.clear()
    row = dealing.step(row)
    assert (row.state, dealing.sent()) == ("not_sent", 0)
    assert "approval is no longer valid" in row.last_problem


def test_the_database_itself_refuses_an_order_without_its_approval(dealing, waits):
    def refused(act):
        with pytest.raises((DatabaseError, machine.CannotMove)), transaction.atomic():
            act()

    refused(lambda: machine.move(dealing.fresh(waits), event="quorum_reached", to="requested", now=clock.now()))
    refused(lambda: Order.objects.filter(pk=waits.pk).update(digest=""))
    refused(lambda: Order.objects.filter(pk=waits.pk).update(oversteps=[]))
    with connection.cursor() as cursor:
        cursor.execute("SELECT state FROM exchange_ops_order WHERE id = %s", [waits.pk])
        assert cursor.fetchone() == ("waiting",)


def test_the_button_says_that_an_approval_is_requested_and_programs_read_the_state(signed_in, client, operator):
    order_rows.market(now=clock.now())
    order_rows.limit_for_approval(most=Decimal(100), now=clock.now())
    browser = signed_in(operator)
    effect = "Request approval: buy order: 0.5 BCH at 400 USD"
    part = figures(browser)
    assert f'data-effect="{effect}"' in part
    assert "Needs approval before it is placed." in part
    early = browser.post(PATH, typed(effect="Place buy order: 0.5 BCH at 400 USD"))
    assert (early.status_code, Order.objects.count()) == (422, 0)
    assert "this order now needs approval" in early.content.decode()
    answer = browser.post(PATH, typed(effect=effect), follow=True)
    row = Order.objects.get()
    assert row.state == "waiting"
    page = answer.content.decode()
    assert f"{row.reference}: {row.label}." in page
    assert "You requested this order" in page
    PolicyVersion.objects.create(number=policy.current().number + 1, published_at=clock.now())
    late = browser.post(PATH, typed(effect=effect))
    assert (late.status_code, "this order no longer needs approval" in late.content.decode()) == (422, True)


def test_needs_action_has_it_for_treasury_and_the_page_approves_it(signed_in, operator, treasurer, codes):
    order_rows.market(now=clock.now())
    row = order_rows.waiting(operator, now=clock.now())
    browser = signed_in(treasurer)
    listed = browser.get("/action/").content.decode()
    assert row.reference in listed
    assert "Above the value limit" in listed
    assert row.reference in browser.get("/orders/").content.decode(), "it stands among the open ones"
    assert row.reference not in browser.get("/orders/?view=ended").content.decode()
    page = browser.get(f"/orders/{row.pk}/").content.decode()
    assert "Approve and place buy order: 0.5 BCH at 400 USD" in page
    refused = browser.post(f"/orders/{row.pk}/approve/", {"digest": row.digest, "code": "000000"})
    assert refused.status_code == 409
    code = codes.answer(treasurer, clock.now())["code"]
    assert browser.post(f"/orders/{row.pk}/approve/", {"digest": row.digest, "code": code}).status_code == 302
    assert Order.objects.get().state == "requested"
    done = re.sub(r"<[^>]+>", " ", browser.get("/action/?list=done").content.decode())
    assert row.reference in done


def test_a_limit_that_refuses_is_graver_than_one_that_asks_for_an_approval(operator):
    order_rows.market(now=clock.now())
    order_rows.limit_for_approval(most=Decimal(100), now=clock.now())
    version = policy.current()
    version.limits.create(kind="order", most=Decimal(150), beyond="refuse")
    with pytest.raises(CannotPlace, match="limit is 150 USD"):
        order_rows.requested(operator, now=clock.now())
