"""Inviting, changing and switching off people: by whom, with whose word, and what ends with it."""

import re
import threading
from datetime import timedelta

import pytest
from allauth.mfa.models import Authenticator
from django.db import IntegrityError, connection, transaction

from desk import clock, rooms
from desk.models import AuditEvent, FactorChange, Person
from desk.people import factors, tokens, totp
from desk.people.stepup import CannotConfirm
from desk.staff import changes, directory, invitations, states
from desk.staff.models import Invitation, PersonChange
from desk.staff.rules import CannotChange
from tests.desk.staff.keeping import SECRET, confirmed, deactivated, requested

pytestmark = pytest.mark.django_db


def held(person):
    return Person.objects.get(pk=person.pk).roles


# Changes by two -------------------------------------------------------------------------------------------------------


def test_roles_change_when_a_second_admin_confirms_exactly_that(admins, make_person, code):
    first, second = admins
    person = make_person("operator", username="new")
    row = requested(states.ROLES, person, first, code(), grants=["treasury"])
    assert (row.state, held(person)) == (states.REQUESTED, {"operator"})
    with pytest.raises(CannotChange, match="you requested this change"):
        confirmed(row, first, code())
    before = Person.objects.get(pk=person.pk).session_epoch
    row = confirmed(row, second, code())
    assert (row.state, row.decided_by, held(person)) == (states.DONE, second, {"treasury"})
    after = Person.objects.get(pk=person.pk)
    assert after.session_epoch > before, "signed out everywhere"
    assert after.words_from is not None, "a role was lost"
    with pytest.raises(CannotChange, match="already done"):
        confirmed(row, second, code())
    assert AuditEvent.objects.filter(action="change.confirmed", subject=row.subject).count() == 1


def test_in_the_demo_one_admin_is_enough_and_the_row_says_so(admins, make_person, code, settings):
    settings.DEMO = True
    person = make_person("operator", username="new")
    row = requested(states.ROLES, person, admins[0], code(), grants=["operator", "treasury"])
    assert (row.state, row.alone, held(person)) == (states.DONE, True, {"operator", "treasury"})


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (["admin", "treasury"], "can't move money"),
        (["admin", "operator"], "can't move money"),
        (["auditor", "operator"], "can't be combined"),
        (["boss"], "Unknown role:"),
        (["operator"], "already has these roles"),
    ],
)
def test_roles_that_nobody_may_hold_together_are_refused(admins, make_person, code, wanted, words):
    person = make_person("operator", username="new")
    with pytest.raises(CannotChange, match=words):
        requested(states.ROLES, person, admins[0], code(), grants=wanted)
    assert not PersonChange.objects.exists()


def test_nobody_changes_themselves(admins, code):
    first, second = admins
    for kind in (states.ROLES, states.FACTORS, states.ACCESS):
        with pytest.raises(CannotChange, match=r"can't change your own"):
            requested(kind, first, first, code(), grants=["auditor"] if kind == states.ROLES else [])
    row = requested(states.ROLES, second, first, code(), grants=["auditor"])
    with pytest.raises(CannotChange, match="changes to your own account"):
        confirmed(row, second, code())
    with pytest.raises(CannotChange, match="changes to your own account"):
        changes.reject(change_id=row.pk, actor=second, comment="No", session_key="s", now=clock.now())


@pytest.mark.parametrize("role", ["operator", "treasury", "auditor"])
def test_only_admins_change_people(admins, enrolled, make_person, code, role):
    other, person = enrolled(role, username="other"), make_person("operator", username="new")
    with pytest.raises(CannotChange, match="Only active administrators"):
        requested(states.ROLES, person, other, code(), grants=["treasury"])
    row = requested(states.ROLES, person, admins[0], code(), grants=["treasury"])
    with pytest.raises(CannotChange, match="Only active administrators"):
        confirmed(row, other, code())
    with pytest.raises(CannotChange, match="Only active administrators"):
        changes.reject(change_id=row.pk, actor=other, comment="No", session_key="s", now=clock.now())


def test_what_was_changed_in_between_is_not_confirmed(admins, make_person, code):
    first, second = admins
    person = make_person("operator", username="new")
    row = requested(states.ROLES, person, first, code(), grants=["treasury"])
    totp.enrol(person, SECRET)
    with pytest.raises(CannotChange, match="has changed since the request"):
        confirmed(row, second, code())
    with pytest.raises(CannotChange, match="changed after you opened"):
        requested(states.FACTORS, person, first, code(), digest="0" * 64)
    assert held(person) == {"operator"}


def test_a_wrong_code_changes_nothing(admins, make_person):
    person = make_person("operator", username="new")
    with pytest.raises(CannotConfirm):
        requested(states.ROLES, person, admins[0], {"kind": "totp", "code": "000000"}, grants=["treasury"])
    assert not PersonChange.objects.exists()


@pytest.mark.parametrize("reason", ["", "  \n", "x" * 501, "y" * 10_000])
def test_a_reason_is_needed_and_has_its_bounds(admins, make_person, code, reason):
    person = make_person("operator", username="new")
    with pytest.raises(CannotChange, match=r"Enter a reason|Reasons can be up to"):
        requested(states.ROLES, person, admins[0], code(), grants=["treasury"], reason=reason)
    assert not PersonChange.objects.exists()


def test_one_change_of_a_person_waits_at_a_time_and_no_longer_than_a_day(admins, make_person, code):
    first, second = admins
    person = make_person("operator", username="new")
    row = requested(states.ROLES, person, first, code(), grants=["treasury"])
    with pytest.raises(CannotChange, match="is pending"):
        requested(states.ROLES, person, second, code(), grants=["auditor"])
    at = row.expires_at
    assert changes.expire(at - timedelta(microseconds=1)) == 0
    with pytest.raises(CannotChange, match="expired"):
        confirmed(row, second, code(), now=at)
    assert changes.expire(at) == 1
    row.refresh_from_db()
    assert (row.state, held(person)) == (states.EXPIRED, {"operator"})


def test_a_request_is_withdrawn_by_who_asked_and_rejected_with_a_reason_by_others(admins, make_person, code):
    first, second = admins
    person = make_person("operator", username="new")
    row = requested(states.ROLES, person, first, code(), grants=["treasury"])
    with pytest.raises(CannotChange, match="Enter a reason"):
        changes.reject(change_id=row.pk, actor=second, comment=" ", session_key="s", now=clock.now())
    row = changes.reject(change_id=row.pk, actor=second, comment="Not agreed", session_key="s", now=clock.now())
    assert (row.state, row.comment) == (states.REJECTED, "Not agreed")


def test_withdrawing_needs_no_reason(admins, make_person, code):
    person = make_person("operator", username="new")
    row = requested(states.ROLES, person, admins[0], code(), grants=["treasury"])
    row = changes.reject(change_id=row.pk, actor=admins[0], comment="", session_key="s", now=clock.now())
    assert row.state == states.WITHDRAWN


@pytest.mark.parametrize("kind", [states.FACTORS, states.ACCESS])
def test_a_reset_ends_factors_tokens_and_where_asked_the_password(admins, enrolled, code, settings, kind):
    settings.FACTOR_REST_SECONDS = 86_400
    first, second = admins
    person = enrolled("operator", username="lost-phone")
    tokens.create(person=person, name="script", now=clock.now())
    confirmed(requested(kind, person, first, code()), second, code())
    after = Person.objects.get(pk=person.pk)
    assert not Authenticator.objects.filter(user=person).exists()
    assert after.has_usable_password() == (kind == states.FACTORS)
    assert not after.api_tokens.filter(revoked_at=None).exists()
    assert factors.cooling_off_until(person, now=clock.now()) is not None
    event = AuditEvent.objects.get(action="person.factor_removed", subject=f"person:{person.pk}")
    assert event.actor == second, "not by the person"


def test_the_database_itself_keeps_one_admin_from_confirming_alone(admins, make_person, code):
    first, _ = admins
    person = make_person("operator", username="new")
    row = requested(states.ROLES, person, first, code(), grants=["treasury"])
    for columns in (
        {"state": "done"},
        {"state": "done", "decided_by": first, "decided_with": row.requested_with},
        {"wanted": "admin"},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            PersonChange.objects.filter(pk=row.pk).update(**columns)


def test_an_administrator_with_a_new_factor_confirms_a_day_later(admins, make_person, code, signed_in):
    first, second = admins
    row = requested(states.ROLES, make_person("operator", username="new"), first, code(), grants=["treasury"])
    now = clock.now()
    rests = {"action": "added", "factor": "totp", "at": now, "rests_until": now + timedelta(hours=24)}
    FactorChange.objects.create(person=second, **rests)
    page = signed_in(second).get(f"/people/{row.person_id}/")
    assert "24 hours after you set up this factor" in text(page), "said before the form is filled"
    with pytest.raises(CannotChange, match="24 hours after you set up this factor"):
        confirmed(row, second, code())


# The last admin -------------------------------------------------------------------------------------------------------


def test_the_last_admin_stays(admins, code):
    first, second = admins
    with pytest.raises(CannotChange, match="you can't change your own"):
        deactivated(first, first, code())
    row = deactivated(second, first, code())
    assert (row.kind, row.state) == (states.DEACTIVATE, states.REQUESTED), "by two, so that nobody is locked out"
    with pytest.raises(CannotChange, match="you requested this change"):
        confirmed(row, first, code(1))
    with pytest.raises(CannotChange, match="changes to your own account"):
        confirmed(row, second, code())
    assert Person.objects.filter(is_active=True, groups__name="admin").count() == 2


def test_of_three_admins_one_is_deactivated_by_one_and_back_within_a_day_by_one(admins, enrolled, code):
    first, second = admins
    third = enrolled("admin", username="third")
    assert deactivated(third, first, code()) is None
    with pytest.raises(CannotChange, match="already deactivated"):
        deactivated(third, first, code(1))
    row = requested(states.REACTIVATE, third, first, code(1))
    assert (row.state, row.alone, Person.objects.get(pk=third.pk).is_active) == (states.DONE, True, True)
    deactivated(third, second, code())
    late = clock.now() + changes.UNDONE_BY_ONE_FOR
    step = totp.code_at(SECRET, totp.step_at(late))
    row = requested(states.REACTIVATE, third, first, {"kind": "totp", "code": step}, now=late)
    assert (row.state, Person.objects.get(pk=third.pk).is_active) == (states.REQUESTED, False)


def test_more_of_treasury_than_the_quorum_spares_are_deactivated_by_two(admins, enrolled, code, monkeypatch):
    first, second = admins
    people = [enrolled("treasury", username=f"tina{number}") for number in range(4)]
    room = rooms.Room(quorums=lambda: {"1": 3})
    monkeypatch.setattr(rooms, "_declared", [*rooms._declared, room])
    assert deactivated(people[0], first, code()) is None, "three are left"
    row = deactivated(people[1], first, code(1))
    assert row.state == states.REQUESTED
    assert Person.objects.get(pk=people[1].pk).is_active
    confirmed(row, second, code())
    assert not Person.objects.get(pk=people[1].pk).is_active
    event = AuditEvent.objects.filter(action="person.deactivated").latest("seq")
    assert (event.actor, event.after["reason"]) == (second, "Left")


@pytest.mark.engine("two transactions at once")
@pytest.mark.django_db(transaction=True)
def test_two_admins_who_switch_each_other_off_leave_two(admins, enrolled, code):
    if connection.vendor == "sqlite":
        pytest.skip("one writer at a time anyway")
    first, second = admins
    enrolled("admin", username="third")
    ends, refused = threading.Barrier(2), []

    def switch_off(person, actor):
        ends.wait(20)
        try:
            if deactivated(person, actor, code()) is not None:
                refused.append("needs two")
        except CannotChange as problem:
            refused.append(str(problem))
        finally:
            connection.close()

    pair = [threading.Thread(target=switch_off, args=each) for each in ((first, second), (second, first))]
    for thread in pair:
        thread.start()
    for thread in pair:
        thread.join(30)
    assert len(refused) == 1, refused
    assert Person.objects.filter(is_active=True, groups__name="admin").count() == 2


# Invitations ----------------------------------------------------------------------------------------------------------


def invited(actor, answer, *, name="newcomer", email="new@firm.test", grants=("operator",), **other):
    seen = {"name": name, "email": email, "grants": list(grants)}
    columns = {"digest": invitations.digest_of(**seen), "session_key": "s", "now": clock.now()}
    return invitations.invite(**seen, actor=actor, answer=answer, **columns | other)


def handed_over(person, actor, answer, **other):
    seen = changes.digest_of(Person.objects.get(pk=person.pk), invitations.LINK, ())
    columns = {"digest": seen, "reason": "Starts today", "session_key": "s", "now": clock.now()}
    return invitations.make_link(person_id=person.pk, actor=actor, answer=answer, **columns | other)


@pytest.fixture(autouse=True)
def no_mail(settings):
    settings.EMAIL_HOST, settings.MAILBOX = "", False


def opened(client, secret, **fields):
    good = {"code": secret.reveal(), "new_password1": "long-enough-9", "new_password2": "long-enough-9"}
    return client.post("/account/begin/", good | {"email": "new@firm.test"} | fields)


def test_an_invitation_makes_an_account_without_rights_until_a_second_admin_confirms(admins, code, client):
    first, second = admins
    person = invited(first, code())
    _, secret = handed_over(person, second, code())
    assert (directory.state_of(person), held(person)) == (directory.INVITED, frozenset())
    assert (
        "The e-mail address you were invited with"
        in client.get(f"/account/begin/?code={secret.reveal()}").content.decode()
    )
    answer = opened(client, secret)
    assert (answer.status_code, answer["Location"]) == (302, "/account/second-factor/")
    assert opened(client, secret).status_code == 404, "once"
    confirmed(PersonChange.objects.get(), second, code(1))
    assert held(person) == {"operator"}
    assert secret.reveal() not in str(Invitation.objects.values_list())


def test_a_forwarded_link_opens_nothing_and_ends_after_five_addresses(admins, code, client):
    row, secret = handed_over(invited(admins[0], code()), admins[1], code())
    for _ in range(5):
        answer = opened(client, secret, email="thief@elsewhere.test")
        assert answer.status_code == 422
        assert "for a different e-mail address" in answer.content.decode()
    assert opened(client, secret).status_code == 404
    assert not Person.objects.get(pk=row.person_id).has_usable_password()


def test_a_link_is_good_for_a_day_and_a_newer_one_ends_it(admins, code, client):
    first, second = admins
    person = invited(first, code())
    row, old = handed_over(person, second, code())
    assert invitations.good_invitation(old.reveal(), now=row.expires_at - timedelta(microseconds=1)) == row
    assert invitations.good_invitation(old.reveal(), now=row.expires_at) is None
    _, new = handed_over(person, second, code(1))
    assert opened(client, old).status_code == 404
    assert opened(client, new, email="NEW@firm.test ").status_code == 302
    with pytest.raises(CannotChange, match="without a password"):
        handed_over(person, second, code())


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"name": "first"}, "is taken"),
        ({"name": "FIRST"}, "is taken"),
        ({"name": "two words"}, "without spaces"),
        ({"name": ""}, "without spaces"),
        ({"name": "a" * 151}, "150 characters"),
        ({"name": "\u202etreasury"}, "Use letters, digits"),
        ({"email": "nowhere"}, "valid e-mail address"),
        ({"email": "x" * 10_000}, "valid e-mail address"),
        ({"grants": []}, "at least one role"),
        ({"grants": ["admin", "treasury"]}, "can't move money"),
    ],
)
def test_what_can_not_be_invited_is_said(admins, code, changed, words):
    with pytest.raises(CannotChange, match=words):
        invited(admins[0], code(), **changed)
    assert not Invitation.objects.exists()
    assert Person.objects.count() == 2


# Pages ----------------------------------------------------------------------------------------------------------------


def text(response):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def field(page, name):
    return re.search(rf'name="{name}" value="([^"]*)"', page.content.decode())[1]


def test_an_admin_invites_on_the_page_and_another_confirms_there(admins, code, signed_in, client):
    first, second = (signed_in(each) for each in admins)
    typed = {"name": "newcomer", "email": "new@firm.test", "roles": ["treasury"]}
    wrong = first.post("/people/invite/", typed | {"roles": ["auditor", "treasury"]})
    assert (wrong.status_code, "be combined with others" in text(wrong)) == (422, True)
    page = first.post("/people/invite/", typed)
    assert "Check and confirm" in text(page)
    bad = first.post("/people/invite/", typed | {"digest": field(page, "digest"), "code": "12"})
    assert (bad.status_code, "six-digit" in text(bad)) == (422, True)
    done = first.post("/people/invite/", typed | {"digest": field(page, "digest"), "code": code()["code"]}, follow=True)
    person = Person.objects.get(username="newcomer")
    here = f"/people/{person.pk}/"
    assert (done.redirect_chain, "inv_" in done.content.decode()) == ([(here, 302)], False)
    assert "another administrator must hand over the link" in text(done)
    assert "Confirm change" not in text(first.get(here))
    assert "Change roles: newcomer" in text(second.get("/action/"))
    assert "Change roles: newcomer" in text(first.get("/action/?list=others"))
    page = second.get(here)
    row = PersonChange.objects.get()
    seen = {"digest": field(page, "digest"), "code": code()["code"]}
    assert second.post(f"/people/changes/{row.pk}/confirm/", seen).status_code == 302
    assert held(person) == {"treasury"}
    page = second.get(f"{here}change/link/")
    sent = {"digest": field(page, "digest"), "reason": "Starts today", "code": code(1)["code"]}
    link = second.post(f"{here}change/link/", sent)
    address = re.search(r"code=(inv_[\w-]+)", link.content.decode())[1]
    assert client.get(f"/account/begin/?code={address}").status_code == 200
    assert "Invited" in text(first.get("/people/?state=invited&role=treasury"))
    assert "No people match" in text(first.get("/people/?role=auditor"))


def test_the_review_stands_on_the_form_itself_as_soon_as_it_can(admins, signed_in):
    client, part = signed_in(admins[0]), {"HX-Request": "true", "HX-Target": "review"}
    typed = {"email": "new@firm.test", "roles": ["operator"]}
    page = client.post("/people/invite/", typed, headers=part)
    assert page.content.decode().startswith("<section")
    assert "Username new E-mail new@firm.test Roles Operator" in text(page)
    assert field(page, "digest") == invitations.digest_of(name="new", email="new@firm.test", grants=["operator"])
    early = text(client.post("/people/invite/", {"email": "nowhere", "roles": []}, headers=part))
    assert "valid e-mail address" in early
    assert "at least one role" not in early, "nothing was chosen yet"
    other = field(page, "digest")
    late = client.post("/people/invite/", typed | {"email": "else@firm.test", "digest": other, "code": "123456"})
    assert (late.status_code, "changed after you opened" in text(late)) == (409, True)
    sent = client.post("/people/invite/", typed | {"digest": other, "code": "123456"}, headers=part)
    assert sent.content.decode().startswith("<section"), "a part is only read"
    assert not Invitation.objects.exists()


def test_what_other_roles_do_stands_on_the_page_of_the_person(admins, make_person, signed_in):
    client, part = signed_in(admins[0]), {"HX-Request": "true", "HX-Target": "review"}
    here = f"/people/{make_person('operator', username='new').pk}/change/roles/"
    page = client.get(here, {"role": ["operator", "treasury"]}, headers=part)
    assert page.content.decode().startswith("<section")
    assert "Will get Treasury" in text(page)
    assert f'action="{here}"' in page.content.decode()
    same = client.get(here, {"role": ["operator"]}, headers=part)
    assert "already has these roles" in text(same)
    assert "<form" not in same.content.decode()


def test_what_somebody_may_not_do_is_not_offered(admins, auditor, operator, signed_in):
    first, second = admins
    assert signed_in(operator).get("/people/").status_code == 403
    reader = signed_in(auditor)
    Person.objects.filter(pk=first.pk).update(email="first@firm.test")
    page = text(reader.get("/people/"))
    assert "first@firm.test" not in page
    assert "f\u2022\u2022\u2022@firm.test" in page
    assert "Invite person" not in page
    assert "Deactivate" not in text(reader.get(f"/people/{second.pk}/"))
    own = text(signed_in(first).get(f"/people/{first.pk}/"))
    assert "You can't change your own account here" in own
    assert "Deactivate" not in own


def test_a_person_is_changed_and_switched_off_on_the_pages(admins, enrolled, code, signed_in):
    first = signed_in(admins[0])
    person = enrolled("operator", username="worker")
    here = f"/people/{person.pk}/change"
    page = first.get(f"{here}/roles/?role=operator&role=treasury")
    assert "Will get Treasury" in text(page)
    sent = {"role": ["operator", "treasury"], "digest": field(page, "digest"), "reason": "Moves up"}
    empty = first.post(f"{here}/roles/", sent)
    assert (empty.status_code, "Moves up" in text(empty)) == (422, True)
    assert first.post(f"{here}/roles/", sent | {"code": code()["code"]}).status_code == 302
    assert PersonChange.objects.get().wanted_roles == ["operator", "treasury"]
    assert "is pending" in text(first.get(f"{here}/factors/"))
    page = first.get(f"{here}/deactivate/")
    late = {"digest": field(page, "digest"), "reason": "Left", "code": code()["code"]}
    used = first.post(f"{here}/deactivate/", late)
    assert (used.status_code, "already been used" in text(used), "Left" in used.content.decode()) == (409, True, True)
    assert first.post(f"{here}/deactivate/", late | {"code": code(1)["code"]}).status_code == 302
    assert not Person.objects.get(pk=person.pk).is_active
    assert "Reactivate" in text(first.get(f"/people/{person.pk}/"))
    assert first.get(f"{here}/nothing/").status_code == 404


def test_an_admin_ends_sessions_and_tokens_of_others(admins, operator, signed_in):
    first, theirs = signed_in(admins[0]), signed_in(operator)
    token, _ = tokens.create(person=operator, name="script \u202eevil", now=clock.now())
    page = first.get(f"/people/{operator.pk}/")
    assert "\u202e" not in page.content.decode()
    assert first.post(f"/people/{operator.pk}/tokens/{token.pk}/revoke/").status_code == 302
    assert first.post(f"/people/{admins[1].pk}/tokens/{token.pk}/revoke/").status_code == 404
    token.refresh_from_db()
    assert token.revoked_at is not None
    assert theirs.get("/withdrawals/").status_code == 200
    sent = {"session": field(page, "session")}
    for words in ("session ended.", "this session had already ended."):
        answer = first.post(f"/people/{operator.pk}/sessions/end/", sent, follow=True)
        assert f"{operator.username}: {words}" in answer.content.decode()
    assert theirs.get("/withdrawals/").status_code == 302
