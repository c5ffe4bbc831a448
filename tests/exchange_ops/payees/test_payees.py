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


def counting(operator, monkeypatch, **changes):
    """A payee that counts, on the first day on which it can be renewed."""
    row = approved_by_two(added(operator, **changes))
    at(monkeypatch, row.counts_from)
    workflow.look(row.pk, now=clock.now(), client_for=None)
    at(monkeypatch, row.expires_at - states.RENEWABLE)
    return Payee.objects.get(pk=row.pk)


def test_in_its_last_month_a_recipient_is_approved_once_more_and_never_stops_counting(operator, treasury, monkeypatch):
    row = counting(operator, monkeypatch)
    with monkeypatch.context() as earlier:
        at(earlier, clock.now() - timedelta(seconds=1))
        with pytest.raises(workflow.CannotAdd, match="It can be renewed from 20"):
            added(treasury)
    renewal = added(treasury, evidence="Read back once more")
    assert book.renewed(renewal) == row
    assert in_force(row, clock.now()) == {key(row): row}
    renewal = approved_by_two(renewal, "third", "fourth")
    assert in_force(row, clock.now()) == {key(row): row}, "the renewal cools off"
    at(monkeypatch, renewal.counts_from)
    assert in_force(row, clock.now()) == {key(row): renewal}, "by its time, whoever looked at it"
    assert book.usable(account=row.account, currency="", now=clock.now()) == [renewal]
    workflow.look(renewal.pk, now=clock.now(), client_for=None)
    states_now = dict(Payee.objects.values_list("pk", "state"))
    assert states_now == {row.pk: "renewed", renewal.pk: "active"}
    assert book.goes_back_to(renewal, row)
    assert (book.renewed(row), book.renewed(renewal)) == (None, None)


def test_the_same_form_renews_as_well_with_approvals_of_its_own(operator, monkeypatch):
    row = counting(operator, monkeypatch)
    renewal = added(operator)
    assert (renewal.pk != row.pk, renewal.digest) == (True, row.digest)
    assert added(operator).pk == renewal.pk
    assert not workflow.current(renewal).exists()


@pytest.mark.parametrize("approved", [False, True])
def test_whoever_removes_a_payee_ends_its_renewal_too(operator, treasury, monkeypatch, approved):
    row = counting(operator, monkeypatch)
    renewal = added(operator, evidence="Again")
    renewal = approved_by_two(renewal, "third", "fourth") if approved else renewal
    words = {"reason": "The account was taken over", "now": clock.now()}
    workflow.remove(payee_id=row.pk, person=treasury, **words)
    renewal.refresh_from_db()
    assert renewal.state == ("removed" if approved else "rejected")
    assert f"{row.reference} was removed by" in renewal.last_problem
    at(monkeypatch, clock.now() + LATER)
    again = approved_by_two(added(operator), "fifth", "sixth")
    at(monkeypatch, again.counts_from)
    assert in_force(row, clock.now()) == {key(row): again}
    assert not book.goes_back_to(again, row), "who was removed was not renewed"


def test_a_renewal_is_filled_in_but_for_the_check_and_shows_what_it_changes(signed_in, operator, monkeypatch):
    row = counting(operator, monkeypatch, group="Suppliers")
    client = signed_in(operator)
    link = f"/payees/new/?renew={row.pk}"
    assert link in client.get(f"/payees/{row.pk}/").content.decode()
    form = client.get(link).context["form"]
    assert (form["address"].value(), form["group"].value(), form["evidence"].value()) == (
        row.address,
        "Suppliers",
        None,
    )
    sent = {name: form[name].value() or "" for name in form.fields} | {"group": "Directors", "evidence": "Called back"}
    page = client.post(link, sent, follow=True).content.decode()
    assert f"/payees/{row.pk}/" in page
    assert re.search(r"Group:\s+<bdi>Suppliers</bdi> →\s+<bdi>Directors</bdi>", page), page
    assert link not in client.get(f"/payees/{row.pk}/").content.decode(), "one renewal at a time"


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
