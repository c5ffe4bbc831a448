"""Lines of a CSV file that a person uploaded or pasted: its text, its columns, and each line with its number in it.

Only the shape is read here: what a line asks for is checked by the room that it is for. All sentences are for people.
"""

import csv
import io
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

MOST_LINES: Final = 200
MOST_BYTES: Final = 256 * 1024
AS_UTF8: Final = "Save it as “CSV UTF-8” and upload it again."
_SEPARATORS: Final = ",;\t"
_SUFFIXES: Final = (".csv", ".txt", ".tsv")
_BINARY: Final = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"%PDF")
_WIDE: Final = (b"\xff\xfe", b"\xfe\xff")


class CannotRead(ValueError):
    """The file or text holds no such lines; the text is the sentence for the person."""


@dataclass(frozen=True, slots=True)
class Columns:
    """What the header may name: `names` as the file has them, `aliases` for other spellings, `required` ones of them.

    With `ignores_others` a column of another name is left out, otherwise it is refused.
    """

    names: Sequence[str]
    required: Collection[str]
    aliases: Mapping[str, str]
    ignores_others: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """One line as it was typed. `number` is its line in the file, `problem` why its fields can't be told apart."""

    number: int
    fields: Mapping[str, str]
    problem: str = ""


def decoded(content: bytes, *, name: str = "") -> str:
    """The text of an uploaded file. Raises `CannotRead` for anything that is no CSV in UTF-8 of a sensible size."""
    if len(content) > MOST_BYTES:
        raise CannotRead(f"The file is larger than {MOST_BYTES // 1024} KB. Split it.")
    if "." in name and not name.lower().endswith(_SUFFIXES):
        raise CannotRead("Only CSV files can be uploaded (.csv, .txt or .tsv).")
    if content.startswith(_BINARY):
        raise CannotRead(f"The file is a workbook or a document, not CSV. {AS_UTF8}")
    if content.startswith(_WIDE):
        raise CannotRead(f"The file is in UTF-16. {AS_UTF8}")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        raise CannotRead(f"The file is not UTF-8 text (line {line}). {AS_UTF8}") from None


def read(text: str, columns: Columns) -> list[Entry]:
    """The lines under the header, blank ones left out. Raises `CannotRead` where there is no list of lines to check."""
    if len(text.encode("utf-8", "replace")) > MOST_BYTES:
        raise CannotRead(f"The text is larger than {MOST_BYTES // 1024} KB. Split it.")
    if "\0" in text:
        raise CannotRead(f"The file contains binary data. {AS_UTF8}")
    rows = _rows(text.removeprefix("\ufeff"))
    if not rows:
        raise CannotRead("There are no lines. The first line names the columns; each further line is one entry.")
    names = _header(rows[0][1], columns)
    if len(rows) - 1 > MOST_LINES:
        raise CannotRead(f"A file has at most {MOST_LINES} lines; this one has {len(rows) - 1}. Split it.")
    if len(rows) == 1:
        raise CannotRead("There is only a header. Each further line is one entry.")
    return [_entry(number, names, values) for number, values in rows[1:]]


def _rows(text: str) -> list[tuple[int, list[str]]]:
    """Each line that has a value, with its number in the text."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_separator(text), strict=True)
    rows: list[tuple[int, list[str]]] = []
    begins = 1
    try:
        for values in reader:
            if any(value.strip() for value in values):
                rows.append((begins, values))
            begins = reader.line_num + 1
    except csv.Error:
        raise CannotRead(
            f"Line {begins} can't be read: a quotation mark is not closed or stands inside a field."
        ) from None
    return rows


def _separator(text: str) -> str:
    """The separator of the header: the one that occurs most often in the first line that is not blank."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    return max(_SEPARATORS, key=first.count)


def _header(cells: Sequence[str], columns: Columns) -> list[str]:
    """The name of each column, empty for one that is left out."""
    names = ["_".join(cell.strip().lower().replace("-", " ").replace("_", " ").split()) for cell in cells]
    names = [columns.aliases.get(name, name) for name in names]
    need = f"The first line must name the columns: {', '.join(columns.names)}."
    if not set(names) & set(columns.names):
        raise CannotRead(need)
    others = [cell.strip() for cell, name in zip(cells, names, strict=True) if name not in columns.names]
    if others and not columns.ignores_others:
        raise CannotRead(f"Unknown column: {others[0][:60] or '(no name)'}. {need}")
    names = [name if name in columns.names else "" for name in names]
    if twice := next((name for name in names if name and names.count(name) > 1), ""):
        raise CannotRead(f"The column {twice} occurs twice. {need}")
    if missing := [name for name in columns.names if name in columns.required and name not in names]:
        raise CannotRead(f"Missing column: {', '.join(missing)}. {need}")
    return names


def _entry(number: int, names: Sequence[str], values: Sequence[str]) -> Entry:
    problem = ""
    if len(values) != len(names):
        problem = f"{len(values)} fields, but the header has {len(names)} columns."
    fields = {name: value for name, value in zip(names, values, strict=False) if name}
    return Entry(number, fields, problem)
