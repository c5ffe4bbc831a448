"""Giving somebody a role at some accounts only, from the invitation to the second administrator's word."""

from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client

from desk import audit_check, clock
from desk.models import AuditEvent, Person
from desk.people import scopes
from desk.staff import changes, invitations, rules, states
from desk.staff.models import PersonChange
from exchange_ops.withdrawals.decisions import approvals
from exchange_ops.withdrawals.models import Withdrawal
from tests.desk.staff import keeping
from tests.desk.staff.keeping import answer_at
from tests.exchange_ops import rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def no_demo(settings):
    settings.DEMO = False


@pytest.fixture
def admins(limited):
    return limited("admin", username="one-admin"), limited("admin", username="two-admin")


@pytest.fixture
def door(admins):
    client = Client()
    client.force_login(admins[0])
    return client


def code_of(step=0):
    return {"code": answer_at(step)["code"]}


def changed_to(person, wanted, admins, step=0):
    row = keeping.requested(states.ROLES, person, admins[0], answer_at(step), grants=wanted)
    return keeping.confirmed(row, admins[1], answer_at(step))


def test_an_invitation_takes_accounts_for_each_role(no_demo, first, second, door, admins):
    page = door.get("/people/invite/").content.decode()
    assert f'value="treasury:{second.pk}"' in page
    typed = {"name": "newcomer", "email": "n@firm.test", "roles": ["operator", f"treasury:{second.pk}"]}
    page = door.post("/people/invite/", typed).content.decode()
    assert "Treasury for Second desk only" in page
    digest = invitations.digest_of(name="newcomer", email="n@firm.test", grants=sorted(typed["roles"]))
    made = door.post("/people/invite/", {**typed, "digest": digest, "purpose": "invite-person", **code_of()})
    assert made.status_code == 302
    person, row = Person.objects.get(username="newcomer"), PersonChange.objects.get()
    assert (person.grants, row.wanted_in_words) == ([], ["operator", "treasury for Second desk only"])
    page = door.get(f"/people/{person.pk}/").content.decode()
    assert "operator, treasury for Second desk only" in page
    keeping.confirmed(row, admins[1], answer_at(0))
    person = Person.objects.get(pk=person.pk)
    assert person.grants == ["operator", f"treasury:{second.pk}"]
    assert person.has_role("treasury", scope=str(second.pk))
    assert not person.has_role("treasury", scope=str(first.pk))
    assert "Treasury for Second desk only" in door.get("/people/").content.decode()
    assert f"treasury:{second.pk}" in AuditEvent.objects.filter(action="change.requested").get().after["wanted"]


def test_the_page_of_a_change_says_what_is_held_where(no_demo, first, second, door, limited):
    person = limited("treasury", username="them")
    page = door.get(f"/people/{person.pk}/change/roles/?role=treasury:{second.pk}&role=operator").content.decode()
    assert "Current roles" in page
    assert "Treasury for Second desk only" in page
    assert "Will get" in page
    assert "Will lose" not in page


@pytest.mark.usefixtures("no_demo")
def test_an_account_is_lost_with_its_words_and_at_once(first, second, limited, operator, admins):
    now, person = clock.now(), limited("treasury", username="them")
    row = rows.held(operator, now=now, account=first, amount=Decimal(30))
    signed = {"withdrawal_id": row.pk, "digest": row.digest, "comment": "", "session_key": "s"}
    approvals.approve(person=person, answer=answer_at(0), now=now, **signed)
    changed_to(person, [f"treasury:{second.pk}"], admins)
    assert approvals.current(Withdrawal.objects.get()).count() == 0
    changed_to(person, ["treasury"], admins, step=1)
    assert approvals.current(Withdrawal.objects.get()).count() == 0  # what was void stays void


@pytest.mark.usefixtures("no_demo", "second")
def test_more_accounts_void_no_word(first, limited, operator, admins):
    now, person = clock.now(), limited("treasury", first, username="them")
    row = rows.held(operator, now=now, account=first, amount=Decimal(30))
    signed = {"withdrawal_id": row.pk, "digest": row.digest, "comment": "", "session_key": "s"}
    approvals.approve(person=person, answer=answer_at(0), now=now, **signed)
    changed_to(person, ["treasury"], admins)
    assert approvals.current(Withdrawal.objects.get()).count() == 1


@pytest.mark.parametrize(
    ("wanted", "problem"),
    [
        (["treasury:999"], "Account not found"),
        (["treasury:"], "Account not found"),
        (["treasury:1x"], "Account not found"),
        (["treasury", "treasury:{first}"], "either all accounts or specific accounts"),
        (["admin:{first}", "treasury:{second}"], "can't move money"),
        (["auditor:{first}", "operator"], "can't be combined"),
        (["boss:{first}"], "Unknown role"),
    ],
)
def test_what_nobody_can_be_made(wanted, problem, first, second):
    assert problem in rules.role_problem([each.format(first=first.pk, second=second.pk) for each in wanted])


def test_an_admin_of_some_accounts_keeps_no_people(no_demo, first, second, limited):
    keeper, person = limited("admin", first, username="some"), limited("operator", username="them")
    with pytest.raises(changes.CannotChange, match="Only active administrators"):
        keeping.requested(states.ROLES, person, keeper, answer_at(0), grants=["treasury"])
    client = Client()
    client.force_login(keeper)
    assert client.get("/people/").status_code == 403
    assert client.get(f"/accounts/{first.pk}/keys/").status_code == 200


def test_the_last_admin_of_the_whole_desk_stays_one(no_demo, first, second, limited):
    last = limited("admin", username="last")
    limited("admin", first, username="some")
    with pytest.raises(changes.CannotChange, match="at least one administrator must remain"):
        rules.refuse_last_admin(last)


def test_a_change_of_accounts_alone_is_a_change(no_demo, first, second, limited, admins):
    person = limited("treasury", first, username="them")
    assert rules.obstacle(states.ROLES, person, [f"treasury:{first.pk}"], now=clock.now())
    assert not rules.obstacle(states.ROLES, person, [f"treasury:{second.pk}"], now=clock.now())
    row = keeping.requested(states.ROLES, person, admins[0], answer_at(0), grants=[f"treasury:{second.pk}"])
    scopes.set_grants(person, ["treasury"])  # somebody changed them in between
    with pytest.raises(changes.CannotChange, match="has changed since the request"):
        keeping.confirmed(row, admins[1], answer_at(0))


def test_one_account_alone_offers_no_choice(no_demo, first, door):
    page = door.get("/people/invite/").content.decode()
    assert "Every account" not in page
    assert 'value="treasury"' in page


@pytest.mark.django_db(transaction=True)
def test_limits_are_witnessed_with_the_person(first, second, limited):
    person = limited("treasury", first, username="them")
    scopes.set_grants(person, [f"treasury:{second.pk}"])
    assert audit_check.verify(replay=True) == []
    with connection.cursor() as cursor:
        cursor.execute("UPDATE desk_person SET limits = '' WHERE id = %s", [person.pk])
    found = audit_check.verify(replay=True)
    assert any("limits" in sentence for sentence in found), found
