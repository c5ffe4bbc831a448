"""A person's roles as boxes to tick: for every account or, where there are several, for some of them."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from desk.people import roles, scopes

if TYPE_CHECKING:
    from desk.models import Person

EVERYWHERE = "Every account"


@dataclass(frozen=True, slots=True)
class Box:
    """One grant, where it holds, and whether it is ticked."""

    grant: str
    where: str
    is_ticked: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One role with its boxes."""

    label: str
    boxes: list[Box]


@dataclass(frozen=True, slots=True)
class Boxes:
    """All roles; `accounts` says whether there is a choice of accounts."""

    rows: list[Row]
    accounts: bool


def boxes(ticked: Collection[str]) -> Boxes:
    """The boxes, with these grants ticked. One account alone offers no choice, unless somebody has a role for it."""
    places = scopes.names()
    offered = places if len(places) > 1 or scopes.limits_of(ticked) else {}
    rows = [
        Row(label, [Box(grant, where, grant in ticked) for grant, where in _grants(role, offered)])
        for role, label in roles.LABELS.items()
    ]
    return Boxes(rows, bool(offered))


def differences(person: "Person", grants: Collection[str]) -> dict[str, Any]:
    """The roles gained, lost, and held at other accounts; where grants are `lost`, votes of the person are void."""
    then = scopes.roles_of(grants)
    unchanged = person.roles & then
    moved = [grant for grant in {*person.grants} ^ {*grants} if scopes.split(grant)[0] in unchanged]
    names = scopes.roles_of(moved)
    return {
        "gained": scopes.words(grant for grant in grants if scopes.split(grant)[0] not in person.roles),
        "gone": [name for name in roles.ALL if name in person.roles - then],
        "moved": scopes.words(grant for grant in grants if scopes.split(grant)[0] in names),
        "lost": scopes.lost_grants(person.grants, grants),
    }


def every_grant() -> list[tuple[str, str]]:
    """Every grant that can be ticked, with its label."""
    places = scopes.names()
    return [
        (grant, f"{label}, {where}") for role, label in roles.LABELS.items() for grant, where in _grants(role, places)
    ]


def _grants(role: str, places: dict[str, str]) -> list[tuple[str, str]]:
    return [(role, EVERYWHERE), *((f"{role}:{scope}", name) for scope, name in places.items())]
