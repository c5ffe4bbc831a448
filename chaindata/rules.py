"""Who may do what: the chain is public, so every role of this desk may read all of it; people without one may not."""

from typing import TYPE_CHECKING

from desk.people import roles

if TYPE_CHECKING:
    from desk.models import Person


def may_see(person: "Person") -> bool:
    """Whoever has a role."""
    return person.has_role(*roles.ALL)


def may_watch(person: "Person") -> bool:
    """Treasury and administrators of the whole desk decide which addresses are watched."""
    return person.has_role(roles.TREASURY, roles.ADMIN, scope="")


def may_review(person: "Person") -> bool:
    """Whoever works at the whole desk says what became of a movement of a watched address."""
    return person.has_role(roles.OPERATOR, roles.TREASURY, roles.ADMIN, scope="")


def may_broadcast(person: "Person") -> bool:
    """Treasury sends transactions to the network; that can't be taken back."""
    return person.has_role(roles.TREASURY)
