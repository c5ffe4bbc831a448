"""The append-only journal of a world: everything that ever came in and changed something, replayed at the next start.

One JSON object a line. The first line is the header (format, version, seed, number of symbols, first instant); each
further line is one input: when, what, by whom, with which arguments. Every line ends with a running checksum over
itself and all lines before it, so a line that is cut, changed, dropped or out of place ends what is taken for true;
the rest is kept aside.

Each line is handed to the operating system at once (the death of the process loses nothing) and is on the disk within
a second of writing at the next write, or at the end (a power cut may lose the last moments; a simulator can bear that).
"""

import fcntl
import logging
import os
import time
from pathlib import Path

from sandbox.engine.journal_lines import Entry, Header, Reading, body_of_entry, body_of_header, read_lines, sealed

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
            raise CannotOpenJournal(f"Another sandbox uses {folder}; stop it or take another data folder.") from None

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
            raise CannotOpenJournal(f"{path} has no readable first line.")
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
    kept = _free_name(path, number)
    kept.write_bytes(raw[reading.size :])
    where = f"cut short in line {number}" if reading.is_cut else f"not readable from line {number} on"
    return f"journal {where}: {reading.whole_lines} whole lines kept, the rest is in {kept.name}"


def _free_name(path: Path, number: int) -> Path:
    for suffix in ("", *(f"-{turn}" for turn in range(2, 1000))):
        candidate = path.with_name(f"journal.rest-from-line-{number}{suffix}.jsonl")
        if not candidate.exists():
            return candidate
    raise CannotOpenJournal(f"{path.parent} holds a thousand cut journals; clear some away.")
