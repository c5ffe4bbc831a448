"""Who may follow a topic about the chain: everybody with a role, whatever their accounts."""

from typing import TYPE_CHECKING

from desk.people import roles

if TYPE_CHECKING:
    from desk.models import Person


def may_follow_row(person: "Person", key: str) -> bool:
    """Whether somebody may follow a row, whose key is its number."""
    return key.isascii() and key.isdigit() and _may_see(person)


def may_follow_list(person: "Person", key: str) -> bool:
    """Whether somebody may follow a list, a topic without a key."""
    return not key and _may_see(person)


def _may_see(person: "Person") -> bool:
    return person.has_role(*roles.ALL)
