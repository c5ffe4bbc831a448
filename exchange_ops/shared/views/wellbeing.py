"""The desk's health as one person sees it: without the names of accounts where they hold no role."""

from dataclasses import replace

from desk import health
from desk.models import Person
from desk.people import scopes
from desk.rooms import Health

ELSEWHERE = "Details hidden: you have no access to the account concerned."


def health_for(person: Person) -> dict[str, Health]:
    """Every check by name; whether it is ok is the same for everybody."""
    hidden = scopes.hidden_names(person)
    return {name: _without(check, hidden) for name, check in health.states().items()}


def _without(check: Health, hidden: list[str]) -> Health:
    names_one = any(name in check.sentence for name in hidden)
    return replace(check, sentence=ELSEWHERE) if names_one else check
