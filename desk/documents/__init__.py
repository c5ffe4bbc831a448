"""Documents for people, in PDF: what rooms say in blocks, drawn on pages of A4 with their letters embedded.

The library (reportlab) is loaded with the first document, so that a process that draws none does not hold it.
"""

from datetime import datetime

from desk.documents.blocks import Block

CONTENT_TYPE = "application/pdf"


def pdf(blocks: list[Block], *, title: str, about: str, made_at: datetime, wide: bool = False) -> bytes:
    """The document as bytes. `about` stands at the foot of each page beside its number; `wide` turns the pages.

    Text is drawn as it is stored, but for characters that show nothing or that the typeface lacks: each stands as its
    code point. Raises ValueError for a table whose rows are not as long as its head.
    """
    from desk.documents import drawing  # late: see above

    return drawing.draw(blocks, title=title, about=about, made_at=made_at, wide=wide)
