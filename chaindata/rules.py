"""Who may: the chain is public, so every role of this desk may read all of it; somebody without a role may not."""

from typing import TYPE_CHECKING

from desk.people import roles

if TYPE_CHECKING:
    from desk.models import Person


def may_see(person: "Person") -> bool:
    """Whoever has a role."""
    return person.has_role(*roles.ALL)


def may_broadcast(person: "Person") -> bool:
    """Treasury sends transactions to the network; that can't be taken back."""
    return person.has_role(roles.TREASURY)
