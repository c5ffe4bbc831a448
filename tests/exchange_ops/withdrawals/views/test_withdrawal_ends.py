"""How a withdrawal ended: one word for each end, the same on every page, in the file, in the API and in the filter."""

import csv
import io
from decimal import Decimal

import pytest

from desk import clock
from desk.models import Person
from desk.notifications import finding, messages
from desk.notifications.models import Notification
from exchange_ops.withdrawals import endings, machine, states
from exchange_ops.withdrawals.models import Withdrawal
from tests.exchange_ops import rows

pytestmark = pytest.mark.django_db
FROM_HELD = {
    "rejected": "Rejected",
    "time_over": "Expired",
    "frozen": "Released by freeze",
    "policy_changed": "Released by new policy",
    "fee_drifted": "Released, fee changed",
    "echo_differs": "Released, records differ",
    "ended_at_exchange": "Released by the exchange",
}


def released(person, event, *, by=None, **changes):
    """A hold that was released because of this event."""
    now = clock.now()
    row = rows.held(person, now=now, **changes)
    decision = {"decision": "rollback", "decided_at": now, "decided_by": by}
    machine.move(row, event=event, to="rolling_back", now=now, actor=by, **decision)
    machine.move(row, event="rollback_claimed", to="rolling_back", now=now)
    return machine.move(row, event="released", to="rolled_back", now=now)


@pytest.fixture
def ended(operator, treasury, payable):
    """A withdrawal for each end that one can come to before it is paid, by the name of the end."""
    made = {event: released(operator, event, by=treasury if event == "rejected" else None) for event in FROM_HELD}
    made["withdrawn"] = released(operator, "cancelled", by=operator)
    for name, event, by in (("called_off", "cancelled", treasury), ("checks_failed", "checks_failed", None)):
        made[name] = rows.requested(operator, now=clock.now())
        machine.move(made[name], event=event, to="cancelled", now=clock.now(), actor=by)
    return made


def test_the_requester_hears_that_it_was_paid_and_how_much(operator, payable):
    Person.objects.filter(pk=operator.pk).update(email="olga@desk.test")
    row = rows.held(operator, now=clock.now(), currency="BCH", amount=Decimal("0.05"))
    decision = {"decision": "commit", "decided_at": clock.now()}
    machine.move(row, event="quorum_reached", to="committing", now=clock.now(), **decision)
    machine.move(row, event="commit_confirmed", to="committed", now=clock.now())
    machine.move(row, event="exchange_succeeded", to="settled", now=clock.now())
    finding.notify_due(now=clock.now())
    notice = Notification.objects.get(stage="ended", subject=row.subject)
    assert messages.full_headline(notice) == f"Paid: {row.reference}, 0.05 BCH"


def test_every_end_has_one_word_everywhere(signed_in, treasury, ended):
    client = signed_in(treasury)
    listed = {item["reference"]: item for item in client.get("/api/v1/withdrawals/").json()["items"]}
    lines = csv.DictReader(io.StringIO(b"".join(client.get("/withdrawals/export.csv")).decode("utf-8-sig")))
    states_of = {line["reference"]: line["state"] for line in lines}
    inbox = client.get("/approvals/?list=done").content.decode()
    for name, row in ended.items():
        label = endings.ENDS[name].label
        assert FROM_HELD.get(name, label) == label
        assert (listed[row.reference]["label"], listed[row.reference]["end"]) == (label, name)
        assert states_of[row.reference] == label
        assert name in ("called_off", "checks_failed") or f">{label} <time" in inbox, name
    assert "Funds released, not paid" not in inbox


def test_each_end_is_on_its_page_and_in_the_filter(signed_in, treasury, ended):
    client, part = signed_in(treasury), {"HX-Request": "true"}
    for name, row in ended.items():
        chip = f"</svg>{endings.ENDS[name].label}</span>"
        facts = client.get(f"/withdrawals/{row.pk}/", headers={**part, "HX-Target": "facts"})
        assert chip in facts.content.decode(), name
        listed = client.get(f"/withdrawals/?state={name}", headers={**part, "HX-Target": "rows"}).content.decode()
        assert chip in listed, name
        assert listed.count("data-row-link") == 1, name


def test_an_approved_payment_that_was_not_carried_out_is_not_called_expired(operator, payable):
    row = Withdrawal(state="expired", initiator=operator)
    row.ended_by, row.ended_by_person = "commit_not_carried_out", None
    assert row.label == "Not executed"


def test_every_event_that_ends_a_hold_or_a_request_has_a_word():
    ending = {
        move.event
        for move in states.TRANSITIONS
        if move.target in {"rolling_back", "cancelled", "expired"} and move.source != move.target
    }
    assert ending == set(endings.EVENTS)


@pytest.mark.parametrize("end", ["frozen", "policy_changed", "withdrawn", "checks_failed"])
def test_what_ended_unpaid_is_requested_again_with_a_new_key(signed_in, operator, treasury, ended, end):
    row, browser = ended[end], signed_in(operator)
    link = f"/withdrawals/new/?again={row.pk}"
    assert link in browser.get(f"/withdrawals/{row.pk}/").content.decode()
    assert link not in signed_in(treasury).get(f"/withdrawals/{row.pk}/").content.decode(), "only operators request"
    initial = browser.get(link).context["form"].initial
    assert {name: initial[name] for name in ("currency", "amount", "address", "reason", "fee_from")} == {
        "currency": row.currency,
        "amount": "1.25",
        "address": row.address,
        "reason": row.reason,
        "fee_from": "on_top",
    }
    assert initial["request_key"] != row.request_key


def test_nothing_else_is_filled_in_by_the_link(signed_in, operator, ended):
    browser, open_one = signed_in(operator), rows.held(operator, now=clock.now())
    for text in (str(open_one.pk), "9" * 30, "-1", "x", "\u0663", str(open_one.pk + 100)):
        page = browser.get("/withdrawals/new/", {"again": text})
        initial = page.context["form"].initial
        assert [name for name in initial if initial[name]] == ["request_key"], text


def test_a_freeze_names_what_it_will_release_and_releases_that(signed_in, treasury, operator, payable):
    now = clock.now()
    held, waiting = rows.held(operator, now=now), rows.submitted(operator, to="review", now=now)
    browser = signed_in(treasury)
    page = browser.get("/policy/").content.decode()
    named = page[page.index('id="releases"') : page.index('action="/policy/freeze/"')]
    releases, _, stops = named.partition("Freezing now will stop")
    assert (held.reference in releases, waiting.reference in releases) == (True, False)
    assert (held.reference in stops, waiting.reference in stops) == (False, True)
    browser.post("/policy/freeze/", {"reason": "Odd"})
    assert [Withdrawal.objects.get(pk=row.pk).state for row in (held, waiting)] == ["rolling_back", "review"]
