"""Who may propose rules, agree to them, and stop a change that waits."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from desk.people import roles

if TYPE_CHECKING:
    from desk.models import Person

WHO: Final = (roles.TREASURY, roles.ADMIN)


def may_keep(person: "Person", at: Collection[str] | None = None) -> bool:
    """Treasury and administrators propose and agree; one of the two has to be of treasury.

    `at` are the accounts that a change concerns (`ruleset.concerned`); the empty text stands for every account.
    """
    return _may(person, WHO, at)


def are_enough(first: "Person", second: "Person", *, at: Collection[str]) -> bool:
    """Whether these two may change the rules together: two people, active, and one of them decides about money."""
    if first.pk == second.pk or not (first.is_active and second.is_active):
        return False
    return may_keep(first, at) and may_keep(second, at) and (_decides(first, at) or _decides(second, at))


def _decides(person: "Person", at: Collection[str]) -> bool:
    return _may(person, (roles.TREASURY,), at)


def _may(person: "Person", names: Collection[str], at: Collection[str] | None) -> bool:
    return person.has_role(*names) if at is None else all(person.has_role(*names, scope=scope) for scope in at)
