"""How the golden files write values that JSON has no type for, and where in a record a fact is found."""

import json
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from wire.values import Nanoseconds, decimal_text, instant_from, instant_text

FOLDER = Path(__file__).parents[2] / "golden"


def files(*parts: str) -> dict[str, dict[str, Any]]:
    """The files of a folder by their names."""
    return {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.joinpath(*parts).glob("*.json"))}


def typed(value: Any) -> Any:
    """A value with its `{"instant": text}` and `{"decimal": text}` made into what they name."""
    match value:
        case {"instant": str(text)}:
            return instant_from(text)
        case {"decimal": str(text)}:
            return Decimal(text)
        case dict():
            return {name: typed(item) for name, item in value.items()}
        case _:
            return value


def facts(record: Any, members: dict[str, Any]) -> dict[str, Any]:
    """What the record says where the file tells a fact, in the notation of the files, which shows the type."""
    return {path: _as_told(_member(record, path)) for path in members}


def _member(record: Any, path: str) -> Any:
    """The member at a path such as `0.position.quantity`; an empty path is the record itself."""
    for step in path.split(".") if path else ():
        if isinstance(record, list):
            record = record[int(step)]
        else:
            record = record[step] if isinstance(record, dict) else getattr(record, step)
    return record


def _as_told(value: Any) -> Any:
    match value:
        case Decimal():
            return {"decimal": decimal_text(value)}
        case datetime():
            return {"instant": instant_text(value)}
        case Nanoseconds():
            return {"nanoseconds": value.text}
        case _:
            return value


def kinds(members: dict[str, Any]) -> dict[str, type]:
    """The types of the facts: True and 1 are equal to Python and not to us."""
    return {path: type(value) for path, value in members.items()}
