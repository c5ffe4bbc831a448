"""The choices that the rooms offer for a person's settings: the currencies to value figures in."""

from collections.abc import Callable, Iterable

_offered: list[Callable[[], Iterable[str]]] = []


def offer_quotes(find: Callable[[], Iterable[str]]) -> None:
    """Add a source of currency codes (project/urls.py); the same function counts once."""
    if find not in _offered:
        _offered.append(find)


def quotes() -> list[str]:
    """Every currency that is offered, in alphabetical order."""
    return sorted({code for find in _offered for code in find()})
