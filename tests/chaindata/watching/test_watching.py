"""Watched addresses: what moves is seen once, waits under Needs action, and ends with a person's reason."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction

from chaindata.cache import service as ways
from chaindata.shared import owned_addresses
from chaindata.watching import kinds, machine, reading, requests, states
from chaindata.watching.models import ChainMovement
from desk.audit import trail
from desk.incidents import review
from desk.incidents.models import Incident
from desk.models import AuditEvent
from tests.chaindata.views import rows
from tests.chaindata.views.rows import NOW, OURS

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(minutes=1)


def read(now=NOW, **more):
    return reading.read(now=now, open_client=ways.open_client, **more)


def replayed():
    found = []
    for each in machine.REPLAYS:
        events = AuditEvent.objects.filter(subject__startswith=f"{each.subject}:").order_by("seq")
        found += each.check(events.iterator())
    return found


def waiting():
    return list(Incident.objects.filter(state="open").order_by("pk").values_list("kind", "cause"))


def test_what_was_there_before_is_no_movement(ledger, watch):
    ledger.came(1, height=20)
    row = watch()
    assert read() == 0
    row.refresh_from_db()
    assert (row.read_at, row.from_height, ChainMovement.objects.count()) == (NOW, 20, 0)


def test_what_waits_when_watching_begins_is_a_movement(ledger, watch):
    ledger.came(1, height=None)
    watch()
    assert read() == 1
    assert ChainMovement.objects.get().height is None


def test_a_spending_is_an_incident_of_its_own_and_receiving_is_one_for_the_address(ledger, watch):
    row = watch()
    for number in (1, 2):
        ledger.came(number, height=21)
    for number in (3, 4):
        ledger.came(number, height=21, spends=True)
    assert read() == 4
    spent = ChainMovement.objects.filter(spends=True).order_by("pk")
    assert [each.change_sat for each in spent] == [-50_000_000, -50_000_000]
    causes = {(kinds.RECEIVED, row.subject), *((kinds.SPENT, each.subject) for each in spent)}
    assert set(waiting()) == causes
    received = Incident.objects.get(kind=kinds.RECEIVED)
    assert received.sentence.startswith("2 transactions paid 2.0000 BCH to the watched address Vault (latest: eeeeeeee")
    assert received.url == f"/chain/watched/{row.pk}/"


def test_nothing_is_seen_or_alarmed_twice(ledger, watch):
    watch()
    ledger.came(1, height=None, spends=True)
    assert read() == 1
    assert read() == 0, "it is not due"
    ledger.listed[0] |= {"blockhash": rows.h(21), "blockheight": 21}
    assert read(LATER) == 0
    review.review_now(*(kind.name for kind in kinds.KINDS), now=LATER)
    movement = ChainMovement.objects.get()
    assert (movement.height, len(waiting())) == (21, 1)


def test_a_movement_and_its_incident_are_written_together(ledger, watch, monkeypatch):
    watch()
    ledger.came(1, height=21, spends=True)
    monkeypatch.setattr(reading.review, "review_now", lambda *names, **_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        read()
    monkeypatch.undo()
    assert ChainMovement.objects.count() == 0
    assert read(LATER) == 1, "it is found again"
    assert len(waiting()) == 1


def test_everything_new_is_read_however_many_pages_it_takes(ledger, watch):
    watch()
    for number in range(35):
        ledger.came(number, height=21 + number // 10)
    assert read() == 35
    assert [path for path in ledger.calls if "page=" in path] == [
        f"/address/transactions/{OURS.cash_address.replace(':', '%3A')}?page={page}" for page in (1, 2, 3)
    ]


def test_a_reading_goes_back_to_what_is_buried_and_no_further(ledger, watch):
    row = watch()
    for number in range(15):
        ledger.came(number, height=21)
    read()
    rows.tip(60, at=LATER)
    read(LATER)
    row.refresh_from_db()
    assert row.settled_height == 50
    ledger.calls.clear()
    ledger.came(99, height=58)
    assert read(LATER + timedelta(minutes=1)) == 1
    assert ledger.calls == ["/address/transactions", "/address/details"], "one page is enough"


def test_an_unfinished_reading_says_so_and_settles_nothing(ledger, watch, monkeypatch):
    row = watch()
    monkeypatch.setattr(reading, "MOST_PAGES", 2)
    for number in range(25):
        ledger.came(number, height=21)
    assert read() == 20
    row.refresh_from_db()
    assert (row.read_at, row.settled_height) == (None, 20)
    assert row.last_problem == "There are more than 20 new transactions; the oldest were not synced."
    assert not ChainMovement.objects.filter(is_missing=True).exists()


def test_what_leaves_the_chain_is_said_and_comes_back(ledger, watch):
    watch()
    ledger.came(1, height=21, spends=True)
    read()
    gone, ledger.listed = ledger.listed, []
    read(LATER)
    assert ChainMovement.objects.get().is_missing
    ledger.listed = gone
    read(LATER + timedelta(minutes=1))
    assert (ChainMovement.objects.get().is_missing, ChainMovement.objects.get().height) == (False, 21)


def test_one_bad_answer_of_many_is_asked_for_by_itself(ledger, watch):
    watch()
    ledger.bulk = False
    ledger.came(1, height=21)
    assert read() == 1


def test_a_service_that_is_away_is_said_and_becomes_an_incident(ledger, watch, service):
    row = watch()
    service.respond = lambda path, body: (503, b'{"error":"away"}')
    read()
    row.refresh_from_db()
    assert "No data from the chain-data service at the moment" in row.last_problem
    late = NOW + kinds.UNREAD_AFTER + timedelta(seconds=1)
    review.review_now(kinds.UNREAD, now=late)
    assert waiting() == [(kinds.UNREAD, row.subject)]


def test_a_review_ends_the_incident_and_names_who_and_why(ledger, watch, operator):
    row = watch()
    ledger.came(1, height=21, spends=True)
    read()
    movement = ChainMovement.objects.get()
    requests.review_movements(
        watched_id=row.pk, movement_id=movement.pk, reason=" Paid to the auditor. ", person=operator, now=LATER
    )
    movement.refresh_from_db()
    assert (movement.state, movement.reason) == (states.REVIEWED, "Paid to the auditor.")
    assert waiting() == []
    event = AuditEvent.objects.filter(action="chain-movement.reviewed").get()
    assert (event.actor, event.after["reason"]) == (operator, "Paid to the auditor.")
    with pytest.raises(requests.CannotWatch, match="Already reviewed"):
        requests.review_movements(watched_id=row.pk, movement_id=movement.pk, reason="x", person=operator, now=LATER)
    assert replayed() == []


def test_all_that_was_received_is_reviewed_at_once_and_what_was_spent_is_not(ledger, watch, operator):
    row = watch()
    ledger.came(1, height=21)
    ledger.came(2, height=21)
    ledger.came(3, height=21, spends=True)
    read()
    assert (
        requests.review_movements(watched_id=row.pk, movement_id=None, reason="Ours.", person=operator, now=LATER) == 2
    )
    assert [kind for kind, _ in waiting()] == [kinds.SPENT]


@pytest.mark.parametrize("reason", ["", "  ", "x" * 501])
def test_a_review_without_a_reason_changes_nothing(ledger, watch, operator, reason):
    row = watch()
    ledger.came(1, height=21)
    read()
    with pytest.raises(requests.CannotWatch, match="Enter a reason"):
        requests.review_movements(watched_id=row.pk, movement_id=None, reason=reason, person=operator, now=LATER)
    assert ChainMovement.objects.get().state == states.TO_REVIEW


def test_a_stopped_address_is_not_read_and_its_movements_still_wait(ledger, watch, make_person):
    row = watch()
    ledger.came(1, height=21)
    read()
    boss = make_person("admin", username="boss")
    requests.stop(watched_id=row.pk, reason="Sold.", person=boss, now=LATER)
    ledger.came(2, height=22)
    assert read(LATER + timedelta(minutes=5)) == 0
    assert [kind for kind, _ in waiting()] == [kinds.RECEIVED]
    with pytest.raises(requests.CannotWatch, match="no longer watched"):
        requests.stop(watched_id=row.pk, reason="Again.", person=boss, now=LATER)


def test_one_address_is_watched_once_in_whichever_form_and_again_after_it_was_stopped(ledger, watch, make_person):
    row = watch()
    boss = make_person("treasury", username="boss")
    with pytest.raises(requests.CannotWatch, match="already watched as Vault"):
        watch(address=OURS.legacy_address, title="Other", person=boss)
    requests.stop(watched_id=row.pk, reason="Sold.", person=boss, now=LATER)
    assert watch(address=OURS.legacy_address, title="Other", person=boss).address == row.address


@pytest.mark.parametrize("role", ["operator", "auditor"])
def test_only_treasury_and_administrators_decide_what_is_watched(watch, make_person, role):
    with pytest.raises(requests.CannotWatch, match="Only treasury"):
        watch(person=make_person(role, username="somebody"))


def test_somebody_of_one_account_decides_nothing_about_the_desk(ledger, watch, make_person):
    row = watch()
    limited = make_person("treasury", username="limited", limits=" treasury:1 ")
    with pytest.raises(requests.CannotWatch):
        requests.stop(watched_id=row.pk, reason="Sold.", person=limited, now=LATER)
    with pytest.raises(requests.CannotWatch):
        requests.review_movements(watched_id=row.pk, movement_id=None, reason="Ours.", person=limited, now=LATER)


def test_nothing_is_watched_while_the_chain_is_not_read(make_person):
    words = {"address": OURS.cash_address, "title": "Vault", "purpose": "reserve", "note": ""}
    with pytest.raises(requests.CannotWatch, match="No chain data at the moment"):
        requests.watch(**words, person=make_person("treasury"), now=NOW)


def test_own_addresses_are_ours_on_every_page_and_those_of_others_are_not(watch, make_person):
    row = watch()
    assert owned_addresses.owners(addresses=[row.address]) == {row.address: "watched address Vault"}
    requests.stop(watched_id=row.pk, reason="x", person=make_person("admin"), now=LATER)
    assert owned_addresses.owners(addresses=[row.address]) == {}


@pytest.mark.engine("guards: what the database refuses")
@pytest.mark.parametrize(
    "change",
    [
        "UPDATE chaindata_chainmovement SET state = 'reviewed', reason = 'x'",
        "UPDATE chaindata_chainmovement SET change_sat = 0",
        "DELETE FROM chaindata_chainmovement",
        "UPDATE chaindata_watchedaddress SET state = 'stopped'",
        "UPDATE chaindata_watchedaddress SET address = 'x'",
        "UPDATE chaindata_watchedaddress SET settled_height = 1",
    ],
)
def test_the_database_refuses_what_no_person_decided(ledger, watch, change):
    watch()
    ledger.came(1, height=21)
    read()
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(change)


def test_the_trail_tells_the_same_as_the_rows(ledger, watch, make_person):
    row = watch()
    ledger.came(1, height=21)
    read()
    assert replayed() == []
    assert trail.head() != trail.NO_HEAD
    assert row.subject in set(AuditEvent.objects.values_list("subject", flat=True))
