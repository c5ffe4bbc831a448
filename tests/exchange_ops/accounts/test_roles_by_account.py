"""What somebody who holds a role at one account can't do at the other, in the domain itself, whatever page is asked."""

import itertools
import re
import uuid
from decimal import Decimal

import pytest

from desk import clock
from desk.incidents import decisions as incident_decisions
from desk.incidents.models import Incident
from desk.machines.mover import CannotMove
from desk.models import Person
from desk.people import roles, scopes
from exchange_ops.addresses import requests as addresses
from exchange_ops.console import calls, entries
from exchange_ops.keys import changes as key_changes
from exchange_ops.keys import store
from exchange_ops.orders import cancelling
from exchange_ops.orders import workflow as orders
from exchange_ops.orders.steps import replacing
from exchange_ops.policy import freezes, ruleset
from exchange_ops.policy_changes import rules as change_rules
from exchange_ops.policy_changes import workflow as policy_changes
from exchange_ops.positions import workflow as margin
from exchange_ops.subaccounts import workflow as subaccounts
from exchange_ops.transfers import approvals as transfer_approvals
from exchange_ops.transfers import endings
from exchange_ops.transfers import workflow as transfers
from exchange_ops.wire.catalogue import Right
from exchange_ops.withdrawals import machine, workflow
from exchange_ops.withdrawals.decisions import approvals, open_holds, resolutions
from exchange_ops.withdrawals.models import Approval, Withdrawal
from tests.desk.staff.keeping import answer_at
from tests.exchange_ops import rows
from wire.values import Secret

pytestmark = pytest.mark.django_db

NOBODY = {"answer": {"kind": "totp", "code": "000000"}, "digest": "0" * 64, "session_key": "s"}


# The question itself --------------------------------------------------------------------------------------------------


def test_a_role_is_held_at_the_accounts_that_it_is_limited_to(make_person):
    person = make_person("operator", "treasury", limits=" treasury:12 treasury:3 ")
    assert person.grants == ["operator", "treasury:12", "treasury:3"]
    assert person.scopes("treasury") == {"12", "3"}
    assert person.scopes("treasury", "operator") is None
    held = {scope: person.has_role("treasury", scope=scope) for scope in ("12", "3", "1", "2", "", "123")}
    assert held == {"12": True, "3": True, "1": False, "2": False, "": False, "123": False}
    assert person.has_role("operator", scope="1")
    assert person.has_role("operator", scope="")
    assert person.has_role("treasury")
    person.is_active = False
    assert not person.has_role("treasury", scope="12")


def test_a_limit_of_a_role_that_is_not_held_gives_nothing(make_person):
    person = make_person("operator", limits=" treasury:1 ")
    assert person.scopes("treasury") == frozenset()
    assert not person.has_role("treasury", scope="1")
    assert not person.has_role("treasury", scope="")


@pytest.mark.parametrize("limits", ["", " treasury:1 ", " treasury:2 ", " treasury:1 treasury:2 ", " treasury:12 "])
def test_the_database_and_the_person_say_the_same(make_person, limits):
    person = make_person("treasury", limits=limits)
    for role, scope in itertools.product(roles.ALL, ("", "1", "2", "12")):
        counted = Person.objects.filter(scopes.holding(role, scope)).count()
        assert counted == person.has_role(role, scope=scope), (role, scope)


@pytest.mark.parametrize(
    ("before", "after", "lost"),
    [
        (["treasury"], ["treasury"], set()),
        (["treasury"], ["treasury:1"], {"treasury"}),
        (["treasury:1"], ["treasury"], set()),
        (["treasury:1"], ["treasury:1", "treasury:2"], set()),
        (["treasury:1", "treasury:2"], ["treasury:2"], {"treasury:1"}),
        (["operator", "treasury:1"], ["operator"], {"treasury:1"}),
    ],
)
def test_what_is_lost_when_roles_change(before, after, lost):
    assert scopes.lost_grants(before, after) == lost


# Every act ------------------------------------------------------------------------------------------------------------


def withdrawal(account, initiator, now):
    return rows.held(initiator, now=now, account=account)


ACTS = {
    "request a payout": (
        "operator",
        lambda who, account, other, now: workflow.request(
            initiator=who,
            account=account,
            currency="BCH",
            amount=Decimal(1),
            address=rows.ADDRESS,
            payment_id="",
            include_fee=False,
            reason="Rent",
            request_key=str(uuid.uuid4()),
            now=now,
        ),
    ),
    "approve": (
        "treasury",
        lambda who, account, other, now: approvals.approve(
            withdrawal_id=withdrawal(account, other, now).pk, person=who, comment="", now=now, **NOBODY
        ),
    ),
    "reject": (
        "treasury",
        lambda who, account, other, now: approvals.reject(
            withdrawal_id=withdrawal(account, other, now).pk, person=who, reason="No", now=now
        ),
    ),
    "recall": (
        "treasury",
        lambda who, account, other, now: approvals.recall(
            withdrawal_id=withdrawal(account, other, now).pk, person=who, reason="No", now=now
        ),
    ),
    "cancel": (
        "treasury",
        lambda who, account, other, now: workflow.cancel(
            withdrawal_id=rows.submitted(other, now=now, account=account).pk, person=who, reason="No", now=now
        ),
    ),
    "request a transfer": (
        "operator",
        lambda who, account, other, now: transfers.request(
            initiator=who,
            account=account,
            kind="bank_to_trading",
            currency="BCH",
            amount=Decimal(1),
            reason="Rent",
            request_key=str(uuid.uuid4()),
            now=now,
        ),
    ),
    "reject a transfer": (
        "treasury",
        lambda who, account, other, now: transfer_approvals.reject(
            transfer_id=rows.transfer(other, kind="to_user", now=now, account=account).pk,
            person=who,
            reason="No",
            now=now,
        ),
    ),
    "approve a transfer": (
        "treasury",
        lambda who, account, other, now: transfer_approvals.approve(
            transfer_id=rows.transfer(other, kind="to_user", now=now, account=account).pk,
            person=who,
            comment="",
            now=now,
            **NOBODY,
        ),
    ),
    "cancel a transfer": (
        "treasury",
        lambda who, account, other, now: transfers.cancel(
            transfer_id=rows.transfer(other, now=now, account=account).pk, person=who, reason="No", now=now
        ),
    ),
    "close a transfer": (
        "treasury",
        lambda who, account, other, now: endings.close(
            transfer_id=rows.transfer_sent(other, to="not_seen", now=now, account=account).pk,
            person=who,
            reason="No",
            now=now,
            **NOBODY,
        ),
    ),
    "cancel all orders": (
        "operator",
        lambda who, account, other, now: cancelling.ask_all(
            account=account, symbol="BCHUSD", newest=0, person=who, now=now
        ),
    ),
    "place an order": (
        "operator",
        lambda who, account, other, now: orders.place(
            initiator=who,
            account=account,
            requested=orders.OrderRequest(
                symbol="BCHUSD", side="buy", type="market", quantity=Decimal(1), time_in_force="GTC"
            ),
            request_key=str(uuid.uuid4()),
            now=now,
        ),
    ),
    "open a margin account": (
        "operator",
        lambda who, account, other, now: margin.act(
            initiator=who,
            account=account,
            wish=margin.Wish(kind="open", symbol="BCHUSD", amount=Decimal(1)),
            request_key=str(uuid.uuid4()),
            now=now,
        ),
    ),
    "note a margin action": (
        "operator",
        lambda who, account, other, now: margin.settle(
            action_id=rows.margin_action(other, now=now, account=account).pk, person=who, note="Seen", now=now
        ),
    ),
    "ask for an address": (
        "operator",
        lambda who, account, other, now: addresses.request(
            initiator=who, account=account, currency="BCH", request_key=str(uuid.uuid4()), now=now
        ),
    ),
    "freeze": (
        "treasury",
        lambda who, account, other, now: freezes.freeze(person=who, reason="No", account=account, now=now),
    ),
    "thaw": (
        "treasury",
        lambda who, account, other, now: freezes.thaw(
            freeze_id=freezes.freeze(person=None, reason="No", account=account, now=now).pk,
            person=who,
            answer={},
            reason="Yes",
            session_key="s",
            now=now,
        ),
    ),
    "freeze a sub-account": (
        "admin",
        lambda who, account, other, now: subaccounts.ask_status(
            kind="freeze",
            account=account,
            exchange_ids=[rows.subaccount(now=now).exchange_id],
            person=who,
            reason="No",
            request_key=str(uuid.uuid4()),
            now=now,
            **NOBODY,
        ),
    ),
    "add a key": (
        "admin",
        lambda who, account, other, now: key_changes.add(
            account=account,
            pair=key_changes.Pair("x", "x", Secret("x"), [Right.HISTORY], str(uuid.uuid4())),
            by=key_changes.Confirmation(who, "", {}, "s", now),
        ),
    ),
    "disable a key": (
        "admin",
        lambda who, account, other, now: key_changes.disable(
            key_id=store.add(
                account=account, label="k", login="k", secret=Secret("x"), rights=[Right.HISTORY], actor=None, now=now
            ).pk,
            by=key_changes.Confirmation(who, "", {}, "s", now),
        ),
    ),
    "ask the console": (
        "operator",
        lambda who, account, other, now: calls.request(
            person=who,
            account=account,
            entry=next(each for each in entries.SERVICES["exchange"].entries.values() if asks(each)),
            texts={},
            request_key=str(uuid.uuid4()),
            now=now,
        ),
    ),
}
MAY_NOT = "([Oo]nly|Operators|administrators|roles don't allow|role (on this account )?does not allow)"


def asks(entry):
    return entry.needs_key and entry.elsewhere is None and not any(each.required for each in entry.params)


@pytest.mark.parametrize("act", ACTS)
def test_whoever_is_limited_to_the_other_account_may_not(act, first, second, limited, operator):
    role, do = ACTS[act]
    now = clock.now()
    with pytest.raises(Exception, match=MAY_NOT) as refused:
        do(limited(role, second), first, operator, now)
    assert type(refused.value).__name__.startswith("Cannot")


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("is_limited", [True, False])
def test_whoever_holds_the_role_there_is_not_refused_for_it(act, is_limited, first, limited, operator):
    role, do = ACTS[act]
    person, refused = limited(role, *([first] if is_limited else [])), None
    try:
        do(person, first, operator, clock.now())
    except Exception as problem:  # for another reason: the digest, the factor, the state
        refused = problem
    if refused is not None:
        assert type(refused).__name__.startswith("Cannot")
        assert re.search(MAY_NOT, str(refused)) is None


def test_an_order_of_the_other_account_is_neither_cancelled_nor_replaced(first, second, limited, operator):
    stranger, now = limited("operator", second), clock.now()
    wanted = orders.OrderRequest(
        symbol="BCHUSD", side="buy", type="limit", quantity=Decimal("0.01"), price=Decimal(500), time_in_force="GTC"
    )
    rows.balance("USD", now=now)
    row = orders.place(initiator=operator, account=first, requested=wanted, request_key="one", now=now)
    with pytest.raises(orders.CannotCancel, match="Only operators"):
        orders.cancel(order_id=row.pk, person=stranger, now=now)
    with pytest.raises(orders.CannotReplace, match="Only operators"):
        replacing.replaceable(row.pk, stranger)


def test_an_unclear_case_of_the_other_account_is_not_closed(first, second, limited, operator):
    now, stranger = clock.now(), limited("treasury", second)
    row = rows.held(operator, now=now, account=first)
    machine.move(row, event="executed_without_us", to="investigate", now=now)
    with pytest.raises(resolutions.CannotResolve, match="Two treasurers"):
        resolutions.resolve(
            withdrawal_id=row.pk, person=stranger, verdict="paid", evidence="Statement", now=now, **NOBODY
        )
    moved = rows.transfer_sent(operator, to="investigate", now=now, account=first)
    with pytest.raises(endings.CannotResolve, match="Two treasurers"):
        endings.resolve(transfer_id=moved.pk, person=stranger, verdict="moved", evidence="Statement", now=now, **NOBODY)
    assert not open_holds.may_order(stranger, rows.ended(operator, now=now, account=first))


def test_an_incident_of_the_other_account_is_not_taken_on(first, second, limited):
    freezes.freeze(person=None, reason="Look", account=first, now=clock.now())
    row = Incident.objects.get()
    with pytest.raises(incident_decisions.CannotDecide, match="Only"):
        incident_decisions.acknowledge(incident_id=row.pk, person=limited("treasury", second), now=clock.now())
    own = limited("treasury", first)
    assert incident_decisions.acknowledge(incident_id=row.pk, person=own, now=clock.now()).taken_by == own


# Words that were given before ----------------------------------------------------------------------------------------


def test_an_approval_given_before_the_limit_counts_no_more(first, second, limited, operator):
    now = clock.now()
    early, late = limited("treasury", username="early"), limited("treasury", username="late")
    row = rows.held(operator, now=now, account=first, amount=Decimal(30))
    assert row.quorum_required == 2
    signed = {"withdrawal_id": row.pk, "digest": row.digest, "comment": "", "session_key": "s", "now": now}
    approvals.approve(person=early, answer=answer_at(0), **signed)
    assert approvals.current(Withdrawal.objects.get()).count() == 1
    scopes.set_grants(early, [f"treasury:{second.pk}"])
    assert approvals.current(Withdrawal.objects.get()).count() == 0
    after = approvals.approve(person=late, answer=answer_at(0), **signed)
    assert (after.state, Approval.objects.count()) == ("held", 2)


def test_two_people_of_the_account_alone_decide_to_pay(first, second, limited, operator):
    now = clock.now()
    row = rows.held(operator, now=now, account=first, amount=Decimal(30))
    signed = {"withdrawal_id": row.pk, "digest": row.digest, "comment": "", "session_key": "s", "now": now}
    states = []
    for name, accounts in (("one", [first]), ("other", [second, first])):
        person = limited("treasury", *accounts, username=name)
        states.append(approvals.approve(person=person, answer=answer_at(0), **signed).state)
    assert states == ["held", "committing"]


def test_a_person_read_before_they_lost_the_account_moves_nothing(first, second, limited, operator):
    now, person = clock.now(), limited("treasury")
    row = rows.held(operator, now=now, account=first)
    scopes.set_grants(Person.objects.get(pk=person.pk), [f"treasury:{second.pk}"])
    assert person.has_role("treasury", scope=row.scope)  # as it was when it was read
    with pytest.raises(CannotMove, match="no longer has a role for this account"):
        machine.move(row, event="rejected", to="rolling_back", now=now, actor=person, decision="rollback")


def test_who_loses_an_account_is_signed_out_everywhere(first, second, limited):
    person = limited("treasury")
    before = person.session_epoch
    scopes.set_grants(person, [f"treasury:{second.pk}"])
    assert person.session_epoch > before
    assert Person.objects.get().session_epoch == person.session_epoch


# What waits for whom --------------------------------------------------------------------------------------------------


def test_what_can_be_approved_is_that_of_ones_own_accounts(first, second, limited, operator):
    now = clock.now()
    here, there = rows.held(operator, now=now, account=first), rows.held(operator, now=now, account=second)
    moved = rows.transfer(operator, kind="to_user", now=now, account=first)
    people = {"all": limited("treasury"), "first": limited("treasury", first), "second": limited("treasury", second)}
    mine = {name: set(approvals.waiting().for_person(person)) for name, person in people.items()}
    assert mine == {"all": {here, there}, "first": {here}, "second": {there}}
    each = {person.username: set(found) for person, found in approvals.waiting().for_each(list(people.values()))}
    assert each == {people[name].username: found for name, found in mine.items()}
    assert {name: list(transfer_approvals.waiting().for_person(person)) for name, person in people.items()} == {
        "all": [moved],
        "first": [moved],
        "second": [],
    }


# Rules ----------------------------------------------------------------------------------------------------------------


def test_rules_of_an_account_are_changed_by_its_people(first, second, limited):
    old = policy_changes.in_force()
    own = [*old.tiers, ruleset.Tier(None, 3, old.tiers[0].mode, first.pk)]
    of_first = ruleset.Rules(own, old.value_max_age_s, old.price_distance, old.limits, old.currency)
    of_all = ruleset.Rules(old.tiers, 77, old.price_distance, old.limits, old.currency)
    assert ruleset.concerned(old, of_first) == {str(first.pk)}
    assert ruleset.concerned(old, of_all) == {""}
    one, other = limited("treasury", first), limited("treasury", second)
    at = {str(first.pk)}
    assert change_rules.may_keep(one, at)
    assert not change_rules.may_keep(other, at)
    assert not change_rules.may_keep(one, {""})
    admin = limited("admin")
    assert change_rules.are_enough(one, admin, at=at)
    assert not change_rules.are_enough(other, admin, at=at)
    with pytest.raises(policy_changes.CannotChange, match="accounts you have no access to"):
        policy_changes.propose(new_rules=of_first, reason="More eyes", actor=other, now=clock.now(), **NOBODY)
