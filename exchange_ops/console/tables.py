"""An answer as a table of its rows and columns, or of its members; figures stay exactly as received."""

import json
from dataclasses import dataclass
from typing import Any, Final

MOST_ROWS: Final = 200
MOST_COLUMNS: Final = 24
_MOST_IN_A_CELL: Final = 300


@dataclass(frozen=True, slots=True)
class Figures:
    """Heads and rows of texts; `total` counts all rows of the answer. A list of plain values has one head."""

    heads: list[str]
    rows: list[list[str]]
    total: int

    @property
    def is_cut(self) -> bool:
        """Whether the answer has more rows than the table."""
        return self.total > len(self.rows)


class _Number(str):
    """A figure of the answer, exactly as received."""

    __slots__ = ()


def table(text: str) -> Figures | None:
    """The table of a JSON answer; None if it is no JSON, empty or a single value."""
    try:
        return _table(_read(text))
    except RecursionError:
        return None


def _table(document: Any) -> Figures | None:
    match document:
        case [dict(), *_]:
            return _records_table([row if isinstance(row, dict) else {"": row} for row in document])
        case list() if document:
            return Figures(["Value"], [[_cell(value)] for value in document[:MOST_ROWS]], len(document))
        case dict() if document:
            pairs = list(document.items())
            return Figures(["Field", "Value"], [[name, _cell(value)] for name, value in pairs[:MOST_ROWS]], len(pairs))
        case _:
            return None


def pretty(text: str) -> str:
    """The answer as indented JSON with the figures as received; a text that is no JSON stays as it is."""
    document = _read(text)
    try:
        return text if document is None else _write(document, "\n")
    except RecursionError:  # nested so deep that nobody reads it
        return text


def _read(text: str) -> Any:
    try:
        return json.loads(text, parse_float=_Number, parse_int=_Number, parse_constant=_Number)
    except (ValueError, RecursionError):
        return None


def _records_table(records: list[dict[str, Any]]) -> Figures:
    first = records[:MOST_ROWS]
    heads = list(dict.fromkeys(name for record in first for name in record))[:MOST_COLUMNS]
    return Figures(heads, [[_cell(record.get(name)) for name in heads] for record in first], len(records))


def _cell(value: Any) -> str:
    if value is None:
        return "\u2013"
    text = value if isinstance(value, str) else _write(value, "")
    return text if len(text) <= _MOST_IN_A_CELL else f"{text[:_MOST_IN_A_CELL]}…"


def _write(value: Any, newline: str, *, indent: str = "") -> str:
    """JSON with the figures as received, which the library's own writer would put in quotes."""
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
