"""Payees: added by one, approved by two, counted a day later and for half a year, and what rules make of them."""

import re
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from desk import clock
from desk.people import totp
from exchange_ops.payees import book, machine, states, workflow
from exchange_ops.payees.models import Payee
from exchange_ops.policy.payout_rules import PayoutRule
from exchange_ops.withdrawals.decisions import policy_evaluation
from exchange_ops.withdrawals.recipients import briefing
from tests.exchange_ops import rows
from tests.exchange_ops.permissions.shared_form import SECRET, code_of_now
from tests.exchange_ops.permissions.subjects.payees import added, approved_by_two
from tests.exchange_ops.withdrawals.decisions.test_payout_rules import OTHER, publish

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("payable")]
LATER = states.COOLING + timedelta(minutes=1)


def key(row):
    return book.Key(row.account_id, row.currency, row.address, row.payment_id)


def in_force(row, now):
    return book.approved([key(row)], now=now)


def at(monkeypatch, now):
    monkeypatch.setattr(clock, "now", lambda: now)
    rows.price(now=now)


def words(row):
    return {"digest": row.digest, "answer": code_of_now(), "comment": "", "session_key": "s", "now": clock.now()}


def test_it_counts_a_day_after_the_second_approval_until_it_expires(operator, monkeypatch):
    now = clock.now()
    row = added(operator)
    assert (row.state, in_force(row, now + LATER)) == ("review", {})
    row = approved_by_two(row)
    assert row.state == "cooling"
    workflow.look(row.pk, now=clock.now(), client_for=None)
    assert Payee.objects.get(pk=row.pk).state == "cooling", "its day is not over"
    assert in_force(row, clock.now()) == {}
    at(monkeypatch, row.counts_from + timedelta(seconds=1))
    assert in_force(row, clock.now()) == {key(row): row}, "by its time, whoever looked at it"
    workflow.look(row.pk, now=clock.now(), client_for=None)
    row = Payee.objects.get(pk=row.pk)
    assert (row.state, in_force(row, clock.now())) == ("active", {key(row): row})
    at(monkeypatch, row.expires_at)
    assert in_force(row, clock.now()) == {}
    workflow.look(row.pk, now=clock.now(), client_for=None)
    assert Payee.objects.get(pk=row.pk).state == "expired"
    assert added(operator).state == "review", "it can be added again"


def test_who_is_not_approved_in_a_week_has_to_be_added_again(operator):
    row = added(operator)
    workflow.look(row.pk, now=clock.now() + states.OPEN_FOR + timedelta(seconds=1), client_for=None)
    assert Payee.objects.get(pk=row.pk).state == "lapsed"


def test_nobody_approves_their_own_or_twice_or_what_they_did_not_see(operator, treasury, treasury2):
    for person in (operator, treasury, treasury2):
        totp.enrol(person, SECRET)
    own = added(treasury, address=OTHER)
    with pytest.raises(workflow.CannotDecide, match="You added this payee"):
        workflow.approve(payee_id=own.pk, person=treasury, **words(own))
    row = added(operator)
    with pytest.raises(workflow.CannotDecide, match="Only treasury"):
        workflow.approve(payee_id=own.pk, person=operator, **words(own))
    with pytest.raises(workflow.CannotDecide, match="changed after you opened it"):
        workflow.approve(payee_id=row.pk, person=treasury2, **words(row) | {"digest": own.digest})
    workflow.approve(payee_id=row.pk, person=treasury, **words(row))
    twice = words(row) | {"answer": {"kind": "totp", "code": totp.code_at(SECRET, totp.step_at(clock.now()) + 1)}}
    with pytest.raises(workflow.CannotDecide, match="already recorded"):
        workflow.approve(payee_id=row.pk, person=treasury, **twice)
    assert Payee.objects.get(pk=row.pk).state == "review"


def test_a_row_written_past_the_desk_never_counts(operator, monkeypatch):
    row = added(operator)
    with pytest.raises(machine.CannotMove, match="every approval"):
        machine.move(
            row, event="quorum_reached", to="cooling", now=clock.now(), counts_from=clock.now(), expires_at=clock.now()
        )
    row = approved_by_two(Payee.objects.get(pk=row.pk))
    row.approvals.first().person.groups.clear()
    at(monkeypatch, row.counts_from)
    assert in_force(row, clock.now()), "the decision was made; who has lost the role since still counts"
    with pytest.raises(IntegrityError), transaction.atomic():
        Payee.objects.filter(pk=row.pk).update(address=OTHER)


def test_the_same_recipient_is_there_once_and_the_same_form_twice_gives_one_row(operator, treasury):
    row = added(operator)
    assert added(operator).pk == row.pk
    with pytest.raises(workflow.CannotAdd, match="already in the list"):
        added(treasury)
    assert Payee.objects.count() == 1


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"title": " "}, "title"),
        ({"owner": ""}, "owner"),
        ({"evidence": ""}, "evidence"),
        ({"group": "x" * 81}, "group"),
        ({"address": "bchreg:nothing"}, "address"),
        ({"currency": "NOPE"}, "currency"),
        ({"payment_id": "7"}, "payment_id"),
    ],
)
def test_what_is_wrong_is_named_beside_its_field(operator, changes, field):
    with pytest.raises(workflow.CannotAdd) as refusal:
        added(operator, **changes)
    assert set(refusal.value.problems) == {field}
    assert not Payee.objects.exists()


def test_a_rule_lets_approved_payees_through_and_no_others(operator, monkeypatch):
    publish(PayoutRule("not_approved"), PayoutRule("not_approved", group="Suppliers", approvals=2))
    payee = approved_by_two(added(operator, group="Suppliers"))
    row = rows.requested(operator, now=clock.now())
    assert policy_evaluation.evaluate(row, now=clock.now())[0].blocked.startswith(
        "Not paid: the recipient is not an approved payee (policy v"
    )
    at(monkeypatch, payee.counts_from)
    assert policy_evaluation.evaluate(row, now=clock.now())[0].approvals == 1
    other = rows.requested(operator, now=clock.now(), address=OTHER)
    assert policy_evaluation.evaluate(other, now=clock.now())[0].blocked
    publish(PayoutRule("not_approved", group="Directors", approvals=3))
    verdict = policy_evaluation.evaluate(row, now=clock.now())[0]
    assert verdict.approvals == 3
    assert "not an approved payee in the group Directors" in verdict.trace[0]
    (known,) = briefing.briefings([briefing.Subject.of(row)], now=clock.now())
    assert known.payee == payee


def test_the_pages_lead_from_adding_to_a_payout(operator, treasury, treasury2, signed_in, monkeypatch):
    for person in (treasury, treasury2):
        totp.enrol(person, SECRET)
    fields = {"title": "Harbour <Hosting>", "owner": "Harbour Ltd", "currency": "BCH", "address": rows.ADDRESS}
    client = signed_in(operator)
    refused = client.post("/payees/new/", fields)
    assert refused.status_code == 422
    assert "Payee not added. Please fix:" in refused.content.decode()
    client.post("/payees/new/", fields | {"evidence": "Read back by phone", "group": "Suppliers"})
    row = Payee.objects.get()
    page = f"/payees/{row.pk}/"
    assert "Withdraw payee" in client.get(page).content.decode()
    assert "Approve payee" not in client.get(page).content.decode()
    for number, person in enumerate((treasury, treasury2), 1):
        assert row.reference in signed_in(person).get("/action/").content.decode()
        signed_in(person).post(f"{page}approve/", {"digest": row.digest, "code": code_of_now()["code"]})
        assert f"Approvals: {number} of 2" in signed_in(person).get(page).content.decode()
    row = Payee.objects.get()
    at(monkeypatch, row.counts_from)
    workflow.look(row.pk, now=clock.now(), client_for=None)
    client = signed_in(operator)
    html = client.get(page).content.decode()
    link = re.search(r'href="(/withdrawals/new/\?[^"]+)"', html)[1].replace("&amp;", "&")
    assert f'value="{rows.ADDRESS}"' in client.get(link).content.decode()
    assert "Harbour &lt;Hosting&gt;" in client.get("/payees/?text=harbour").content.decode()
    assert row.reference in client.get(f"/search/?q={row.reference}").content.decode()
    removed = signed_in(treasury).post(f"{page}remove/", {"remove-reason": "They moved"}, follow=True)
    assert "no longer counts as approved" in removed.content.decode()
    assert in_force(row, clock.now()) == {}
