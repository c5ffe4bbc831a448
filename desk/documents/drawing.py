"""Draws the blocks of a document on pages of A4, with the library's own flow of paragraphs and tables."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from html import escape
from io import BytesIO
from typing import Any, Final

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4, landscape
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    CondPageBreak,
    Flowable,
    KeepTogether,
    LongTable,
    PageBreakIfNotEmpty,
    Paragraph,
    SimpleDocTemplate,
    Spacer,
    TableStyle,
)

from desk.documents import typeface
from desk.documents.blocks import Block, Facts, Heading, NewPage, Table, Text
from desk.documents.typeface import BOLD, PLAIN, legible

MARGIN: Final = 16 * mm
FOOT: Final = 9 * mm
FRAME_PADDING: Final = 6.0  # points, by which the library insets what it holds
WITH_ITS_HEADING: Final = 30 * mm  # what has to fit below a heading, or both begin a page
# Points. A table is drawn in the largest of its sizes in which no figure has to be broken.
TEXT_SIZE: Final = 8.5
TABLE_SIZES: Final = (8.0, 7.5, 7.0, 6.5, 6.0)
PADDING: Final = 3.0
NARROWEST_TEXT: Final = 44.0  # a column of words may be broken into lines of this width
FACT_NAMES: Final = 0.3  # of the page's width
_INK, _QUIET, _LINE = colors.HexColor("#1a2028"), colors.HexColor("#5a6472"), colors.HexColor("#d5dae1")


def draw(blocks: Iterable[Block], *, title: str, about: str, made_at: datetime, wide: bool) -> bytes:
    """See `desk.documents.pdf`."""
    typeface.letters()
    size = landscape(A4) if wide else A4
    written = BytesIO()
    template = SimpleDocTemplate(
        written,
        pagesize=size,
        leftMargin=MARGIN,
        rightMargin=MARGIN,
        topMargin=MARGIN,
        bottomMargin=MARGIN + FOOT,
        title=legible(title),
        author="Countersign",
        subject=legible(about),
        lang="en-GB",
    )
    space = size[0] - 2 * (MARGIN + FRAME_PADDING)
    flow = [flowable for block in blocks for flowable in _flowables(block, space)]
    foot = f"{about} · created {made_at:%Y-%m-%d %H:%M:%S} UTC by Countersign"
    template.build(flow, canvasmaker=lambda *a, **k: _Numbered(*a, foot=legible(foot), **k))
    return written.getvalue()


class _Numbered(Canvas):
    """A canvas whose pages say how many there are: they are finished when all of them are known."""

    def __init__(self, *arguments: Any, foot: str, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._foot, self._pages = foot, list[dict[str, Any]]()

    def showPage(self) -> None:  # noqa: N802 (the library's name)
        """Keep the page for later."""
        self._pages.append(dict(self.__dict__))
        self._startPage()  # type: ignore[attr-defined]

    def save(self) -> None:
        """Put the foot under each page, then write them all."""
        pages = self._pages
        for number, page in enumerate(pages, start=1):
            self.__dict__.update(page)
            self.setFont(PLAIN, 7)
            self.setFillColor(_QUIET)
            right = float(self._pagesize[0]) - MARGIN - FRAME_PADDING  # type: ignore[attr-defined]
            self.drawString(MARGIN + FRAME_PADDING, MARGIN, self._foot)
            self.drawRightString(right, MARGIN, f"Page {number} of {len(pages)}")
            super().showPage()
        super().save()


def _flowables(block: Block, space: float) -> Iterator[Flowable]:
    match block:
        case Heading():
            size = 15.0 if block.level == 1 else 10.5
            yield CondPageBreak(WITH_ITS_HEADING)
            yield _paragraph(block.text, size, font=BOLD, before=0 if block.level == 1 else 12, after=5)
        case Text():
            font, ink = BOLD if block.strong else PLAIN, _QUIET if block.quiet else _INK
            yield _paragraph(block.text, TEXT_SIZE, font=font, ink=ink, after=4)
        case Facts():
            yield _facts(block.rows, space)
            yield Spacer(1, 6)
        case Table():
            yield from _table(block, space)
            yield Spacer(1, 6)
        case NewPage():
            yield PageBreakIfNotEmpty()


def _paragraph(
    text: str, size: float, *, font: str = PLAIN, ink: colors.Color = _INK, before: float = 0, after: float = 0
) -> Paragraph:
    style = ParagraphStyle(
        "block",
        fontName=font,
        fontSize=size,
        leading=size * 1.35,
        textColor=ink,
        spaceBefore=before,
        spaceAfter=after,
        splitLongWords=1,
    )
    return Paragraph(escape(legible(text)).replace("\n", "<br/>"), style)


def _facts(rows: Sequence[tuple[str, str]], space: float) -> LongTable:
    cells = [[_paragraph(name, TEXT_SIZE, ink=_QUIET), _paragraph(value, TEXT_SIZE)] for name, value in rows]
    table = LongTable(cells, colWidths=[space * FACT_NAMES, space * (1 - FACT_NAMES)], hAlign="LEFT", splitInRow=1)
    table.setStyle(TableStyle([*_CELLS, ("LEFTPADDING", (0, 0), (0, -1), 0)]))
    return table


_CELLS: Final[list[tuple[Any, ...]]] = [
    ("VALIGN", (0, 0), (-1, -1), "TOP"),
    ("LEFTPADDING", (0, 0), (-1, -1), PADDING),
    ("RIGHTPADDING", (0, 0), (-1, -1), PADDING),
    ("TOPPADDING", (0, 0), (-1, -1), 2.0),
    ("BOTTOMPADDING", (0, 0), (-1, -1), 2.5),
]


def _table(block: Table, space: float) -> Iterator[Flowable]:
    rows = [*block.rows, *([block.total] if block.total is not None else [])]
    if any(len(row) != len(block.head) for row in rows):
        raise ValueError(f"Each row of this table has {len(block.head)} cells, as its head has.")
    for size in TABLE_SIZES:
        widths = _widths(block, rows, size, space)
        if widths is not None:
            yield _lay_out(block, rows, size, widths)
            return
    for row in rows:
        yield KeepTogether([_facts([pair for pair in zip(block.head, row, strict=True) if pair[1]], space)])
        yield Spacer(1, 4)


def _widths(block: Table, rows: Sequence[Sequence[str]], size: float, space: float) -> list[float] | None:
    """The width of each column, or None where the figures and the narrowest words do not fit the page."""
    needs = []
    for place, head in enumerate(block.head):
        lines = [line for row in rows for line in legible(row[place]).split("\n")]
        # A head may be broken between its words.
        longest = max((typeface.width(word, size, bold=True) for word in legible(head).split()), default=0.0)
        widest = max((typeface.width(line, size, bold=block.total is not None) for line in lines), default=0.0)
        wish = max(longest, widest) + 2 * PADDING + 0.5
        is_single = place in block.figures or place in block.single_line
        needs.append((wish, wish if is_single else min(wish, max(longest + 2 * PADDING, NARROWEST_TEXT))))
    least = sum(narrow for _, narrow in needs)
    if least > space:
        return None
    # What is left is given to the columns of words in the proportion in which they lack it, then to all.
    lacking = sum(wish - narrow for wish, narrow in needs)
    share = min(1.0, (space - least) / lacking) if lacking else 0.0
    widths = [narrow + (wish - narrow) * share for wish, narrow in needs]
    spare = (space - sum(widths)) / len(widths)
    return [each + spare for each in widths]


def _lay_out(block: Table, rows: Sequence[Sequence[str]], size: float, widths: list[float]) -> LongTable:
    last = len(rows)
    has_total = block.total is not None

    def cell(text: str, place: int, row: int) -> Any:
        if place in block.figures and row:
            return legible(text)
        font, ink = (BOLD, _QUIET) if not row else (BOLD if has_total and row == last else PLAIN, _INK)
        paragraph = _paragraph(text, size, font=font, ink=ink)
        paragraph.style.alignment = 2 if place in block.figures else 0
        return paragraph

    cells = [
        [cell(text, place, row) for place, text in enumerate(line)] for row, line in enumerate([block.head, *rows])
    ]
    table = LongTable(cells, colWidths=widths, repeatRows=1, hAlign="LEFT", splitInRow=1)
    style = [
        *_CELLS,
        ("FONT", (0, 0), (-1, -1), PLAIN, size, size * 1.35),
        ("TEXTCOLOR", (0, 0), (-1, -1), _INK),
        ("LINEBELOW", (0, 0), (-1, 0), 0.8, _QUIET),
        ("LINEBELOW", (0, 1), (-1, -1), 0.4, _LINE),
        *(("ALIGN", (place, 0), (place, -1), "RIGHT") for place in block.figures),
    ]
    if has_total:
        style += [("FONT", (0, -1), (-1, -1), BOLD, size, size * 1.35), ("LINEABOVE", (0, -1), (-1, -1), 0.8, _QUIET)]
    table.setStyle(TableStyle(style))
    return table
