"""The reason of what is done to a person is signed with it: another one fits the signature no more."""

import pytest

from desk import clock
from desk.models import Person
from desk.people import stepup
from desk.people.signing import signed_fields
from desk.people.stepup import CannotConfirm
from desk.staff import changes, deactivation, invitations, states
from desk.staff.models import Invitation, PersonChange
from tests.desk.authenticator import SoftKey
from tests.desk.staff.keeping import confirmed, deactivated, requested

pytestmark = pytest.mark.django_db(transaction=True)


def signature(person, purpose, digest, reason):
    """The passkey's answer for a form with this reason."""
    key, signed_digest = SoftKey(), signed_fields.bind(digest, {"reason": reason})
    key.enrol(person)
    terms = {"purpose": purpose, "digest": signed_digest, "session_key": "s", "now": clock.now()}
    return key.answer(stepup.challenge(person=person, **terms))


def test_the_reason_of_a_change_is_signed(admins, make_person):
    person = make_person("operator", username="new")
    digest = changes.digest_of(person, states.ROLES, ["treasury"])
    answer = signature(admins[0], changes.ASK, digest, "Joined the team")
    with pytest.raises(CannotConfirm, match="does not match the page"):
        requested(states.ROLES, person, admins[0], answer, grants=["treasury"], reason="Because")
    assert not PersonChange.objects.exists()
    requested(states.ROLES, person, admins[0], answer, grants=["treasury"], reason="Joined the team")
    assert PersonChange.objects.get().reason == "Joined the team"


def test_who_confirms_a_change_signs_the_reason_of_its_request(admins, make_person, code):
    person = make_person("operator", username="new")
    row = requested(states.ROLES, person, admins[0], code(), grants=["treasury"])
    with pytest.raises(CannotConfirm, match="does not match the page"):
        confirmed(row, admins[1], signature(admins[1], changes.CONFIRM, row.digest, "Another reason"))
    assert Person.objects.get(pk=person.pk).grants == ["operator"]
    assert confirmed(row, admins[1], signature(admins[1], changes.CONFIRM, row.digest, row.reason)).state == "done"


def test_the_reason_of_a_deactivation_is_signed(admins, make_person):
    person = make_person("operator", username="new")
    answer = signature(admins[0], deactivation.PURPOSE, deactivation.digest_of(person), "Left")
    with pytest.raises(CannotConfirm, match="does not match the page"):
        deactivated(person, admins[0], answer, reason="Another reason")
    assert Person.objects.get(pk=person.pk).is_active
    deactivated(person, admins[0], answer)
    assert not Person.objects.get(pk=person.pk).is_active


def test_the_reason_of_another_link_is_signed(admins):
    person = Person.objects.create_user(username="new", email="new@example.com")
    answer = signature(
        admins[0], invitations.LINK_PURPOSE, changes.digest_of(person, invitations.LINK, ()), "The mail was lost"
    )
    with pytest.raises(CannotConfirm, match="does not match the page"):
        invitations.make_link(
            person_id=person.pk,
            reason="Another reason",
            actor=admins[0],
            digest=changes.digest_of(person, invitations.LINK, ()),
            answer=answer,
            session_key="s",
            now=clock.now(),
        )
    assert not Invitation.objects.exists()
