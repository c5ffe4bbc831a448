"""Roles whose people must use a passkey (PASSKEY_ROLES): their one-time codes confirm nothing.

Who has such a role and no passkey reaches nothing but enrolment (`factors.may_enter`), where a code still confirms
that a passkey is added.
"""

from typing import TYPE_CHECKING

from allauth.mfa.models import Authenticator
from django.conf import settings

from desk.people import roles

if TYPE_CHECKING:
    from desk.models import Person


def requiring(person: "Person") -> list[str]:
    """The person's roles that require a passkey, in the usual order. Without the setting none, and no query."""
    if not settings.PASSKEY_ROLES:
        return []
    return [role for role in roles.ALL if role in settings.PASSKEY_ROLES and role in person.roles]


def reason(person: "Person") -> str:
    """Why the person must use a passkey, as a clause: "your treasury role requires a passkey". Empty where not."""
    requiring_roles = requiring(person)
    if not requiring_roles:
        return ""
    return f"your {roles.phrase(requiring_roles)} require{'' if requiring_roles[1:] else 's'} a passkey"


def refusal_of_code(person: "Person") -> str:
    """The sentence for somebody whose one-time code confirms nothing because of a role; empty where it counts."""
    why = reason(person)
    return f"Nothing was confirmed: {why}. Confirm with your passkey instead of a code." if why else ""


def count(person: "Person") -> int:
    """How many passkeys the person has."""
    return int(Authenticator.objects.filter(user=person, type=Authenticator.Type.WEBAUTHN).count())
