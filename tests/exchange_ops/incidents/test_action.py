"""Needs action: each kind of incident from its rows, who is shown what, the bar, and what an approval tells before."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from desk import clock
from desk.incidents import closings, kinds, review
from desk.incidents.models import Incident
from desk.people import totp
from desk.processes import uptime
from exchange_ops.policy import freezes
from exchange_ops.shared import alarms
from exchange_ops.withdrawals import machine
from exchange_ops.withdrawals.decisions import resolutions
from tests.exchange_ops import rows
from tests.exchange_ops.incidents.provoked import (
    CRITICAL,
    ENDED,
    ONE_OF_SEVERAL,
    PROVOKED,
    acts_on,
    closing,
    disputed,
    is_seen_by,
    roles_in_turn,
    text,
)
from wire.values import Secret

pytestmark = pytest.mark.django_db
SECRET = Secret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")


@pytest.fixture(autouse=True)
def settled(monkeypatch):
    """As in a process that has been at work for long: everything is judged."""
    monkeypatch.setattr(uptime, "_began", -10_000.0)


@pytest.mark.every(2, "one walk for each kind of incident")
@pytest.mark.parametrize("name", PROVOKED)
def test_each_kind_is_opened_from_its_rows_shown_to_its_roles_and_over_with_its_cause(
    name, operator, treasury, make_person, signed_in
):
    rows.account(now=clock.now())
    rows.currency(now=clock.now(), transfer_enabled=True)
    provoke, words = PROVOKED[name]
    provoke(operator)
    review.review(now=clock.now())
    row = Incident.objects.filter(kind=name).order_by("pk").get(**ONE_OF_SEVERAL.get(name, {}))
    assert words in row.sentence
    assert (row.severity == "critical") == (name in CRITICAL)
    for role in roles_in_turn(name):
        client = signed_in(make_person(role, username=f"one-{role}"))
        is_seen = is_seen_by(role, name)
        group = "mine" if acts_on(role, name) else "others"
        assert (row.reference in text(client.get(f"/action/?list={group}"))) == is_seen, role
        page = f"/action/incidents/{row.pk}/"
        assert client.get(page).status_code == (200 if is_seen else 404), role
        assert (row.title in text(client.get("/frame/?parts=alarm"))) == (name in CRITICAL), role
        assert ("All clear" in text(client.get("/frame/?parts=strip"))) is False
        assert client.get(row.url).status_code == 200 or row.url not in client.get(page).content.decode(), role
    ENDED[name]()
    review.review(now=clock.now())
    row.refresh_from_db()
    assert (row.state, row.gone_at is None, row.reason) == ("resolved", False, "")


def test_a_broker_that_is_away_is_an_incident_of_its_own(settings, monkeypatch, operator):
    alive, settings.REDIS_URL = settings.REDIS_URL, "redis://127.0.0.1:1/0"
    review.review(now=clock.now())
    row = Incident.objects.get(kind=alarms.BROKER_AWAY)
    assert "workers poll for work" in row.sentence
    settings.REDIS_URL = alive
    review.review(now=clock.now())
    row.refresh_from_db()
    assert row.state == "resolved"


def test_every_declared_kind_is_provoked_and_ended_here():
    assert set(PROVOKED) == set(ENDED) == set(kinds.every()) - {alarms.BROKER_AWAY}


def test_every_kind_about_money_takes_two_people():
    """By two votes of its own, by two closings, or in no way but its cause; the others are about work, not money."""
    by_two = {
        alarms.PAYOUT_ELSEWHERE,
        alarms.AUDIT,
        alarms.RECONCILIATION,
        alarms.DEPOSIT_DIFFERS,
        alarms.PAYOUT_OVERDUE,
        alarms.TRANSFER_UNKNOWN,
        alarms.WITHOUT_A_STOP,
        alarms.BRACKET_UNCLEAR,
    }
    by_votes = {
        alarms.FROZEN,
        alarms.FROZEN_ACROSS,
        alarms.PAYOUT_DISPUTED,
        alarms.TRANSFER_UNCLEAR,
        alarms.HOLD_LEFT,
        alarms.RECORDS_DIFFER,
    }
    every = kinds.every().values()
    assert {kind.name for kind in every if kind.by_two} == by_two
    assert {kind.name for kind in every if kind.votes} == by_votes
    assert all(kind.by_two for kind in every if kind.severity == "critical" and kind.closable)
    for kind in every:
        assert closings.needs_factor(Incident(kind=kind.name)) == kind.by_two, "whatever its severity"


def test_a_freeze_is_an_incident_in_its_own_transaction_and_over_with_the_thaw(treasury, operator):
    account = rows.account(now=clock.now())
    frozen = freezes.freeze(person=treasury, reason="Odd payout", account=account, now=clock.now())
    row = Incident.objects.get(kind=alarms.FROZEN)
    assert (row.state, row.cause, row.scope) == ("open", f"freeze:{frozen.pk}", str(account.pk))
    frozen.__class__.objects.filter(pk=frozen.pk).update(thawed_at=clock.now())
    review.review_now(alarms.FROZEN, now=clock.now(), key=row.cause)
    row.refresh_from_db()
    assert row.state == "resolved"


def test_a_disputed_payout_is_an_incident_in_the_transaction_of_the_move(operator):
    disputed(operator)
    assert Incident.objects.get().kind == alarms.PAYOUT_DISPUTED


def test_an_incident_is_taken_on_and_closed_on_its_page(signed_in, treasury, operator, make_person):
    rows.account(now=clock.now())
    rows.entry(3, now=clock.now(), type="payout", status="success", foreign=True)
    review.review(now=clock.now())
    row = Incident.objects.get(kind=alarms.PAYOUT_ELSEWHERE)
    page, client = f"/action/incidents/{row.pk}/", signed_in(treasury)
    assert client.post(f"{page}acknowledge/").status_code == 302
    assert "Assigned to treasury" in text(client.get(page))
    assert "two people must close this incident, each with a reason and a second factor" in text(client.get(page))
    refused = client.post(f"{page}close/", closing(treasury, row, reason=" "))
    assert refused.status_code == 422
    assert "Enter a reason" in text(refused)
    bare = client.post(f"{page}close/", {"reason": "By hand.", "digest": closings.digest_of(row)})
    assert (bare.status_code, "Enter the code" in text(bare)) == (422, True)
    assert client.post(f"{page}close/", closing(treasury, row)).status_code == 302
    assert "Your finding is recorded. A second person must close the incident." in text(client.get(page))
    other = make_person("treasury", username="treasury2")
    second = signed_in(other)
    assert "First finding by treasury" in text(second.get(page))
    assert second.post(f"{page}close/", closing(other, row)).status_code == 302
    assert "Closed: The founder paid a bill by hand." in text(client.get(page))
    assert row.reference in text(client.get("/action/?list=done"))
    assert signed_in(operator).post(f"{page}close/", {"reason": "No"}).status_code == 422
    row.refresh_from_db()
    assert row.state == "resolved"


def test_an_approval_tells_what_is_worth_knowing_before_it_is_opened(signed_in, treasury, operator, payable):
    now = clock.now()
    first = rows.held(operator, now=now)
    page = text(signed_in(treasury).get("/action/"))
    assert "First payout to this recipient" in page
    assert "BCH, Bitcoin Cash" in page or "BCH, " in page
    assert "Share of balance 0.3 %" in page or "Share of balance 0.2 %" in page
    assert "Possible duplicate" not in page
    twin = rows.held(operator, now=now)
    page = text(signed_in(treasury).get("/action/"))
    assert f"within 24 hours: {first.reference} (reserved, waiting for approvals)" in page
    assert f"within 24 hours: {twin.reference} (reserved, waiting for approvals)" in page


def test_sixty_entries_take_as_many_queries_as_two(signed_in, treasury, operator, payable):
    client = signed_in(treasury)

    def queries():
        with CaptureQueriesContext(connection) as caught:
            assert client.get("/action/").status_code == 200
        return len(caught)

    for number in range(2):
        rows.held(operator, now=clock.now(), amount=Decimal(number + 1))
    rows.entry(1, now=clock.now(), type="payout", foreign=True)
    review.review(now=clock.now())
    few = queries()
    for number in range(30):
        rows.held(operator, now=clock.now(), amount=Decimal(number + 5))
        rows.entry(number + 10, now=clock.now(), type="payout", foreign=True)
    review.review(now=clock.now())
    assert queries() == few


@pytest.mark.parametrize(
    "query",
    [
        "list=nothing",
        "list=mine&severity=huge",
        "source=nobody",
        "sort=odd",
        "q=" + "x" * 500,
        "q=%00%E2%80%AE",
        "list=&q=",
    ],
)
def test_an_odd_wish_is_answered_all_the_same(signed_in, treasury, operator, payable, query):
    rows.held(operator, now=clock.now())
    assert signed_in(treasury).get(f"/action/?{query}").status_code == 200


def test_the_list_is_searched_narrowed_and_sorted(signed_in, treasury, operator, payable):
    now, client = clock.now(), signed_in(treasury)
    old = rows.held(operator, now=now - timedelta(minutes=30), amount=Decimal(1), reason="Rent")
    new = rows.held(operator, now=now, amount=Decimal(2), reason="Hosting bill")
    freezes.active(old.account)
    assert new.reference not in text(client.get("/action/?q=rent"))
    assert old.reference in text(client.get("/action/?q=RENT"))
    for order, first in (("urgency", old), ("newest", new), ("oldest", old)):
        page = text(client.get(f"/action/?sort={order}"))
        other = new if first is old else old
        assert page.index(first.reference) < page.index(other.reference), order
    assert "No items match" in text(client.get("/action/?severity=critical"))
    assert "No open incidents for your roles." in text(client.get("/action/?source=incidents"))


@pytest.mark.parametrize("path", ["/withdrawals/new/", "/transfers/new/to-user/"])
def test_a_form_says_before_it_is_filled_in_that_nothing_is_sent_in_a_freeze(
    signed_in, treasury, operator, payable, path
):
    client, words = signed_in(operator), "The account is frozen. Odd payout Requests are recorded and stay pending"
    assert words not in text(client.get(path))
    account = rows.account(now=clock.now())
    freezes.freeze(person=treasury, reason="Odd payout", account=account, now=clock.now())
    assert words in text(client.get(path))
    assert words in text(client.get("/policy/frozen/"))


def _lists(client, reference):
    return {name for name in ("mine", "others", "watching") if reference in text(client.get(f"/action/?list={name}"))}


def _count(client):
    return text(client.get("/frame/?parts=count-action"))


AWAITED = "You decided. Another person (treasury) must also decide"


def test_what_i_decided_as_the_first_of_two_waits_for_somebody_else(signed_in, treasury, treasury2, operator, payable):
    now, mine, other = clock.now(), signed_in(treasury), signed_in(treasury2)
    for person in (treasury, treasury2):
        totp.enrol(person, SECRET)
    row = rows.held(operator, now=now, amount=Decimal(30))
    assert row.quorum_required == 2
    assert (_lists(mine, row.reference), _lists(other, row.reference)) == ({"mine"}, {"mine"})
    assert AWAITED not in text(mine.get("/action/?list=all"))
    words = {"digest": row.digest, "code": totp.code_at(SECRET, totp.step_at(clock.now())), "comment": "Seen"}
    assert mine.post(f"/withdrawals/{row.pk}/approve/", words).status_code == 302
    assert row.reference in text(mine.get("/action/?list=done")), "the message after the press"
    assert _lists(mine, row.reference) == {"others", "watching"}
    assert AWAITED in text(mine.get("/action/?list=others"))
    assert "1 of 2" in text(mine.get("/action/?list=others"))
    assert _lists(other, row.reference) == {"mine"}


def test_a_finding_by_the_first_of_two_waits_for_somebody_else(signed_in, treasury, treasury2, operator, payable):
    mine, other = signed_in(treasury), signed_in(treasury2)
    for person in (treasury, treasury2):
        totp.enrol(person, SECRET)
    row = rows.held(operator, now=clock.now())
    machine.move(row, event="executed_without_us", to="investigate", now=clock.now())
    opened = Incident.objects.get(kind=alarms.PAYOUT_DISPUTED)
    assert _lists(mine, opened.reference) == {"mine"}
    counted = _count(mine)
    words = {"digest": resolutions.digest_of(row), "verdict": "paid", "comment": "In the ledger"}
    words["code"] = totp.code_at(SECRET, totp.step_at(clock.now()))
    assert mine.post(f"/withdrawals/{row.pk}/resolve/", words).status_code == 302
    assert _lists(mine, opened.reference) == {"others", "watching"}
    assert AWAITED in text(mine.get("/action/?list=watching"))
    assert _count(mine) != counted
    assert _lists(other, opened.reference) == {"mine"}
    assert AWAITED not in text(other.get("/action/?list=mine"))


def test_a_word_for_the_end_of_one_freeze_is_none_for_the_next(signed_in, treasury, treasury2, operator, payable):
    now, account = clock.now(), rows.account(now=clock.now())
    mine = signed_in(treasury)
    for person in (treasury, treasury2):
        totp.enrol(person, SECRET)
    for number, step in enumerate((0, 1)):
        frozen = freezes.freeze(person=None, reason="A drill.", account=account, now=now)
        opened = Incident.objects.get(kind=alarms.FROZEN, cause=f"freeze:{frozen.pk}")
        assert _lists(mine, opened.reference) == {"mine"}, number
        for person in (treasury, treasury2):
            answer = {"kind": "totp", "code": totp.code_at(SECRET, totp.step_at(now) + step)}
            freezes.thaw(
                freeze_id=frozen.pk,
                person=person,
                reason="Looked at",
                answer=answer,
                session_key="s",
                now=now,
            )
            if person == treasury:
                assert _lists(mine, opened.reference) == {"others", "watching"}, number
