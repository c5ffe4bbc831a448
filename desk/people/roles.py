"""The four roles. Each is a Django group of the same name; a person may hold several, rights are denied by default.

An administrator manages people and keys but never approves; an auditor reads everything and writes nothing.
"""

from collections.abc import Sequence

from django.db import DEFAULT_DB_ALIAS

OPERATOR = "operator"
TREASURY = "treasury"
ADMIN = "admin"
AUDITOR = "auditor"

ALL = (OPERATOR, TREASURY, ADMIN, AUDITOR)

LABELS = {
    OPERATOR: "Operator: requests payouts",
    TREASURY: "Treasury: approves and rejects",
    ADMIN: "Admin: manages people, keys and settings",
    AUDITOR: "Auditor: read-only access to everything",
}


def phrase(names: Sequence[str]) -> str:
    """These roles in a sentence: "treasury role", "treasury and admin roles"."""
    listed = " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
    return f"{listed} role{'s' if names[1:] else ''}"


def ensure_groups(*, using: str = DEFAULT_DB_ALIAS, names: Sequence[str] = ALL) -> None:
    """Make the groups that are missing. Runs after every migrate, so that the roles exist wherever the tables do."""
    from django.contrib.auth.models import Group

    for name in names:
        Group.objects.using(using).get_or_create(name=name)
