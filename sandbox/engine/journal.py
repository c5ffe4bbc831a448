"""The append-only journal of a world: everything that ever came in and changed something, replayed at the next start.

One JSON object a line. The first line is the header (format, version, seed, number of symbols, first instant); each
further line is one input: when, what, by whom, with which arguments. Every line ends with a running checksum over
itself and all lines before it, so a line that is cut, changed, dropped or out of place ends what is taken for true;
the rest is kept aside.

Each line is handed to the operating system at once (the death of the process loses nothing) and is on the disk within
a second of writing at the next write, or at the end (a power cut may lose the last moments; a simulator can bear that).
"""

import fcntl
import json
import logging
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from hashlib import sha256
from pathlib import Path

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
    dialect it answered then (journals from before there were two don't name it).

    `figures` is what a world of a desk's own figures began with (`sandbox.world.figures`); None for one of the seed."""

    seed: int
    symbols: int | None
    started_ms: int
    dialect: str = DOCUMENTED
    figures: dict[str, object] | None = None


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
            **({} if header.figures is None else {"figures": header.figures}),
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
            symbols, dialect, figures = rest.get("symbols"), rest.get("dialect", DOCUMENTED), rest.get("figures")
            if dialect not in DIALECTS or not isinstance(figures, dict | None):
                return None
            return Header(seed, symbols if isinstance(symbols, int) else None, started, str(dialect), figures)
    return None


class _EntryLine(msgspec.Struct):
    """The members of an input's line."""

    at: int
    do: str
    arguments: dict[str, object] = msgspec.field(name="with")
    key: str = ""
    account: str = ""
    met: list[object] = msgspec.field(default_factory=list)


_line_decoder = msgspec.json.Decoder(_EntryLine)


def _entry_of(line: bytes) -> Entry | None:
    """The input of a line. Most are read the quick way; what is more than that takes the other one, half characters
    for instance."""
    try:
        entry_line = _line_decoder.decode(line)
    except msgspec.MsgspecError:
        return _slowly(line)
    return Entry(entry_line.at, entry_line.do, entry_line.arguments, entry_line.key, entry_line.account, entry_line.met)


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


# The file -------------------------------------------------------------------------------------------------------------


log = logging.getLogger(__name__)

FILE_NAME = "journal.jsonl"
SYNC_EVERY_S = 1


class CannotOpenJournal(OSError):
    """The journal can't be used: the message says which file and why."""


class Lock:
    """Keeps a data folder to one sandbox at a time."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._descriptor = os.open(folder / "journal.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._descriptor)
            raise CannotOpenJournal(f"Another sandbox is using {folder}; stop it or choose another folder.") from None

    def release(self) -> None:
        """Lets the folder go."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class Journal:
    """The journal of one world; without a path it lives in memory and is forgotten with the process."""

    def __init__(self, header: Header, path: Path | None) -> None:
        self.header = header
        self.path = path
        self.length = 0  # inputs, the header not counted
        self.lines: list[bytes] = []  # only of a journal in memory
        self._sum = ""
        self._size = 0
        self._descriptor = -1
        self._synced_s = 0

    @classmethod
    def begin(cls, header: Header, path: Path | None = None) -> "Journal":
        """An empty journal; a file that stands at `path` becomes `journal.previous.jsonl`."""
        journal = cls(header, path)
        if path is not None:
            if path.exists():
                path.replace(path.with_name("journal.previous.jsonl"))
            journal._open()
        journal._write(body_of_header(header))
        return journal

    @classmethod
    def resume(cls, path: Path, reading: Reading) -> "Journal":
        """The journal that goes on after the whole lines of `reading`; whatever follows them in the file is cut off."""
        if reading.header is None:
            raise CannotOpenJournal(f"The first line of {path} is unreadable.")
        journal = cls(reading.header, path)
        journal.length, journal._sum, journal._size = len(reading.entries), reading.checksum, reading.size
        journal._open()
        return journal

    def append(self, entry: Entry) -> None:
        """Adds one input; raises OSError when it can't be written, and then the file ends with the line before it."""
        self._write(body_of_entry(entry))
        self.length += 1

    def close(self) -> None:
        """Brings everything to the disk and lets the file go; a disk that refuses is only logged, for nothing is left
        to be stopped."""
        if self._descriptor < 0:
            return
        try:
            os.fsync(self._descriptor)
        except OSError as problem:
            log.warning("the journal may not be on the disk whole: %s", problem)
        os.close(self._descriptor)
        self._descriptor = -1

    def _open(self) -> None:
        if self.path is None:
            return
        self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.ftruncate(self._descriptor, self._size)
        os.lseek(self._descriptor, 0, os.SEEK_END)

    def _write(self, body: str) -> None:
        line, checksum = sealed(body, self._sum)
        if self.path is None:
            self.lines.append(line)
        else:
            self._write_whole(line)
        self._sum, self._size = checksum, self._size + len(line)

    def _write_whole(self, line: bytes) -> None:
        rest = memoryview(line)
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError:
            os.ftruncate(self._descriptor, self._size)
            os.lseek(self._descriptor, 0, os.SEEK_END)
            raise
        if time.monotonic() - self._synced_s >= SYNC_EVERY_S:
            os.fsync(self._descriptor)
            self._synced_s = int(time.monotonic())


def read(path: Path) -> tuple[Reading, str]:
    """What is whole in the file at `path`, and a warning when not all was: the rest is kept in a file beside it."""
    raw = path.read_bytes()
    reading = read_lines(raw)
    if reading.bad_line is None:
        return reading, ""
    return reading, set_aside(path, reading, raw)


def set_aside(path: Path, reading: Reading, raw: bytes) -> str:
    """Keeps what follows the whole lines of `reading` in a file of its own; returns the sentence that says so."""
    number = reading.bad_line or reading.whole_lines + 1
    rest_path = _free_name(path, number)
    rest_path.write_bytes(raw[reading.size :])
    where = f"cut short in line {number}" if reading.is_cut else f"unreadable from line {number} on"
    return f"journal {where}: {reading.whole_lines} complete lines kept, the rest moved to {rest_path.name}"


def _free_name(path: Path, number: int) -> Path:
    for suffix in ("", *(f"-{turn}" for turn in range(2, 1000))):
        candidate = path.with_name(f"journal.rest-from-line-{number}{suffix}.jsonl")
        if not candidate.exists():
            return candidate
    raise CannotOpenJournal(f"{path.parent} contains a thousand truncated journals; delete some.")
