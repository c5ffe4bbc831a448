"""A person's roles as boxes to tick: for every account or, where there are several, for some of them."""

from collections.abc import Collection
from dataclasses import dataclass

from desk.people import roles, scopes

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


def every_grant() -> list[tuple[str, str]]:
    """Every grant that can be ticked, with its label."""
    places = scopes.names()
    return [
        (grant, f"{label}, {where}") for role, label in roles.LABELS.items() for grant, where in _grants(role, places)
    ]


def _grants(role: str, places: dict[str, str]) -> list[tuple[str, str]]:
    return [(role, EVERYWHERE), *((f"{role}:{scope}", name) for scope, name in places.items())]
