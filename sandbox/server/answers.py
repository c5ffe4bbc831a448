"""Answers as they leave: status, body, headers, with the date of the sandbox's clock."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from html import escape
from http import HTTPStatus

import msgspec

JSON = "application/json; charset=utf-8"
HTML = "text/html; charset=utf-8"
MOST_SHOWN = 4_096  # bytes of a JSON body that the log of calls keeps

# Amounts are text already; a Decimal comes from a tester's JSON number, and leaves as the number it was.
_encoder = msgspec.json.Encoder(decimal_format="number")


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer. `logged` is what the log of calls keeps of the body."""

    status: int
    body: bytes
    content_type: str = JSON
    headers: tuple[tuple[str, str], ...] = ()
    logged: object = field(default=None, compare=False)


def of_json(value: object, status: int = HTTPStatus.OK) -> Answer:
    """The value as JSON, members in their own order, text as UTF-8."""
    return of_text(text_of(value), status)


def of_text(body: bytes, status: int = HTTPStatus.OK) -> Answer:
    """JSON that is written already."""
    return Answer(int(status), body, JSON, logged=logged_body(body))


def logged_body(body: bytes) -> object:
    """JSON as the log of calls keeps it: its bytes, which take far less room than its objects, or only how many."""
    return msgspec.Raw(body) if len(body) <= MOST_SHOWN else f"({len(body)} bytes)"


def text_of(value: object) -> bytes:
    """The value as the bytes of JSON."""
    return _encoder.encode(value)


def envelope(code: int, message: str, description: str) -> dict[str, object]:
    """The error object of the exchange; the description is there even when it is empty, clients rely on it."""
    return {"error": {"code": code, "message": message, "description": description}}


def of_error(status: int, code: int, message: str, description: str = "") -> Answer:
    """An error as the exchange answers it (exchange REST, Errors)."""
    return of_json(envelope(code, message, description), status)


def of_html(page: str, status: int = HTTPStatus.OK) -> Answer:
    """A page of HTML."""
    return Answer(int(status), page.encode(), HTML, logged=page)


def not_routed(method: str, path: str) -> Answer:
    """What the exchange answers to an unknown path or a verb the path does not take (exchange supplement 2.1)."""
    return of_html(
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Error</title>\n</head>\n'
        f"<body>\n<pre>Cannot {escape(method)} {escape(path)}</pre>\n</body>\n</html>\n",
        HTTPStatus.NOT_FOUND,
    )


def header_lines(answer: Answer, *, date_ms: int, length: bool = True) -> list[tuple[bytes, bytes]]:
    """The headers of the answer: type, date by the sandbox's clock, and the length unless it is to be chunked."""
    lines = [("content-type", answer.content_type), ("date", date_text(date_ms)), *answer.headers]
    if length:
        lines.append(("content-length", str(len(answer.body))))
    return [(name.encode("latin-1"), value.encode("latin-1", errors="replace")) for name, value in lines]


def date_text(at_ms: int) -> str:
    """Milliseconds since 1970 as an HTTP date (whole seconds, cut)."""
    return formatdate(at_ms // 1000, usegmt=True)


def with_field(value: object, changes: Mapping[str, object], absent: frozenset[str], record_id: str) -> object:
    """The answer with fields of its records changed or left out; the original stays as it is."""
    if isinstance(value, list):
        return [with_field(record, changes, absent, record_id) for record in value]
    if not isinstance(value, dict) or (record_id and str(value.get("id")) != record_id):
        return value
    kept = {name: member for name, member in value.items() if name not in absent}
    return kept | dict(changes)
