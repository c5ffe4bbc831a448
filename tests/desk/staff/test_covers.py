"""Roles for some time, which cover for an absence: given like all others, gone by themselves at their end."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from desk import clock, rooms
from desk.audit import words
from desk.models import AuditEvent, Person
from desk.people import roles, scopes
from desk.staff import changes, covers, states
from desk.staff.models import PersonChange
from desk.staff.rules import CannotChange
from tests.desk.staff.keeping import confirmed, requested

pytestmark = pytest.mark.django_db
BOTH = ("operator", "treasury")


@pytest.fixture
def until():
    return clock.now() + timedelta(days=10)


def cover(admins, person, code, until, *, grants=BOTH):
    digest = changes.digest_of(Person.objects.get(pk=person.pk), states.ROLES, grants, until)
    return requested(states.ROLES, person, admins[0], code(), grants=grants, until=until, digest=digest)


@pytest.fixture
def covering(admins, make_person, code, until):
    """An operator who has treasury for ten days."""
    person = make_person("operator", username="olga")
    confirmed(cover(admins, person, code, until), admins[1], code())
    return Person.objects.get(pk=person.pk)


def holds(person, role):
    return Person.objects.filter(scopes.holding(role, ""), pk=person.pk).exists()


def test_the_roles_are_those_of_both_until_the_end_and_then_those_of_before(covering, until):
    Person.objects.filter(pk=covering.pk).update(unconfirmed_since=None)
    assert (covering.grants, covering.grants_until, covering.grants_after) == ([*BOTH], until, ["operator"])
    assert holds(covering, roles.TREASURY)
    assert covers.end_due(until - timedelta(seconds=1)) == 0
    assert covers.end_due(until) == 1
    assert covers.end_due(until) == 0
    after = Person.objects.get(pk=covering.pk)
    assert (after.grants, after.grants_until, after.grants_after) == (["operator"], None, None)
    assert after.session_epoch > covering.session_epoch, "signed out"
    assert after.words_from == until, "votes on what is open no longer count"
    event = AuditEvent.objects.get(action="person.roles_ended")
    assert (event.actor, event.before, event.after["roles"]) == (None, {"roles": "operator,treasury"}, "operator")
    assert words.telling([event]).sentence(event) == "System ended the temporary roles of olga."


def test_at_the_end_they_count_no_longer_though_nothing_took_them_back(covering, until, monkeypatch):
    Person.objects.filter(pk=covering.pk).update(unconfirmed_since=None)
    monkeypatch.setattr(clock, "now", lambda: until)
    assert (covering.grants, covering.has_role("treasury"), covering.has_role("operator")) == (
        ["operator"],
        False,
        True,
    )
    assert not holds(covering, roles.TREASURY)
    assert [group.name for group in covering.groups.order_by("name")] == [*BOTH]


def test_roles_for_an_account_come_back_as_they_were(admins, make_person, code, until, monkeypatch):
    monkeypatch.setattr(
        rooms, "_declared", [*rooms._declared, rooms.Room(scopes=lambda: [("1", "Main"), ("2", "Other")])]
    )
    person = make_person(username="olga")
    row = requested(states.ROLES, person, admins[0], code(), grants=["operator:1"])
    confirmed(row, admins[1], code())
    confirmed(cover(admins, person, lambda: code(1), until, grants=["operator"]), admins[1], code(1))
    assert Person.objects.get(pk=person.pk).limits == ""
    assert covers.end_due(until) == 1
    assert Person.objects.get(pk=person.pk).grants == ["operator:1"]


def test_a_later_change_of_roles_stands_for_good(covering, admins, code, until):
    row = requested(states.ROLES, covering, admins[0], code(1), grants=["treasury"])
    confirmed(row, admins[1], code(1))
    assert covers.end_due(until) == 0
    assert Person.objects.get(pk=covering.pk).grants == ["treasury"]


@pytest.mark.parametrize(
    "case",
    [
        (-1, BOTH, "must be in the future"),
        (93, BOTH, "up to 92 days"),
        (5, ("treasury",), "Only additional roles can have an end"),
        (5, ("admin", "operator"), "can't move money"),
    ],
)
def test_what_has_no_end_is_said(admins, make_person, code, case):
    days, grants, problem = case
    person = make_person("operator", username="olga")
    with pytest.raises(CannotChange, match=re.escape(problem)):
        cover(admins, person, code, clock.now() + timedelta(days=days), grants=grants)
    assert not PersonChange.objects.exists()


def test_the_second_administrator_confirms_exactly_this_end(admins, make_person, code, until):
    person = make_person("operator", username="olga")
    row = cover(admins, person, code, until)
    other = changes.digest_of(Person.objects.get(pk=person.pk), states.ROLES, BOTH, until + timedelta(days=1))
    with pytest.raises(CannotChange, match="changed since the request"):
        confirmed(row, admins[1], code(), digest=other)
    assert confirmed(row, admins[1], code()).state == states.DONE


def test_an_end_that_has_passed_meanwhile_is_not_confirmed(admins, make_person, code):
    person = make_person("operator", username="olga")
    soon = clock.now() + timedelta(hours=2)
    row = cover(admins, person, code, soon)
    with pytest.raises(CannotChange, match="must be in the future"):
        confirmed(row, admins[1], code(), now=soon)


def test_the_pages_say_until_when(admins, make_person, code, signed_in):
    day = (clock.now() + timedelta(days=9)).date()
    person = make_person("operator", username="olga")
    client, path = signed_in(admins[0]), f"/people/{person.pk}/change/roles/"
    chosen = {"role": list(BOTH), "last_day": day.isoformat()}
    review = client.get(path, chosen).content.decode()
    end = datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1)
    assert f"At {end:%Y-%m-%d} 00:00" in " ".join(review.split())
    digest = re.search(r'name="digest" value="(\w+)"', review)[1]
    made = client.post(
        path, {**chosen, "digest": digest, "reason": "Ada is away", "purpose": "change-person", **code()}
    )
    assert made.status_code == 302, made.content.decode()
    row = PersonChange.objects.get()
    assert row.until == end
    page = signed_in(admins[1]).get(f"/people/{person.pk}/").content.decode()
    assert "then the current roles again" in page
    confirmed(row, admins[1], code())
    assert f"until {end:%Y-%m-%d} 00:00" in " ".join(client.get("/people/").content.decode().split())


@pytest.mark.parametrize("text", ["tomorrow", "2026-13-01", "9999-12-31", "1"])
def test_a_day_that_is_none_changes_nothing(admins, make_person, signed_in, text):
    person = make_person("operator", username="olga")
    page = signed_in(admins[0]).get(f"/people/{person.pk}/change/roles/", {"role": list(BOTH), "last_day": text})
    assert page.status_code == 200
    assert "Enter the last day in the form" in page.content.decode() or "up to 92 days" in page.content.decode()
