"""The tour of each role: three first steps, shown once, which a person can leave at any time.

The progress of a tour is a number in the person's own row: 0 not begun, 1 to 3 the current step, and `OVER`. The steps
come from outside (project/urls.py), so the desk itself knows no page of the exchange.
"""

from dataclasses import dataclass
from typing import Final

from django.db import transaction

from desk.models import Person
from desk.people import roles
from desk.personal.models import PersonalSettings

STEPS: Final = 3
NOT_BEGUN: Final = 0
OVER: Final = STEPS + 1
NEXT, BACK, SKIP, AGAIN = "next", "back", "skip", "again"
ACTIONS: Final = (NEXT, BACK, SKIP, AGAIN)


@dataclass(frozen=True, slots=True)
class Step:
    """One page and what it is for: `url_name` has no arguments."""

    url_name: str
    title: str
    sentence: str


_offered: dict[str, tuple[Step, ...]] = {}


def offer(role: str, steps: tuple[Step, ...]) -> None:
    """Declare the tour of a role. Raises ValueError where it does not have three steps."""
    if len(steps) != STEPS:
        raise ValueError(f"The {role} tour must have {STEPS} steps, not {len(steps)}.")
    _offered[role] = steps


def steps_of(role: str) -> tuple[Step, ...]:
    """The steps of a role's tour; none where nobody offers one."""
    return _offered.get(role, ())


def open_role(person: Person, reached: dict[str, int]) -> str:
    """The first role of this person whose tour is not over; empty when there is none."""
    for role in roles.ALL:
        if role in person.roles and role in _offered and reached.get(role, NOT_BEGUN) < OVER:
            return role
    return ""


@transaction.atomic
def move(person: Person, action: str) -> Step | None:
    """Go a step on or back, end this role's tour, or begin all tours anew; the step that the person is at then."""
    row, _ = PersonalSettings.objects.select_for_update().get_or_create(person=person)
    if action == AGAIN:
        row.tours = {}
    else:
        role = open_role(person, row.tours)
        if not role:
            return None
        row.tours = {**row.tours, role: _after(row.tours.get(role, NOT_BEGUN), action)}
    row.save(update_fields=["tours"])
    role = open_role(person, row.tours)
    at = row.tours.get(role, NOT_BEGUN)
    return steps_of(role)[at - 1] if role and NOT_BEGUN < at < OVER else None


def _after(at: int, action: str) -> int:
    if action == SKIP:
        return OVER
    return max(at - 1, 1) if action == BACK else at + 1
