"""The typeface of documents, embedded in each: a reader needs no fonts, whatever the language of a name."""

import unicodedata
from functools import cache
from pathlib import Path
from typing import Final

from django.conf import settings
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont

from desk import invisible

PLAIN: Final = "DejaVuSansCondensed"
BOLD: Final = "DejaVuSansCondensed-Bold"
_FOLDER: Final = "static/vendor/dejavu-fonts-2.37.3"
# The library draws letters in the order in which they are stored: wrong for scripts that run from the right.
_FROM_THE_RIGHT: Final = {"R", "AL", "AN"}


@cache
def letters() -> frozenset[int]:
    """The code points that both weights can draw; the first call makes them known to the library."""
    faces = []
    for name in (PLAIN, BOLD):
        font = TTFont(name, str(Path(settings.BASE_DIR, _FOLDER, f"{name}.ttf")))
        pdfmetrics.registerFont(font)
        faces.append(frozenset(font.face.charToGlyph))
    return faces[0] & faces[1]


def legible(text: str) -> str:
    """The text with a code point such as U+4E2D in angle quotes for each character that can't be drawn as it reads."""
    return "".join(map(_drawable, invisible.revealed(text).replace("\t", " ")))


def _drawable(character: str) -> str:
    if character == "\n" or character.isascii():
        return character
    if ord(character) in letters() and unicodedata.bidirectional(character) not in _FROM_THE_RIGHT:
        return character
    return f"\u2039U+{ord(character):04X}\u203a"


def width(text: str, size: float, *, bold: bool = False) -> float:
    """The width of one line of text in points."""
    letters()
    return float(pdfmetrics.stringWidth(text, BOLD if bold else PLAIN, size))
