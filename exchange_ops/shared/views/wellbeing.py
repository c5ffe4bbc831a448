"""Whether the desk is well, as one person is told: what names an account of which they have no role is told without."""

from dataclasses import replace

from desk import health
from desk.models import Person
from desk.people import scopes
from desk.rooms import Health

ELSEWHERE = "It concerns another account."


def of(person: Person) -> dict[str, Health]:
    """Every check by name; whether each is well is the same for everybody."""
    hidden = scopes.hidden_names(person)
    return {name: _without(check, hidden) for name, check in health.states().items()}


def _without(check: Health, hidden: list[str]) -> Health:
    names_one = any(name in check.sentence for name in hidden)
    return replace(check, sentence=ELSEWHERE) if names_one else check
