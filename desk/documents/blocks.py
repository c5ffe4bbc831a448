"""What a document consists of. Texts are plain: nothing in them is read as markup."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Heading:
    """A title: of the document at level 1, of a part at level 2."""

    text: str
    level: int = 2


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph; `strong` for what must not be overlooked, `quiet` for what explains."""

    text: str
    strong: bool = False
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with their values, one pair a line."""

    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose head is repeated on every page.

    `figures` are the columns of numbers, counted from 0: they end at the right and are never broken into two lines.
    `single_line` are further columns that stay in one line, such as times.
    `total` is a last row that stands out. A table that is too wide for the page is drawn as facts, row by row.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    figures: Collection[int] = ()
    single_line: Collection[int] = ()
    total: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class NewPage:
    """What follows begins on a new page, unless a page was just begun."""


Block = Heading | Text | Facts | Table | NewPage
