"""Incidents follow their causes: opened once, cleared when they are gone, closed by a person only with a reason."""

import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, transaction

from desk import clock, rooms
from desk.audit import trail
from desk.incidents import closings, decisions, queries, review
from desk.incidents.kinds import Cause, Kind, Severity
from desk.incidents.models import Incident, IncidentEvent
from desk.models import AuditEvent
from desk.people import roles, stepup, totp
from desk.people.stepup import CannotConfirm
from tests.desk.authenticator import SoftKey
from tests.desk.staff.keeping import SECRET, answer_at

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 20, 14, 0, tzinfo=UTC)


class Wrong:
    """What is wrong, as the test says."""

    def __init__(self):
        self.causes = {}

    def __call__(self, now, only):
        return [Cause(key, text, "healthz") for key, text in self.causes.items() if only in ("", key)]


@pytest.fixture
def wrong(monkeypatch):
    found = Wrong()
    kind = Kind("pump-leaks", "Pump leaks", Severity.HIGH, (roles.TREASURY,), found)
    monkeypatch.setattr(rooms, "_declared", [*rooms._declared, rooms.Room(incidents=(kind,))])
    monkeypatch.setattr(rooms, "incidents", lambda: [kind])
    return found


def only():
    return Incident.objects.get()


def events():
    return list(IncidentEvent.objects.order_by("pk").values_list("event", flat=True))


def test_a_cause_opens_one_incident_however_often_it_is_looked_at(wrong):
    wrong.causes["pump:1"] = "Pump 1 leaks."
    assert [review.review(now=NOW) for _ in range(3)] == [1, 0, 0]
    row = only()
    assert (row.state, row.severity, row.sentence, row.title) == ("open", "high", "Pump 1 leaks.", "Pump leaks")
    assert events() == ["opened"]
    assert AuditEvent.objects.get().action == "incident.opened"


def test_it_is_cleared_when_the_cause_is_gone_and_opened_anew_when_it_comes_back(wrong):
    wrong.causes["pump:1"] = "Pump 1 leaks."
    review.review(now=NOW)
    wrong.causes.clear()
    review.review(now=NOW + timedelta(minutes=1))
    row = only()
    assert (row.state, row.gone_at) == ("resolved", NOW + timedelta(minutes=1))
    wrong.causes["pump:1"] = "Pump 1 leaks again."
    review.review(now=NOW + timedelta(minutes=2))
    assert list(Incident.objects.order_by("pk").values_list("state", flat=True)) == ["resolved", "open"]


def test_what_a_person_closed_is_not_opened_again_while_its_cause_goes_on(wrong, make_person):
    treasurer = make_person("treasury")
    wrong.causes["pump:1"] = "Pump 1 leaks."
    review.review(now=NOW)
    decisions.close(incident_id=only().pk, person=treasurer, reason="A bucket stands below it.", now=NOW)
    review.review(now=NOW)
    assert (only().state, only().gone_at, only().reason) == ("resolved", None, "A bucket stands below it.")
    wrong.causes.clear()
    review.review(now=NOW)
    assert only().gone_at == NOW
    wrong.causes["pump:1"] = "Pump 1 leaks."
    review.review(now=NOW)
    assert Incident.objects.count() == 2
    assert events() == ["opened", "closed", "gone", "opened"]


def test_it_is_taken_on_handed_back_and_cleared_all_the_same(wrong, make_person):
    one, other = make_person("treasury", username="one"), make_person("treasury", username="other")
    wrong.causes["pump:1"] = "Pump 1 leaks."
    review.review(now=NOW)
    decisions.acknowledge(incident_id=only().pk, person=one, now=NOW)
    assert only().taken_by == one
    assert list(queries.waiting_for(one)) == [only()]
    assert list(queries.waiting_for(other)) == []
    with pytest.raises(decisions.CannotDecide, match="already assigned to"):
        decisions.acknowledge(incident_id=only().pk, person=other, now=NOW)
    decisions.hand_back(incident_id=only().pk, person=other, now=NOW)
    assert only().taken_by is None
    decisions.acknowledge(incident_id=only().pk, person=other, now=NOW)
    wrong.causes.clear()
    review.review(now=NOW)
    assert events() == ["opened", "acknowledged", "handed_back", "acknowledged", "cleared"]


@pytest.mark.parametrize("role", ["operator", "admin", "auditor"])
def test_only_those_whom_the_kind_names_act_on_it(wrong, make_person, role):
    wrong.causes["pump:1"] = "Pump 1 leaks."
    review.review(now=NOW)
    person = make_person(role)
    for act in (decisions.acknowledge, decisions.hand_back):
        with pytest.raises(decisions.CannotDecide, match="Only treasury"):
            act(incident_id=only().pk, person=person, now=NOW)
    with pytest.raises(decisions.CannotDecide, match="Only treasury"):
        decisions.close(incident_id=only().pk, person=person, reason="Because.", now=NOW)
    assert (only().state, only().version) == ("open", 1)


def close_critical(person, answer, **other):
    columns = {"reason": "A bucket stands below it.", "digest": closings.digest_of(only()), "now": clock.now()}
    return decisions.close(incident_id=only().pk, person=person, answer=answer, session_key="s", **columns | other)


def critical(monkeypatch, *, by_two):
    kind = Kind(
        "pump-bursts",
        "Pump burst",
        Severity.CRITICAL,
        (roles.TREASURY,),
        lambda now, only: [Cause("pump:1", "Pump 1 burst.", "healthz")],
        by_two=by_two,
    )
    monkeypatch.setattr(rooms, "incidents", lambda: [kind])
    review.review(now=clock.now())


def test_a_critical_one_is_closed_with_a_second_factor_alone(monkeypatch, make_person):
    critical(monkeypatch, by_two=False)
    tina = make_person("treasury")
    totp.enrol(tina, SECRET)
    for answer, words in (({}, "passkey or a one-time code"), ({"kind": "totp", "code": "000000"}, "Incorrect code")):
        with pytest.raises(CannotConfirm, match=words):
            close_critical(tina, answer)
    with pytest.raises(decisions.CannotDecide, match="Enter a reason"):
        close_critical(tina, answer_at(0), reason=" ")
    assert close_critical(tina, answer_at(0)).state == "resolved"
    assert "step_up" in AuditEvent.objects.get(action="incident.closed").after["evidence"]


def test_one_about_money_is_closed_by_two(monkeypatch, make_person):
    critical(monkeypatch, by_two=True)
    tina, timo = make_person("treasury", username="tina"), make_person("treasury", username="timo")
    for person in (tina, timo):
        totp.enrol(person, SECRET)
    assert close_critical(tina, answer_at(0)).state == "open"
    assert only().pk not in queries.waiting_for(tina).values_list("pk", flat=True)
    assert only().pk in queries.waiting_for(timo).values_list("pk", flat=True)
    with pytest.raises(decisions.CannotDecide, match="A second person"):
        close_critical(tina, answer_at(1))
    tina.is_active = False
    tina.save(update_fields=["is_active"])
    assert closings.first_of(only()) is None, "the word of somebody who may not act any more counts no more"
    tina.is_active = True
    tina.save(update_fields=["is_active"])
    assert closings.first_of(only()).reason == "A bucket stands below it."
    assert close_critical(timo, answer_at(0)).state == "resolved"


def test_the_reason_is_signed(monkeypatch, make_person):
    critical(monkeypatch, by_two=True)
    tina, key = make_person("treasury", username="tina"), SoftKey()
    key.enrol(tina)
    signed_digest = closings.signed_digest(only(), "A bucket stands below it.")
    terms = {"purpose": closings.PURPOSE, "digest": signed_digest, "session_key": "s", "now": clock.now()}
    answer = key.answer(stepup.challenge(person=tina, **terms))
    with pytest.raises(CannotConfirm, match="does not match the page"):
        close_critical(tina, answer, reason="It is dry.")
    assert closings.first_of(only()) is None
    close_critical(tina, answer)
    assert closings.first_of(only()).reason == "A bucket stands below it."


def test_a_first_finding_of_before_an_upgrade_counts_as_one_of_two(monkeypatch, make_person):
    """Earlier versions signed the incident alone, without the reason."""
    critical(monkeypatch, by_two=True)
    tina, timo = make_person("treasury", username="tina"), make_person("treasury", username="timo")
    for person in (tina, timo):
        totp.enrol(person, SECRET)
    with transaction.atomic():
        terms = {"purpose": closings.PURPOSE, "digest": closings.digest_of(only()), "session_key": "s"}
        factor = stepup.verify(person=tina, answer=answer_at(0), now=clock.now(), **terms)
        closings.keep(only(), "Dry.", confirmation=factor, session_key="s", now=clock.now())
    assert closings.first_of(only()).reason == "Dry."
    with pytest.raises(decisions.CannotDecide, match="A second person"):
        close_critical(tina, answer_at(1))
    assert close_critical(timo, answer_at(0)).state == "resolved"


@pytest.mark.parametrize("reason", ["", "  \n", "x" * 501])
def test_it_is_closed_with_a_reason_of_some_length_alone(wrong, make_person, reason):
    wrong.causes["pump:1"] = "Pump 1 leaks."
    review.review(now=NOW)
    with pytest.raises(decisions.CannotDecide, match=r"Enter a reason|up to 500 characters; this one is 501"):
        decisions.close(incident_id=only().pk, person=make_person("treasury"), reason=reason, now=NOW)
    assert only().state == "open"


def test_what_ends_elsewhere_is_not_closed_by_hand(monkeypatch, make_person):
    kind = Kind(
        "tap-runs",
        "Tap runs",
        Severity.HIGH,
        (roles.TREASURY,),
        lambda now, only: [Cause("tap:1", "The tap runs.", "healthz")],
        closable=False,
        ends="It ends when the tap is closed.",
    )
    monkeypatch.setattr(rooms, "incidents", lambda: [kind])
    review.review(now=NOW)
    with pytest.raises(decisions.CannotDecide, match="It ends when the tap is closed"):
        decisions.close(incident_id=only().pk, person=make_person("treasury"), reason="Enough.", now=NOW)


def test_its_sentence_is_said_anew_when_more_than_a_figure_changed(wrong):
    wrong.causes["pump:1"] = "Pump 1 leaks for 5 s."
    review.review(now=NOW)
    wrong.causes["pump:1"] = "Pump 1 leaks for 8 s."
    review.review(now=NOW)
    assert only().sentence == "Pump 1 leaks for 5 s."
    wrong.causes["pump:1"] = "Pump 1 leaks and smokes for 11 s."
    review.review(now=NOW)
    assert only().sentence == "Pump 1 leaks and smokes for 11 s."
    assert only().version == 1


def test_a_kind_that_can_not_be_looked_at_changes_nothing(wrong, monkeypatch):
    wrong.causes["pump:1"] = "Pump 1 leaks."
    review.review(now=NOW)
    monkeypatch.setattr(Wrong, "__call__", lambda self, now, only: 1 / 0)
    assert review.review(now=NOW) == 0
    assert only().state == "open"


def test_a_process_that_just_began_does_not_judge_what_settles(monkeypatch):
    kind = Kind(
        "cold",
        "Cold",
        Severity.MEDIUM,
        (roles.ADMIN,),
        lambda now, only: [Cause("cold", "It is cold.", "healthz")],
        grace_period=timedelta(days=365),
    )
    monkeypatch.setattr(rooms, "incidents", lambda: [kind])
    assert review.review(now=NOW) == 0
    assert not Incident.objects.exists()


def test_one_key_is_looked_at_alone(wrong):
    wrong.causes |= {"pump:1": "Pump 1 leaks.", "pump:2": "Pump 2 leaks."}
    review.review_now("pump-leaks", now=NOW, key="pump:2")
    assert only().cause == "pump:2"
    review.review(now=NOW)
    wrong.causes.clear()
    review.review_now("pump-leaks", now=NOW, key="pump:1")
    states = dict(Incident.objects.values_list("cause", "state"))
    assert states == {"pump:1": "resolved", "pump:2": "open"}


def test_the_gravest_comes_first_and_nobody_sees_what_is_not_for_them(monkeypatch, make_person):
    kinds = [
        Kind("a", "A", Severity.MEDIUM, (roles.ADMIN,), lambda now, only: [Cause("a", "A.", "healthz")]),
        Kind("b", "B", Severity.CRITICAL, (roles.ADMIN,), lambda now, only: [Cause("b", "B.", "healthz")]),
        Kind(
            "c",
            "C",
            Severity.HIGH,
            (roles.ADMIN,),
            lambda now, only: [Cause("c", "C.", "healthz")],
            sees=(roles.ADMIN, roles.AUDITOR),
        ),
    ]
    monkeypatch.setattr(rooms, "incidents", lambda: kinds)
    review.review(now=NOW)
    assert [row.kind for row in queries.unresolved(make_person("admin"))] == ["b", "c", "a"]
    assert [row.kind for row in queries.unresolved(make_person("operator"))] == ["b", "a"]
    assert [row.kind for row in queries.critical(make_person("auditor"))] == ["b"]
    assert not queries.waiting_for(make_person("auditor", username="reads")).exists()


@pytest.mark.django_db(transaction=True)
def test_many_reviews_at_once_open_it_once(wrong):
    wrong.causes["pump:1"] = "Pump 1 leaks."
    start, problems = threading.Barrier(4), []

    def look():
        try:
            start.wait(10)
            review.review(now=NOW)
        except Exception as problem:
            problems.append(problem)
        finally:
            connection.close()

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not problems
    assert only().version == 1


@pytest.mark.django_db(transaction=True)
def test_a_fact_and_somebody_who_acts_never_wait_for_each_other(wrong, make_person):
    """Both take the trail's turn before the incident: in the other order two of them stop each other for good."""
    from django.db import transaction

    treasurer = make_person("treasury")
    wrong.causes["pump:1"] = "Pump 1 leaks."
    review.review(now=NOW)
    number, problems = only().pk, []

    def fact():
        for turn in range(10):
            wrong.causes = {} if turn % 2 else {"pump:1": "Pump 1 leaks."}
            with transaction.atomic():
                trail.record(actor=None, action="pump.seen", subject="pump:1", before={}, after={}, now=NOW)
                review.review_now("pump-leaks", now=NOW)

    def person():
        for _ in range(10):
            for act in (decisions.acknowledge, decisions.hand_back):
                try:
                    act(incident_id=number, person=treasurer, now=NOW)
                except decisions.CannotDecide:
                    continue

    def run(work):
        try:
            work()
        except Exception as problem:
            problems.append(problem)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(work,)) for work in (fact, person, fact)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not problems
