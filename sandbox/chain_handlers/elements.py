"""Reading arguments as the front hands them over: texts, and the elements of an array, each a text that may be odd."""

from collections.abc import Mapping


def text(arguments: Mapping[str, object], name: str) -> str:
    """A text."""
    return str(arguments[name])


def elements(arguments: Mapping[str, object], name: str) -> list[str]:
    """The elements of an array."""
    found = arguments[name]
    return [str(each) for each in found] if isinstance(found, list) else []


def number(arguments: Mapping[str, object], name: str) -> int:
    """A whole number; 0 when it is absent."""
    found = arguments.get(name, 0)
    return found if isinstance(found, int) else 0
