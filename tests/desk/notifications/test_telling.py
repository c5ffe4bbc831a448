"""Who is told of what and when: once, in turns, never as an approver of their own, and never what is over already."""

import json
from datetime import timedelta
from decimal import Decimal
from types import SimpleNamespace

import pytest

from desk.models import Person
from desk.notifications import delivering, finding, messages
from desk.notifications.models import Delivery, Notification, Recipient
from desk.personal.models import PersonalSettings
from tests.desk.notifications.keeping import NOW, Waits, chosen, mailed, minutes, place, quiet, stages, turn

pytestmark = pytest.mark.django_db


@pytest.fixture
def waits(monkeypatch):
    found = Waits()
    place(monkeypatch, found)
    return found


@pytest.fixture
def treasurers(make_person):
    people = [make_person("treasury", username=name) for name in ("ada", "ben", "cleo")]
    for person in people:
        person.email = f"{person.username}@desk.test"
        person.save()
    return people


def names(people):
    return sorted(person.username for person in people)


def test_a_message_has_the_facts_and_what_happens_if_nobody_acts(waits, treasurers, make_person):
    olga = make_person("operator", username="olga")
    waits.rows["payout:1"] = SimpleNamespace(
        amount=Decimal("0.0300"),
        currency="BTC",
        quote_value=Decimal("2850.0049"),
        quote_currency="USD",
        address="bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwff3t4",
        initiator=olga,
    )
    waits.facts["payout:1"] = {"fingerprint": "zoo zoo zoo zoo"}
    waits.deciders["payout:1"], waits.deadlines["payout:1"] = treasurers[:1], NOW + minutes(53)
    PersonalSettings.objects.create(person=treasurers[0], zone="Europe/Vienna")
    finding.notify_due(now=NOW)
    row, reader = Notification.objects.get(), Person.objects.get(pk=treasurers[0].pk)
    first = "Approve: 0.03 BTC (≈ 2,850.00 USD) to bc1q…f3t4, requested by olga (W-1)"
    assert messages.mail(row, reader).startswith(f"{first}\n")
    assert "If nobody decides by 15:53 UTC+1, the funds are released and the request expires." in messages.mail(
        row, reader
    )
    assert "If nobody decides by 14:53 UTC, the funds" in messages.chat(row)
    assert first in json.loads(messages.chat(row))["text"]
    words = "Fingerprint: zoo zoo zoo zoo. If the page shows other words, the request has changed since this message."
    assert f"\n{words}\n" in messages.mail(row, reader)
    assert words in json.loads(messages.chat(row))["text"]
    facts = json.loads(messages.webhook(row))["data"]["facts"]
    assert (facts["amount"], facts["value"], facts["recipient"][:4]) == ("0.03", "2850.0049", "bc1q")
    assert messages.subject(row) == "[Countersign] Approve: payout (W-1)", "a locked screen shows it"
    waits.deciders.clear()
    waits.over["payout:1"] = ("released", "System")
    finding.notify_due(now=NOW + minutes(54))
    over = Notification.objects.get(stage="ended")
    assert messages.mail(over, reader).startswith("Released: W-1, 0.03 BTC\n")
    assert "Fingerprint" not in messages.mail(over, reader)


def test_several_mails_within_a_minute_are_one(waits, treasurers):
    for number in range(58):
        waits.deciders[f"payout:{number}"] = treasurers[:1]
        finding.notify_due(now=NOW + timedelta(seconds=number))
        delivering.sweep(now=NOW + timedelta(seconds=number))
    for second in range(58, 130, 3):
        finding.notify_due(now=NOW + timedelta(seconds=second))
        delivering.sweep(now=NOW + timedelta(seconds=second))
    sent = list(Delivery.objects.filter(state="delivered").order_by("pk"))
    assert len(sent) == 3, "the first at once, then one a minute"
    assert [row.notification.title for row in sent] == ["Payout", "53 updates", "4 updates"]
    assert all(f"(W-{number})" in sent[1].content + sent[2].content for number in range(1, 58))
    assert not Delivery.objects.filter(state="queued").exists()


def test_whoever_can_decide_is_told_once_however_often_the_desk_looks(waits, treasurers):
    waits.deciders["payout:1"] = treasurers[:2]
    assert [finding.notify_due(now=NOW + minutes(at)) for at in range(3)] == [1, 0, 0]
    assert mailed() == names(treasurers[:2])
    row = Notification.objects.get()
    assert (row.reference, row.url, row.kind, row.severity) == ("W-1", "/withdrawals/1/", "approvals", "")


def test_another_phase_of_the_same_subject_is_told_anew_and_nobody_hears_that_the_first_is_over(waits, treasurers):
    waits.deciders["payout:1"] = treasurers
    waits.phases["payout:1"] = "review"
    finding.notify_due(now=NOW)
    waits.phases["payout:1"] = "held"
    finding.notify_due(now=NOW + minutes(1))
    assert stages() == [("payout:1", "opened"), ("payout:1", "opened")]


def test_later_turns_are_told_at_twenty_and_at_twelve_minutes(waits, treasurers):
    waits.deciders["payout:1"] = treasurers
    waits.deadlines["payout:1"] = NOW + minutes(53)
    turn(treasurers[1], 2)
    turn(treasurers[2], 3)
    for at in range(53):
        finding.notify_due(now=NOW + minutes(at))
    assert [stage for _, stage in stages()] == ["opened", "escalated", "everybody"]
    assert mailed("opened") == names(treasurers[:1])
    assert mailed("escalated") == names(treasurers[:2])
    assert mailed("everybody") == names(treasurers)
    at = dict(Notification.objects.values_list("stage", "created_at"))
    assert (at["escalated"], at["everybody"]) == (NOW + minutes(33), NOW + minutes(41))


def test_the_earliest_turn_there_is_is_told_where_nobody_has_the_first(waits, treasurers):
    waits.deciders["payout:1"] = treasurers[1:]
    turn(treasurers[1], 2)
    turn(treasurers[2], 3)
    finding.notify_due(now=NOW)
    assert mailed() == names(treasurers[1:2])


def test_what_comes_up_late_is_told_once_and_what_is_past_its_time_not_at_all(waits, treasurers):
    waits.deciders = {"payout:1": treasurers, "payout:2": treasurers}
    waits.deadlines = {"payout:1": NOW + minutes(10), "payout:2": NOW}
    assert finding.notify_due(now=NOW) == 1
    assert stages() == [("payout:1", "everybody")]


def test_what_the_desk_ended_is_told_once_to_whoever_heard_of_it(waits, treasurers):
    waits.deciders["payout:1"] = treasurers[:2]
    finding.notify_due(now=NOW)
    waits.deciders.clear()
    waits.over["payout:1"] = ("released", "System")
    assert [finding.notify_due(now=NOW + minutes(at)) for at in (50, 51)] == [1, 0]
    assert stages() == [("payout:1", "opened"), ("payout:1", "ended")]
    assert mailed("ended") == names(treasurers[:2])
    assert Notification.objects.get(stage="ended").outcome == "released"


def test_what_a_person_decided_needs_no_message(waits, treasurers):
    waits.deciders["payout:1"] = treasurers
    finding.notify_due(now=NOW)
    waits.deciders.clear()
    waits.over["payout:1"] = ("approved", treasurers[0].username)
    assert finding.notify_due(now=NOW + minutes(1)) == 0


def test_a_night_without_approvers_leaves_one_message_for_the_morning(waits, treasurers):
    quiet(treasurers[0], 22, 7)
    night = NOW.replace(hour=23)
    waits.deciders["payout:1"] = treasurers[:1]
    waits.deadlines["payout:1"] = night + minutes(53)
    for at in range(0, 53, 2):
        finding.notify_due(now=night + minutes(at))
    waits.deciders.clear()
    waits.over["payout:1"] = ("released", "System")
    finding.notify_due(now=night + minutes(54))
    unsent = Delivery.objects.get(state="queued")
    assert unsent.notification.stage == "ended"
    assert unsent.next_action_at == NOW.replace(day=21, hour=7)
    assert set(Delivery.objects.exclude(pk=unsent.pk).values_list("state", flat=True)) == {"dropped"}


def test_a_choice_is_kept_until_time_is_nearly_over(waits, treasurers):
    chosen(treasurers[0], "approvals", by_email=False, in_browser=False)
    waits.deciders["payout:1"] = treasurers[:1]
    waits.deadlines["payout:1"] = NOW + minutes(53)
    finding.notify_due(now=NOW)
    assert mailed() == []
    assert not Recipient.objects.get().in_browser
    finding.notify_due(now=NOW + minutes(42))
    assert mailed("everybody") == names(treasurers[:1])


def test_what_was_nobodys_for_a_while_is_not_told_twice(waits, treasurers):
    waits.deciders["payout:1"] = treasurers[:1]
    finding.notify_due(now=NOW)
    waits.deciders["payout:1"] = []
    finding.notify_due(now=NOW + minutes(1))
    waits.deciders["payout:1"] = treasurers[:1]
    finding.notify_due(now=NOW + minutes(2))
    assert stages() == [("payout:1", "opened")]
    assert Notification.objects.get().ended_at is None


def test_what_was_dropped_meanwhile_is_sent_when_it_comes_back(waits, treasurers):
    waits.deciders["payout:1"] = treasurers[:1]
    finding.notify_due(now=NOW)
    waits.deciders["payout:1"] = []
    finding.notify_due(now=NOW + minutes(1))
    assert Delivery.objects.get().state == "dropped"
    waits.deciders["payout:1"] = treasurers[:1]
    finding.notify_due(now=NOW + minutes(2))
    row = Delivery.objects.get()
    assert (row.state, row.next_action_at) == ("queued", NOW + minutes(2))


def test_a_look_ends_nothing_that_another_process_told_while_it_looked(waits, treasurers, monkeypatch):
    looking = finding._waiting

    def slow(people, now):
        found = looking(people, now)
        monkeypatch.setattr(finding, "_waiting", looking)
        waits.deciders["payout:1"] = treasurers[:1]
        finding.notify_due(now=now)
        return found

    monkeypatch.setattr(finding, "_waiting", slow)
    assert finding.notify_due(now=NOW) == 0
    assert Notification.objects.get().ended_at is None
    assert Delivery.objects.get().state == "queued"


def test_who_was_asked_before_it_came_up_is_told_as_well(waits, treasurers, monkeypatch):
    of_person = waits.subjects_of

    def subjects_of(person):
        if person == treasurers[-1]:
            waits.deciders["payout:1"] = treasurers  # held while it is found out whom it concerns
        return of_person(person)

    monkeypatch.setattr(waits, "subjects_of", subjects_of)
    assert finding.notify_due(now=NOW) == 1
    assert mailed() == names(treasurers)


def test_somebody_who_was_deactivated_is_told_nothing(waits, treasurers):
    waits.deciders["payout:1"] = treasurers[:1]
    treasurers[0].is_active = False
    treasurers[0].save()
    assert finding.notify_due(now=NOW) == 0
