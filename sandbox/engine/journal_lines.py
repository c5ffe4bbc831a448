"""The lines of a journal: their JSON, their running checksum, and how much of a file is whole."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from hashlib import sha256

import msgspec

from sandbox.settings.dialects import DIALECTS, DOCUMENTED

FORMAT = "countersign-sandbox-journal"
VERSION = 1
DEEPEST = 8

_SUM_DIGITS = 16
_TAIL = len(',"sum":""}') + _SUM_DIGITS


class NotPlain(ValueError):
    """A value has no exact JSON form; `name` says where it stands."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@dataclass(frozen=True, slots=True)
class Header:
    """How a world began: its seed, how many symbols it was asked for, its first instant in sandbox time, and in which
    dialect it answered then (journals from before there were two don't name it)."""

    seed: int
    symbols: int | None
    started_ms: int
    dialect: str = DOCUMENTED


@dataclass(frozen=True, slots=True)
class Entry:
    """One input: its sandbox time, the operation or control action, and who called (empty for the control plane).

    `outcomes` is what the books said to the orders in it (`exchange.recorded_fills`): they can't be asked again.
    """

    at_ms: int
    action: str
    arguments: dict[str, object]
    login: str = ""
    account: str = ""
    outcomes: list[object] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Reading:
    """The whole lines at the head of a journal file.

    `size` is their length in bytes and `checksum` their running sum; `ends` holds the same two after each line, so
    that the reading can be shortened. `bad_line` numbers the first line that is not whole (from 1), if there is one;
    `is_cut` tells that the file ends within it.
    """

    header: Header | None = None
    entries: list[Entry] = field(default_factory=list)
    ends: list[tuple[int, str]] = field(default_factory=list)
    bad_line: int | None = None
    is_cut: bool = False

    @property
    def whole_lines(self) -> int:
        """How many lines are whole, the header included."""
        return len(self.ends)

    @property
    def size(self) -> int:
        """Bytes of the whole lines."""
        return self.ends[-1][0] if self.ends else 0

    @property
    def checksum(self) -> str:
        """The running checksum after the last whole line."""
        return self.ends[-1][1] if self.ends else ""

    def before(self, entry_number: int) -> "Reading":
        """The reading without the entry of this number (from 0) and all that follow."""
        lines = entry_number + 1
        return replace(
            self, entries=self.entries[:entry_number], ends=self.ends[:lines], bad_line=lines + 1, is_cut=False
        )


def plain(value: object, name: str = "", depth: int = 0) -> object:
    """The exact JSON form of an argument: decimals and instants as text; raises `NotPlain` for what has none.

    Whole numbers have at most 256 bits, and lists and objects stand at most eight deep.
    """
    if value is None or isinstance(value, str) or (isinstance(value, int) and value.bit_length() <= 256):
        return value
    if isinstance(value, Decimal) and value.is_finite() and -100 < value.adjusted() < 100:
        return format(value, "f")
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, Mapping) and depth < DEEPEST:
        return {str(key): plain(member, name or str(key), depth + 1) for key, member in value.items()}
    if isinstance(value, list | tuple) and depth < DEEPEST:
        return [plain(member, name, depth + 1) for member in value]
    raise NotPlain(name)


def body_of_header(header: Header) -> str:
    """The JSON object of the first line, without its checksum."""
    return _json(
        {
            "format": FORMAT,
            "version": VERSION,
            "seed": header.seed,
            "symbols": header.symbols,
            "started_ms": header.started_ms,
            "dialect": header.dialect,
        }
    )


def body_of_entry(entry: Entry) -> str:
    """The JSON object of an input, without its checksum."""
    body: dict[str, object] = {"at": entry.at_ms, "do": entry.action, "with": entry.arguments}
    if entry.login or entry.account:
        body |= {"key": entry.login, "account": entry.account}
    if entry.outcomes:
        body["met"] = entry.outcomes
    return _json(body)


def sealed(body: str, previous: str) -> tuple[bytes, str]:
    """The line of `body` with the running checksum that follows `previous`, and that checksum."""
    checksum = _checksum(previous, body.encode())
    return f'{body[:-1]},"sum":"{checksum}"}}\n'.encode(), checksum


def read_lines(raw: bytes) -> Reading:
    """As much of a journal file as is whole: every checksum fits and every line has the members it must have."""
    reading, previous, start = Reading(), "", 0
    header: Header | None = None
    while start < len(raw):
        end = raw.find(b"\n", start)
        line = raw[start : end if end >= 0 else len(raw)]
        checksum = _fitting_sum(line, previous) if end >= 0 else ""
        entry = _entry_of(line) if checksum and reading.ends else None
        if checksum and not reading.ends:
            header = _header_of(line)
        if not checksum or (entry is None and (reading.ends or header is None)):
            return replace(reading, header=header, bad_line=reading.whole_lines + 1, is_cut=end < 0)
        if entry is not None:
            reading.entries.append(entry)
        start, previous = end + 1, checksum
        reading.ends.append((start, checksum))
    return replace(reading, header=header, bad_line=None if header else 1)


def _fitting_sum(line: bytes, previous: str) -> str:
    if len(line) <= _TAIL:
        return ""
    checksum = _checksum(previous, line[:-_TAIL] + b"}")
    return checksum if line[-_TAIL:] == f',"sum":"{checksum}"}}'.encode() else ""


def _checksum(previous: str, body: bytes) -> str:
    return sha256(previous.encode() + body).hexdigest()[:_SUM_DIGITS]


def _header_of(line: bytes) -> Header | None:
    match _object(line):
        case {"format": str(form), "version": int(version), "seed": int(seed), "started_ms": int(started), **rest}:
            if (form, version) != (FORMAT, VERSION):
                return None
            symbols, dialect = rest.get("symbols"), rest.get("dialect", DOCUMENTED)
            if dialect not in DIALECTS:
                return None
            return Header(seed, symbols if isinstance(symbols, int) else None, started, str(dialect))
    return None


class _Kept(msgspec.Struct):
    """The members of an input's line."""

    at: int
    do: str
    arguments: dict[str, object] = msgspec.field(name="with")
    key: str = ""
    account: str = ""
    met: list[object] = msgspec.field(default_factory=list)


_kept = msgspec.json.Decoder(_Kept)


def _entry_of(line: bytes) -> Entry | None:
    """The input of a line. Most are read the quick way; what is more than that takes the other one, half characters
    for instance."""
    try:
        kept = _kept.decode(line)
    except msgspec.MsgspecError:
        return _slowly(line)
    return Entry(kept.at, kept.do, kept.arguments, kept.key, kept.account, kept.met)


def _slowly(line: bytes) -> Entry | None:
    match _object(line):
        case {"at": int(at_ms), "do": str(action), "with": dict(arguments), **rest}:
            met = rest.get("met", [])
            if not isinstance(met, list):
                return None
            return Entry(at_ms, action, arguments, str(rest.get("key", "")), str(rest.get("account", "")), met)
    return None


def _object(line: bytes) -> object:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _json(body: Mapping[str, object]) -> str:
    return json.dumps(body, separators=(",", ":"))
