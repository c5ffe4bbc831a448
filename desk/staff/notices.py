"""What people hear about people: the mail with an invitation's link, and who has arrived."""

from datetime import datetime
from typing import TYPE_CHECKING, Final

from django.urls import reverse

from desk import models
from desk.notifications import audiences, outgoing
from desk.notifications.models import Notification, Stage
from desk.people import roles, scopes
from desk.staff import links, states
from desk.staff.models import Invitation, PersonChange

if TYPE_CHECKING:
    from desk.models import Person

LINK_KIND: Final = "invitations"
ARRIVAL_KIND: Final = "arrivals"


def goes_by_mail() -> bool:
    """Whether links go by mail to the person. Where they don't, another administrator hands them over."""
    return audiences.email_is_on()


def mail_link(row: Invitation, *, now: datetime) -> None:
    """Queue the mail with the link. The link itself is put in as the mail leaves (`links.put_into`)."""
    person = row.person
    notification = Notification(
        stage=Stage.NEWS,
        subject=f"{links.SUBJECT}:{row.pk}",
        kind=LINK_KIND,
        reference=person.get_username()[:40],
        title="Your link to Countersign",
        sentence=f"{row.made_by.get_username()} invited you as {person.get_username()}. The link works once and "
        f"expires on {row.expires_at:%d %b %H:%M} UTC. Enter this e-mail address, choose a password and set up a "
        "second factor. If you were not expecting this, do not open the link; tell your treasury team.",
        url=reverse("begin"),
        created_at=now,
        ended_at=now,
    )
    route = audiences.Route(person, by_email=True, in_browser=False, not_before=now)
    outgoing.post(notification, [route], (), now=now)


def announce_arrival(person: "Person", *, now: datetime) -> None:
    """Notify the person and every administrator that somebody chose a password with the link of this account."""
    admins = models.Person.objects.filter(scopes.holding(roles.ADMIN, ""))
    people = {each.pk: each for each in [*admins.prefetch_related("groups"), person]}
    request = PersonChange.objects.filter(person=person, kind=states.ROLES, state=states.REQUESTED).first()
    words = scopes.words(request.wanted_roles if request is not None else person.grants)
    row = Notification(
        stage=Stage.NEWS,
        subject=f"person:{person.pk}",
        phase=f"arrived {now:%Y-%m-%dT%H:%M:%S.%f}",
        kind=ARRIVAL_KIND,
        reference=person.get_username()[:40],
        title="New sign-in via link",
        sentence=f"Someone opened the link for {person.get_username()} ({person.email or 'no e-mail address'}) and "
        f"chose a password. Roles: {', '.join(words) or 'none'}. If that was not {person.get_username()}, an "
        "administrator must deactivate the account now.",
        url=reverse("person", args=[person.pk]),
        created_at=now,
        ended_at=now,
    )
    outgoing.post(row, [audiences.route(row, each, is_fixed=True) for each in people.values()], (), now=now)
