"""Files of heads outside the database: one line for each link of a chain, written after its commit, never changed.

A line is "number hash time". Where a full disk or a power cut left a line incomplete, the next write begins with a line
end, so that two lines never run together. `findings` tells such a torn line, which proves nothing, from a changed one.
"""

import errno
import fcntl
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import structlog
from django.conf import settings

_log = structlog.get_logger(__name__)
_LINE = re.compile(r"([1-9][0-9]*) ([0-9a-f]{64}) ([0-9T:+.-]{32})")
# What an interrupted write may leave of a line; a power cut may leave zero bytes in its place.
_TORN = re.compile(r"[1-9][0-9]*( [0-9a-f]{0,64}( [0-9T:+.-]{0,32})?)?")


@dataclass(frozen=True, slots=True)
class Line:
    """A complete line: the number and the hash of its link, and its text without the line end."""

    seq: int
    hash: str
    text: str


def lines(path: Path, *, start: int = 0) -> tuple[list[Line], int]:
    """The complete lines of a file from this byte on, and the byte after the last one. Other lines are skipped.

    A file that can't be read has none; a file shorter than `start` is read from its beginning.
    """
    try:
        with path.open("rb") as file:
            file.seek(start if start <= path.stat().st_size else 0)
            offset, content = file.tell(), file.read()
    except OSError:
        return [], 0
    end = content.rfind(b"\n") + 1
    matches = (_LINE.fullmatch(text) for text in content[:end].decode(errors="replace").split("\n"))
    return [Line(int(match[1]), match[2], match[0]) for match in matches if match], offset + end


def append(path: Path, *, seq: int, hash: str, at: datetime) -> None:
    """Append one complete line. The change is committed already, so a failure is only logged."""
    line = f"{seq} {hash} {at.astimezone(UTC).isoformat(timespec='microseconds')}\n".encode()
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)  # released on close; nobody reads the end while it is being written
            _write_line(descriptor, line)
        finally:
            os.close(descriptor)
    except OSError as error:
        _log.error("audit.head_not_written", file=path.name, reason=str(error), head=line.decode().strip())


def _write_line(descriptor: int, line: bytes) -> None:
    """Write one complete line in one go, on a line of its own."""
    text = line if _ends_with_line_end(descriptor) else b"\n" + line
    written = os.write(descriptor, text)
    if written < len(text):
        raise OSError(errno.ENOSPC, "the line could not be written in full")


def _ends_with_line_end(descriptor: int) -> bool:
    size = os.fstat(descriptor).st_size
    return size == 0 or os.pread(descriptor, 1, size - 1) == b"\n"


def findings(
    path: Path, hashes: Mapping[int, str], *, chain: str, file: str, lost: Iterable[tuple[int, str]] = ()
) -> Iterator[str]:
    """A sentence for every head of the file that is not in the chain, whose hashes are given by number.

    The file is read now and compared when the sentences are read. Until then `hashes` may be filled from rows that are
    read after the file, since a head is written only after its row.

    `lost` are heads that people gave up after a restore: for each the number up to which the chain existed then, and
    the text of the last line at that time. Higher numbers in the lines up to that one are no finding. `lost` is read
    together with the sentences.

    `chain` and `file` are the words for both in a sentence. An incomplete line is skipped where it is the beginning of
    a head that is in the chain.
    """
    try:
        content = path.read_text(errors="replace") if path.exists() else ""
    except OSError as error:
        return iter(
            [
                f"The {file} can't be read ({error.strerror}), "
                f"so events deleted from the end of the {chain} would go undetected."
            ]
        )
    return _compared(content, hashes, chain, file, lost)


def _compared(
    content: str, hashes: Mapping[int, str], chain: str, file: str, lost: Iterable[tuple[int, str]]
) -> Iterator[str]:
    if hashes and not content:
        yield f"The {file} is missing or empty, so events deleted from the end of the {chain} would go undetected."
    # What follows the last line end is a write that goes on or was interrupted.
    lines = content.split("\n")[:-1]
    given_up = [(lines.index(text) + 1, newest) for newest, text in lost if text in lines]
    for number, line in enumerate(lines, start=1):
        match = _LINE.fullmatch(line)
        if match is None:
            if not _is_torn(line, hashes):
                yield f"Line {number} of the {file} was changed."
        elif any(number <= place and int(match[1]) > newest for place, newest in given_up):
            continue
        elif hashes.get(int(match[1])) != match[2]:
            yield _gone(int(match[1]), hashes, chain=chain, witness=f"line {number} of the {file}")


def _is_torn(line: str, hashes: Mapping[int, str]) -> bool:
    """Whether this is the beginning of a line, and agrees as far as it goes with a head in the chain."""
    line = line.rstrip("\0")
    if not line:
        return True
    if _TORN.fullmatch(line) is None:
        return False
    seq, _, rest = line.partition(" ")
    beginning = rest.partition(" ")[0]
    if not beginning:
        return any(str(number).startswith(seq) for number in hashes)
    return hashes.get(int(seq), "").startswith(beginning)


def _gone(seq: int, hashes: Mapping[int, str], *, chain: str, witness: str) -> str:
    newest = max(hashes, default=0)
    if seq > newest:
        return f"The {chain} ends at event {newest}, but {witness} records event {seq}: later events were deleted."
    return f"Event {seq} does not match {witness}: the {chain} was rewritten."


def folder() -> Path:
    """Where the files are: outside the database, in the desk's own folder."""
    return Path(settings.DATA_DIR)
