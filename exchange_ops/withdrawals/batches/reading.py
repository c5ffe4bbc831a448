"""The lines of a batch out of a CSV file, out of pasted text, or out of fields that were filled in by hand.

Everything becomes one text of CSV, which the preview carries to the confirmation: what is requested is what was shown.
Only the shape is checked here. What a line asks for is checked as the form of a single payout is (`checking`).
"""

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

MOST_LINES: Final = 200
MOST_BYTES: Final = 256 * 1024
COLUMNS: Final = ("currency", "amount", "network_fee", "address", "payment_id", "reason")
REQUIRED: Final = ("currency", "amount", "address", "reason")
EXAMPLE: Final = (
    "currency,amount,network_fee,address,payment_id,reason\r\n"
    # No address of anybody: a line that was left as it is here is refused, never paid.
    "BCH,0.25,added,recipient-address-here,,Invoice 2041\r\n"
    "XRP,120.5,deducted,recipient-address-here,1234567,Invoice 2042\r\n"
)
_ALIASES: Final = {
    "recipient": "address",
    "recipient_address": "address",
    "fee": "network_fee",
    "reference": "reason",
    "comment": "reason",
    "purpose": "reason",
}
_SEPARATORS: Final = ",;\t"
_SUFFIXES: Final = (".csv", ".txt", ".tsv")
_BINARY: Final = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"%PDF")
_WIDE: Final = (b"\xff\xfe", b"\xfe\xff")
AS_UTF8: Final = "Save it as “CSV UTF-8” and upload it again."


class CannotRead(ValueError):
    """The text is no batch; the sentence is for the person."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line as it was typed. `number` is its line in the file, `problem` why its fields can't be told apart."""

    number: int
    fields: Mapping[str, str]
    problem: str = ""


def decoded(content: bytes, *, name: str = "") -> str:
    """The text of an uploaded file. Raises `CannotRead` for anything that is no CSV in UTF-8 of a sensible size."""
    if len(content) > MOST_BYTES:
        raise CannotRead(f"The file is larger than {MOST_BYTES // 1024} KB. Split it into several batches.")
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


def read(text: str) -> list[Entry]:
    """The lines under the header, blank ones left out. Raises `CannotRead` where there is no list of lines to check."""
    if len(text.encode("utf-8", "replace")) > MOST_BYTES:
        raise CannotRead(f"The text is larger than {MOST_BYTES // 1024} KB. Split it into several batches.")
    if "\0" in text:
        raise CannotRead(f"The file contains binary data. {AS_UTF8}")
    rows = _rows(text.removeprefix("\ufeff"))
    header = next(iter(rows), None)
    if header is None:
        raise CannotRead("There are no lines. The first line names the columns; each further line is one payout.")
    names = _columns(header[1])
    if len(rows) - 1 > MOST_LINES:
        raise CannotRead(f"A batch has at most {MOST_LINES} lines; this one has {len(rows) - 1}. Split it.")
    if len(rows) == 1:
        raise CannotRead("There is only a header. Each further line is one payout.")
    return [_entry(number, names, values) for number, values in rows[1:]]


def written(lines: Iterable[Mapping[str, str]]) -> str:
    """Lines that were filled in by hand as CSV; those without any value are blank lines, so that numbers stay."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for line in lines:
        values = [line.get(name, "").strip() for name in COLUMNS]
        writer.writerow(values if any(values) else [])
    return out.getvalue()


def content_of(entries: Sequence[Entry]) -> str:
    """The digest of the lines in their order, whatever the separators, line ends and order of columns of the file."""
    lines = [[entry.fields.get(name, "").strip() for name in COLUMNS] for entry in entries]
    return hashlib.sha256(json.dumps(["countersign-batch-1", lines], ensure_ascii=True).encode()).hexdigest()


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


def _columns(header: Sequence[str]) -> list[str]:
    names = ["_".join(cell.strip().lower().replace("-", " ").replace("_", " ").split()) for cell in header]
    names = [_ALIASES.get(name, name) for name in names]
    need = f"The first line must name the columns: {', '.join(COLUMNS)}."
    if not set(names) & set(COLUMNS):
        raise CannotRead(need)
    if unknown := [cell.strip() for cell, name in zip(header, names, strict=True) if name not in COLUMNS]:
        raise CannotRead(f"Unknown column: {unknown[0][:60] or '(no name)'}. {need}")
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise CannotRead(f"The column {twice} occurs twice. {need}")
    if missing := [name for name in REQUIRED if name not in names]:
        raise CannotRead(f"Missing column: {', '.join(missing)}. {need}")
    return names


def _entry(number: int, names: Sequence[str], values: Sequence[str]) -> Entry:
    problem = ""
    if len(values) != len(names):
        problem = f"{len(values)} fields, but the header has {len(names)} columns."
    return Entry(number, dict(zip(names, values, strict=False)), problem)
