"""Rules for payouts on the pages: typed as sentences, checked, tried on the past, proposed, published and shown."""

import re
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from desk import clock
from desk.people import scopes, totp
from exchange_ops.policy import quorum, ruleset
from exchange_ops.policy.payout_rules import PayoutRule
from exchange_ops.policy_changes import back_test, carrying_over, workflow
from exchange_ops.policy_changes.models import PolicyChange
from exchange_ops.shared.models import Account
from tests.exchange_ops import rows
from tests.exchange_ops.policy_changes.keeping import FIRST, SECRET, Codes, agree, propose
from tests.exchange_ops.policy_changes.test_pages import code, text
from tests.exchange_ops.withdrawals.test_recipients import paid

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("payable")]
TOTAL = PayoutRule("total", Decimal(50_000), 24, approvals=3)


@pytest.fixture
def people(make_person):
    found = [make_person("treasury", username=name) for name in ("ada", "ben")]
    for person in found:
        totp.enrol(person, SECRET)
    return found


@pytest.fixture
def typed():
    """The first rules as the page sends them."""
    tiers = {"t0-up_to": "10000", "t0-approvals": "1", "t1-up_to": "250000", "t1-approvals": "2"}
    tiers |= {"t0-mode": "hold_then_approve", "t1-mode": "hold_then_approve"}
    above = {"above-approvals": "3", "above-mode": "approve_then_hold", "l0-kind": "order", "l1-kind": "order"}
    figures = {"value_max_age_s": "300", "fee_factor": "1.5", "fee_floor": "5", "reason": "We grew"}
    return {**tiers, **above, **figures}


def test_rules_are_typed_reviewed_published_and_shown(signed_in, people, typed):
    ada, ben = (signed_in(person) for person in people)
    fields = {"r0-measure": "total", "r0-window_h": "24", "r0-most": "50000", "r0-outcome": "3"}
    fields |= {
        "r1-measure": "hours",
        "r1-hours": "8-18",
        "r1-currency": "bch",
        "r1-requester": f"person:{people[1].pk}",
    }
    reviewed = ada.post("/policy/draft/", typed | fields)
    for sentence in (
        "New: Payouts: total value in 24 hours above 50,000 USD: 3 approvals required.",
        "New: BCH payouts requested by ben: requested outside 08:00 to 18:00 UTC: rejected.",
        "Rule 1 requires 3 approvals, but only 2 people can approve.",
        "No payouts in the last 90 days.",
        "This does not loosen any limit",
    ):
        assert sentence in text(reviewed)
    digest = re.search(r'name="digest" value="(\w+)"', reviewed.content.decode())[1]
    ada.post("/policy/draft/", typed | fields | {"confirmed": "yes", "digest": digest, "code": code()})
    row = PolicyChange.objects.get()
    assert "only 2 people can approve" in text(ben.get(f"/policy/changes/{row.pk}/"))
    ben.post(f"/policy/changes/{row.pk}/agree/", {"digest": row.digest, "code": code()})
    hours = PayoutRule("hours", hours=(8, 18), currency="BCH", person=people[1].pk)
    assert ruleset.rules_of(quorum.current()).payouts == (TOTAL, hours)
    for path in ("/policy/", "/policy/versions/2/"):
        assert "BCH payouts requested by ben: requested outside 08:00 to 18:00 UTC: rejected." in text(ben.get(path))
    again = ada.get("/policy/draft/").content.decode()
    assert 'name="r0-most" value="50000"' in again
    assert 'name="r1-hours" value="8-18"' in again
    assert quorum.highest() == {str(rows.account().pk): 3}


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"r0-measure": "total", "r0-most": "5", "r0-window_h": "2"}, "Payout rule 1, window: Select a valid choice"),
        ({"r0-measure": "value"}, "Payout rule 1: enter a limit."),
        ({"r0-measure": "value", "r0-most": "-5"}, "Payout rule 1, limit: "),
        (
            {"r0-measure": "value", "r0-most": "5", "r0-currency": "NOPE"},
            "currency: NOPE is not listed on the exchange.",
        ),
        ({"r0-measure": "hours", "r0-hours": "8-25"}, "Payout rule 1, hours: Enter full hours, for example 8-18."),
        ({"r0-measure": "amount", "r0-most": "5"}, "Payout rule 1: choose the currency of the amount."),
    ],
)
def test_a_wrong_rule_is_named_and_what_was_typed_stays(signed_in, people, typed, fields, sentence):
    answer = signed_in(people[0]).post("/policy/draft/", typed | fields)
    assert answer.status_code == 422
    assert sentence in text(answer)
    assert f'value="{fields.get("r0-most", "")}"' in answer.content.decode()
    assert not PolicyChange.objects.exists()


def test_removing_a_rule_waits_a_day_and_adding_one_does_not(people):
    codes, now = Codes(), clock.now()
    added = agree(codes, people[1], propose(codes, people[0], replace(FIRST, payouts=(TOTAL,)), now=now), now=now)
    assert added.state == "published"
    later = now + timedelta(minutes=2)
    gone = agree(codes, people[1], propose(codes, people[0], FIRST, now=later), now=later)
    assert gone.state == "agreed"
    assert workflow.compared(FIRST)[0].sentence == (
        "Removed: Payouts: total value in 24 hours above 50,000 USD: 3 approvals required."
    )


def test_rules_of_accounts_that_a_person_cannot_see_are_neither_shown_nor_lost(signed_in, people, typed):
    second = Account.objects.create(name="Hidden desk", quote_currency="USD")
    hidden = replace(TOTAL, account=second.pk)
    codes, now = Codes(), clock.now()
    agree(codes, people[1], propose(codes, people[0], replace(FIRST, payouts=(hidden,)), now=now), now=now)
    scopes.set_grants(people[0], {f"treasury:{rows.account().pk}"})
    client = signed_in(people[0])
    assert "Hidden desk" not in client.get("/policy/draft/").content.decode()
    assert "Hidden desk" not in client.get("/policy/").content.decode()
    own = {"r0-account": str(rows.account().pk), "r0-measure": "first", "r0-outcome": "2"}
    reviewed = text(client.post("/policy/draft/", typed | own))
    assert "first payout to a recipient: 2 approvals required" in reviewed
    assert "Removed" not in reviewed


def test_a_change_of_one_accounts_rules_leaves_those_of_others():
    of_one, of_two = (replace(TOTAL, account=number) for number in (1, 2))
    base = replace(FIRST, payouts=(TOTAL,))
    meanwhile = replace(FIRST, payouts=(TOTAL, of_two))
    assert carrying_over.carried_over(replace(base, payouts=(TOTAL, of_one)), base=base, current=meanwhile) == replace(
        base, payouts=(TOTAL, of_one, of_two)
    )
    assert carrying_over.carried_over(FIRST, base=base, current=replace(FIRST, payouts=())) is None
    assert ruleset.concerned(base, meanwhile) == {"2"}
    assert ruleset.from_json(ruleset.as_json(meanwhile)) == meanwhile


def test_a_back_test_says_what_the_rules_would_have_said(operator, people, treasury, monkeypatch):
    now = clock.now()
    days = [50, 49.5, 3, 2.9, 0.1]
    payouts = []
    for number, ago in enumerate(days):
        monkeypatch.setattr(clock, "now", lambda at=now - timedelta(days=ago): at)
        payouts.append(paid(operator, treasury, amount=Decimal(1), payment_id=str(number)))
    monkeypatch.setattr(clock, "now", lambda: now)
    rows.price(now=now)
    rows.entry(1, type="payout", status="success", address="elsewhere", amount=Decimal(2), now=now - timedelta(days=3))
    draft = replace(
        ruleset.rules_of(quorum.current()),
        payouts=(
            PayoutRule("total", Decimal(900), 24, approvals=2),
            PayoutRule("total", Decimal(1_600), 24),
            PayoutRule("balance_share", Decimal(0)),
        ),
    )
    tested = back_test.run(draft, in_force=workflow.in_force(), person=people[0], now=now)
    assert (tested.count, tested.older, tested.without) == (6, 0, [3])
    # 500 USD each and 1,000 elsewhere: 49.5 days ago 1,000 in a day, 2.9 days ago 2,000.
    assert [case.past.reference for case in tested.rejected] == [payouts[3].reference]
    assert "limit 1,600 USD (policy v2, rule 2)" in tested.rejected[0].sentence
    more = {case.past.reference: (case.before, case.after) for case in tested.more}
    assert more.keys() >= {payouts[1].reference}
    assert set(more.values()) == {("1 approval", "2 approvals")}
    assert back_test.run(workflow.in_force(), in_force=draft, person=people[0], now=now).fewer
    assert back_test.run(draft, in_force=draft, person=people[0], now=now).cases == []


def test_a_back_test_values_a_payout_as_its_request_did(operator, people, treasury, monkeypatch):
    """Whatever the price is today, and although its recipient was paid days before."""
    now = clock.now()
    for ago in (6, 3):
        monkeypatch.setattr(clock, "now", lambda at=now - timedelta(days=ago): at)
        rows.price(now=clock.now())
        paid(operator, treasury, amount=Decimal(15))
    monkeypatch.setattr(clock, "now", lambda: now)
    rows.price(now=now, last="640")
    in_force = workflow.in_force()
    draft = replace(in_force, tiers=(replace(in_force.tiers[0], up_to=Decimal(9_000)), *in_force.tiers[1:]))
    tested = back_test.run(draft, in_force=in_force, person=people[0], now=now)
    assert (tested.count, tested.cases) == (2, []), "7,500 USD each, and not 9,600"
