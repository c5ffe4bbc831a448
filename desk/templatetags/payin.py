"""An address as a code that a phone can scan, drawn here: one path of an inline image, no script, no inline style."""

from itertools import groupby

import qrcode
from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from qrcode.constants import ERROR_CORRECT_M

register = template.Library()

QUIET_ZONE = 4  # modules of white around the code, as its standard asks


@register.simple_tag
def qr(text: str, *, label: str) -> SafeString:
    """The text as a QR code that survives the loss of 15 per cent; `label` speaks for it."""
    code = qrcode.QRCode(border=QUIET_ZONE, error_correction=ERROR_CORRECT_M)
    code.add_data(text)
    rows = code.get_matrix()
    return format_html(
        '<svg class="qr" role="img" aria-label="{}" viewBox="0 0 {} {}" shape-rendering="crispEdges">'
        '<path fill="#000" d="{}"></path></svg>',
        label,
        len(rows),
        len(rows),
        "".join(_runs(y, row) for y, row in enumerate(rows)),
    )


def _runs(y: int, row: list[bool]) -> str:
    """The dark modules of one row, each run of neighbours as one rectangle."""
    drawn, x = [], 0
    for dark, run in groupby(row):
        length = len(list(run))
        if dark:
            drawn.append(f"M{x} {y}h{length}v1h-{length}z")
        x += length
    return "".join(drawn)
