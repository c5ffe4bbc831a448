"""An answer as a table: rows and columns where it has them, else its members; figures stay the texts that came."""

import json
from dataclasses import dataclass
from typing import Any, Final

MOST_ROWS: Final = 200
MOST_COLUMNS: Final = 24
_MOST_IN_A_CELL: Final = 300


@dataclass(frozen=True, slots=True)
class Figures:
    """Heads and rows of texts; `of` counts all rows that there are. A list of values alone has one head."""

    heads: list[str]
    rows: list[list[str]]
    of: int

    @property
    def is_cut(self) -> bool:
        """Whether there are more rows than are here."""
        return self.of > len(self.rows)


class _Number(str):
    """A figure of the answer, as it was written."""

    __slots__ = ()


def of(text: str) -> Figures | None:
    """The table of a JSON answer; nothing for what is no JSON, is empty or is a single value."""
    try:
        return _table(_read(text))
    except RecursionError:
        return None


def _table(found: Any) -> Figures | None:
    match found:
        case [dict(), *_]:
            return _of_records([row if isinstance(row, dict) else {"": row} for row in found])
        case list() if found:
            return Figures(["Value"], [[_cell(value)] for value in found[:MOST_ROWS]], len(found))
        case dict() if found:
            pairs = list(found.items())
            return Figures(["Member", "Value"], [[name, _cell(value)] for name, value in pairs[:MOST_ROWS]], len(pairs))
        case _:
            return None


def pretty(text: str) -> str:
    """The text of an answer with its lines broken, figures as they came; what is no JSON stays as it is."""
    found = _read(text)
    try:
        return text if found is None else _write(found, "\n")
    except RecursionError:  # nested so deep that nobody reads it
        return text


def _read(text: str) -> Any:
    try:
        return json.loads(text, parse_float=_Number, parse_int=_Number, parse_constant=_Number)
    except (ValueError, RecursionError):
        return None


def _of_records(records: list[dict[str, Any]]) -> Figures:
    first = records[:MOST_ROWS]
    heads = list(dict.fromkeys(name for record in first for name in record))[:MOST_COLUMNS]
    return Figures(heads, [[_cell(record.get(name)) for name in heads] for record in first], len(records))


def _cell(value: Any) -> str:
    if value is None:
        return "\u2013"
    text = value if isinstance(value, str) else _write(value, "")
    return text if len(text) <= _MOST_IN_A_CELL else f"{text[:_MOST_IN_A_CELL]}…"


def _write(value: Any, newline: str, *, indent: str = "") -> str:
    """JSON with the figures as they were written, which the library's own writer would put in quotes."""
    inner = f"{indent}  " if newline else ""
    match value:
        case _Number():
            return str(value)
        case dict() if value:
            pairs = (f"{inner}{_text(name)}: {_write(each, newline, indent=inner)}" for name, each in value.items())
            return f"{{{newline}{_joined(pairs, newline)}{newline}{indent}}}"
        case list() if value:
            items = (f"{inner}{_write(each, newline, indent=inner)}" for each in value)
            return f"[{newline}{_joined(items, newline)}{newline}{indent}]"
        case _:
            return _text(value)


def _joined(pieces: Any, newline: str) -> str:
    return (f",{newline}" if newline else ", ").join(pieces)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
