"""How the first administrator of a real desk gets in: by a link that sets a password, once, within a day.

The link is made on the machine itself. It is bound to the current password (none), so using it ends it. Then the person
has to set up a second factor before anything else of the desk opens.
"""

from datetime import datetime
from typing import TYPE_CHECKING

from allauth.mfa.models import Authenticator
from django.contrib.auth.models import Group
from django.contrib.auth.tokens import default_token_generator
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction

from desk import models
from desk.audit import trail
from desk.people import factors, roles, tokens

if TYPE_CHECKING:
    from desk.models import Person


class CannotInvite(Exception):
    """Nobody was made and nothing changed; the text says why."""


@transaction.atomic
def create_admin(*, name: str, again: bool, now: datetime, email: str = "") -> "Person":
    """Make an administrator without a password; `again` takes password, factors, sessions and tokens from an existing
    one.

    `email` is where the desk mails them; without one they get no mail. Raises `CannotInvite`.
    """
    _check_email(email, name)
    person = models.Person.objects.filter(username=name).first()
    if person is not None and not again:
        raise CannotInvite(
            f"{name} already exists. Use --again to remove their password and second factors and print a new link."
        )
    if person is None:
        if again:
            raise CannotInvite(f"There is no user named {name!r}.")
        roles.ensure_groups()
        person = models.Person.objects.create_user(username=name, email=email)
        person.groups.set(Group.objects.filter(name=roles.ADMIN))
        _record(person, "person.created", now)
        return person
    if not person.has_role(roles.ADMIN, scope=""):
        raise CannotInvite(
            f"{name} is not an active administrator. Only administrators can be invited from the command line."
        )
    before = factors.by_number(person)
    Authenticator.objects.filter(user=person).delete()
    person.set_unusable_password()
    person.email = email or person.email
    person.save(update_fields=["password", "email"])
    tokens.revoke_all(person=person, now=now)
    models.end_sessions([person.pk])
    factors.note(person=person, before=before, device="the command line", session_key="", now=now)
    _record(person, "person.invited_again", now)
    return person


def _check_email(email: str, name: str) -> None:
    if not email:
        return
    try:
        validate_email(email)
    except ValidationError:
        raise CannotInvite(f"{email!r} is not a valid e-mail address.") from None
    if models.Person.objects.filter(email__iexact=email).exclude(username=name).exists():
        raise CannotInvite(f"The e-mail address {email} is already used by someone else.")


def code_for(person: "Person") -> str:
    """The code of the link; good for one use within a day (PASSWORD_RESET_TIMEOUT)."""
    return f"{person.pk}.{default_token_generator.make_token(person)}"


def person_of(code: str) -> "Person | None":
    """The person whom the code is for, if it can still be used."""
    number, _, token = code.partition(".")
    if not (number.isascii() and number.isdigit() and len(number) < 19):
        return None
    person = models.Person.objects.filter(pk=int(number), is_active=True).first()
    if person is None or person.has_usable_password() or not default_token_generator.check_token(person, token):
        return None
    return person


def _record(person: "Person", action: str, now: datetime) -> None:
    trail.record(
        actor=None,
        action=action,
        subject=f"person:{person.pk}",
        before={},
        after={"name": person.username, "roles": [roles.ADMIN]},
        now=now,
    )
