"""Which files people may attach: their size, where they are sent, and their kinds, known by content and by name."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from desk import rooms

MOST_MB: Final = 5
MOST_BYTES: Final = MOST_MB * 1_000_000
TOO_LARGE: Final = f"Not attached: the file is larger than {MOST_MB} MB."
BODY_BYTES: Final = MOST_BYTES + 100_000  # of a request with a file and the fields beside it
_OF_THREADS: Final = r"action/threads/[\w-]+/[0-9]+/files/"
_TAIL: Final = 1024  # bytes in which a file's last mark is looked for: programs write some padding behind it
_ALLOWED_CONTROLS: Final = frozenset(b"\t\r\n\f")


def paths() -> re.Pattern[str]:
    """Where such requests are sent: to threads, and where the rooms say. They may put an account before every path."""
    tails = "|".join((_OF_THREADS, *rooms.file_paths()))
    return re.compile(rf"(?:/[\w-]+/[0-9]+)?/(?:{tails})", re.ASCII)


@dataclass(frozen=True, slots=True)
class FileType:
    """A kind of file: its name for people, how it is served, how names of such files end, and what its content is."""

    name: str
    media_type: str
    suffixes: tuple[str, ...]
    holds: Callable[[bytes], bool]


def _is_pdf(content: bytes) -> bool:
    return content.startswith(b"%PDF-") and b"%%EOF" in content[-_TAIL:]


def _is_png(content: bytes) -> bool:
    return content.startswith(b"\x89PNG\r\n\x1a\n") and b"IEND" in content[-_TAIL:]


def _is_jpeg(content: bytes) -> bool:
    return content.startswith(b"\xff\xd8\xff") and b"\xff\xd9" in content[-_TAIL:]


def _is_text(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return not any(byte < 0x20 and byte not in _ALLOWED_CONTROLS for byte in set(content))


TYPES: Final = (
    FileType("PDF", "application/pdf", (".pdf",), _is_pdf),
    FileType("PNG", "image/png", (".png",), _is_png),
    FileType("JPEG", "image/jpeg", (".jpg", ".jpeg"), _is_jpeg),
    FileType("CSV", "text/csv; charset=utf-8", (".csv",), _is_text),
    FileType("text", "text/plain; charset=utf-8", (".txt",), _is_text),
)
SUFFIXES: Final = tuple(suffix for each in TYPES for suffix in each.suffixes)
NAMES: Final = "PDF, PNG, JPEG, CSV or text (UTF-8)"


def named(name: str) -> FileType | None:
    """The kind that a file of this name should be of; None if none of them."""
    suffix = PurePosixPath(name.lower()).suffix
    return next((each for each in TYPES if suffix in each.suffixes), None)
