"""One administrator alone does not become somebody of treasury: links, arrivals, and the colleague who confirms."""

import re

import pytest

from desk import clock
from desk.models import AuditEvent, Person
from desk.notifications import delivering, messages
from desk.notifications.models import Delivery, Notification
from desk.people import factors, scopes, totp
from desk.people.stepup import CannotConfirm
from desk.staff import colleagues, links, states
from desk.staff.models import Invitation, PersonChange
from desk.staff.rules import CannotChange
from tests.desk.staff.keeping import SECRET, answer_at, confirmed, requested
from tests.desk.staff.test_people import handed_over, invited

pytestmark = pytest.mark.django_db


@pytest.fixture(params=["mail", "no mail"])
def by_mail(request, settings):
    settings.EMAIL_HOST, settings.MAILBOX = "", request.param == "mail"
    return settings.MAILBOX


def mails():
    """Everything that left by mail, as its receiver reads it, by address."""
    delivering.sweep(now=clock.now())
    rows = Delivery.objects.select_related("notification", "person").order_by("pk")
    return [(row.person.email, links.put_into(row.content, row.notification)) for row in rows]


def link_of(person):
    """The code that the person gets, by whichever way links go on this desk."""
    found = [re.search(r"code=(inv_\w+)", text) for address, text in mails() if address == person.email]
    return next(match[1] for match in reversed(found) if match)


def confirm(person, actor, answer):
    seen = colleagues.digest_of(Person.objects.get(pk=person.pk))
    return colleagues.confirm(
        person_id=person.pk, actor=actor, digest=seen, answer=answer, session_key="s", now=clock.now()
    )


def counts(person):
    """Whether this person's word counts as treasury."""
    return Person.objects.filter(scopes.holding("treasury", ""), pk=person.pk).exists()


def arrived(admins, client, settings, *, grants=("treasury",)):
    """Somebody of treasury whom the first administrator invited, the second one confirmed, and who came in."""
    settings.MAILBOX = True
    person = invited(admins[0], answer_at(0), grants=grants)
    confirmed(PersonChange.objects.get(person=person, state=states.REQUESTED), admins[1], answer_at(0))
    answer = client.post(
        "/account/begin/",
        {"code": link_of(person), "new_password1": "long-enough-9", "new_password2": "long-enough-9"}
        | {"email": person.email},
    )
    assert answer.status_code == 302
    totp.enrol(person, SECRET)
    return Person.objects.get(pk=person.pk)


def test_an_administrator_alone_does_not_get_at_the_link_of_an_invitation(admins, client, by_mail):
    """The attack: invite somebody of treasury, have a colleague confirm the roles, make another link and open it."""
    first, second = admins
    person = invited(first, answer_at(0), grants=("treasury",))
    confirmed(PersonChange.objects.get(), second, answer_at(0))
    client.force_login(first)
    assert client.post(f"/people/{person.pk}/link/").status_code == 404, "a session alone makes no link"
    with pytest.raises(CannotConfirm):
        handed_over(person, second, {"kind": "totp", "code": "000000"})
    if by_mail:
        _, code = handed_over(person, first, answer_at(1))
        assert code is None, "it is page_text to nobody"
        assert [address for address, text in mails() if "code=inv_" in text] == ["new@firm.test"]
        assert not any("inv_" in row.content for row in Delivery.objects.all()), "and it is stored nowhere"
    else:
        with pytest.raises(CannotChange, match="another administrator must hand over the link"):
            handed_over(person, first, answer_at(1))
        assert not Invitation.objects.exists()
        assert handed_over(person, second, answer_at(1))[1] is not None


def test_who_asked_for_a_new_access_does_not_hand_over_its_link(admins, enrolled, settings):
    settings.EMAIL_HOST, settings.MAILBOX = "", False
    first, second = admins
    tina = enrolled("treasury", username="tina")
    Person.objects.filter(pk=tina.pk).update(email="tina@firm.test")
    confirmed(requested(states.ACCESS, tina, second, answer_at(0)), first, answer_at(0))
    with pytest.raises(CannotChange, match="another administrator"):
        handed_over(tina, second, answer_at(1))
    _, code = handed_over(tina, first, answer_at(1))
    assert code.reveal().startswith(links.PREFIX)


def test_whoever_arrives_counts_in_treasury_once_a_colleague_confirms_them(admins, enrolled, client, settings):
    """The attack goes on: the address was the administrator's own, so the link did open."""
    first, second = admins
    tina, olga = enrolled("treasury", username="tina"), enrolled("operator", username="olga")
    member = arrived(admins, client, settings)
    assert (member.has_role("treasury"), counts(member)) == (True, False)
    assert "must first confirm" in factors.why_cooling_off(member, now=clock.now())
    for other in (first, second, olga, member):
        with pytest.raises(CannotChange, match="another treasurer"):
            confirm(member, other, answer_at(1))
    confirm(member, tina, answer_at(0))
    assert counts(member)
    assert Person.objects.get(pk=member.pk).words_from is not None, "what they approved before stays void"
    assert AuditEvent.objects.get(action="person.colleague_confirmed").actor == tina


def test_the_first_of_treasury_is_confirmed_by_the_administrator_who_made_no_link(admins, client, settings, signed_in):
    first, second = admins
    member = arrived(admins, client, settings)
    page = signed_in(second).get("/action/").content.decode()
    assert "confirmed by an administrator other than" in page
    assert "</span> (admin)" in page, "the card says who can confirm"
    with pytest.raises(CannotChange, match=f"an administrator other than {first}, who made the invitation link"):
        confirm(member, first, answer_at(1))
    confirm(member, second, answer_at(1))
    assert counts(member)


def test_a_new_role_in_treasury_is_confirmed_too(admins, enrolled):
    first, second = admins
    tina, olga = enrolled("treasury", username="tina"), enrolled("operator", username="olga")
    confirmed(requested(states.ROLES, olga, first, answer_at(0), grants=["treasury"]), second, answer_at(0))
    assert not counts(olga)
    confirm(olga, tina, answer_at(0))
    assert counts(olga)


def test_the_person_and_every_administrator_hear_who_arrived(admins, client, settings):
    for each in admins:
        Person.objects.filter(pk=each.pk).update(email=f"{each.username}@firm.test")
    member = arrived(admins, client, settings)
    row = Notification.objects.get(subject=f"person:{member.pk}", kind="arrivals")
    assert {each.person for each in row.recipients.all()} == {*admins, member}
    assert "new@firm.test" in messages.mail(row)
    assert "Roles: treasury" in row.sentence


def test_the_page_of_a_new_colleague(admins, enrolled, client, settings, signed_in):
    tina, olga = enrolled("treasury", username="tina"), enrolled("operator", username="olga")
    member = arrived(admins, client, settings)
    page, here = signed_in(tina), f"/people/{member.pk}/colleague/"
    assert "Confirm a new colleague" in page.get("/action/").content.decode()
    page_text = page.get(here).content.decode()
    digest = re.search(r'name="digest" value="(\w+)"', page_text)[1]
    assert page.post(here, {"digest": digest, "code": answer_at(0)["code"]}).status_code == 302
    assert counts(member)
    limited = enrolled("treasury", username="limited")
    scopes.set_grants(limited, ["treasury:2"])
    assert signed_in(limited).get(here).status_code == 404, "who is nobody's colleague at the account sees nothing"
    assert signed_in(olga).get(here).status_code == 403
