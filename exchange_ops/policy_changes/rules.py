"""Who may propose other rules, agree to them, and stop what waits."""

from typing import TYPE_CHECKING, Final

from desk.people import roles

if TYPE_CHECKING:
    from desk.models import Person

WHO: Final = (roles.TREASURY, roles.ADMIN)


def may_keep(person: "Person") -> bool:
    """Treasury and administrators propose and agree; one of the two has to be of treasury."""
    return person.has_role(*WHO)


def are_enough(first: "Person", second: "Person") -> bool:
    """Whether these two may change the rules together: two people, active, and one of them decides about money."""
    if first.pk == second.pk or not (first.is_active and second.is_active):
        return False
    return may_keep(first) and may_keep(second) and (_decides(first) or _decides(second))


def _decides(person: "Person") -> bool:
    return person.has_role(roles.TREASURY)
