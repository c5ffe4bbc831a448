"""Makes characters visible that show nothing but change how text is read: directions, zero widths, controls.

A reason that holds U+202E makes the browser draw the rest of the line backwards, so that an approver reads another
amount or address than the one that is paid (Unicode Technical Report 36, 3.4; CVE-2021-42574). Rows, digests and the
API's JSON keep the text exact. Pages and files for people show a mark in place of each such character, and text that
people or outsiders wrote stands in an isolate of its own (HTML `bdi`), so that it can't reorder its surroundings.
"""

import re
import unicodedata
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

# C0 and C1 but for tab and line ends, the format characters (Cf), line and paragraph separators, lone surrogates, and
# what else Unicode calls default-ignorable. The Arabic signs among Cf are left out: they are seen. A variation selector
# behind an emoji only says how that one is drawn.
_VISIBLE = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
_EMOJI = "\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_INVISIBLE = re.compile(f"[{_VISIBLE}]|(?<![{_EMOJI}])[\ufe0e\ufe0f]")
# What a form sends back and what a button copies has to stay as it is.
_EXACT = r'(?P<exact><textarea\b[^>]*>.*?</textarea>|\svalue="[^"]*"|\sdata-copy="[^"]*")'
_IN_PAGE = re.compile(f"{_EXACT}|{_INVISIBLE.pattern}", re.DOTALL)
_SHORT = {
    "\u00ad": "SHY",
    "\u061c": "ALM",
    "\u200b": "ZWSP",
    "\u200c": "ZWNJ",
    "\u200d": "ZWJ",
    "\u200e": "LRM",
    "\u200f": "RLM",
    "\u2028": "LS",
    "\u2029": "PS",
    "\u202a": "LRE",
    "\u202b": "RLE",
    "\u202c": "PDF",
    "\u202d": "LRO",
    "\u202e": "RLO",
    "\u2060": "WJ",
    "\u2066": "LRI",
    "\u2067": "RLI",
    "\u2068": "FSI",
    "\u2069": "PDI",
    "\ufeff": "BOM",
}


def revealed(text: str) -> str:
    """The text with a mark such as RLO in angle quotes for each invisible character; for titles and files."""
    return _INVISIBLE.sub(lambda match: _mark(match[0]), text)


def isolated(text: object) -> SafeString:
    """The text escaped in an isolate, its invisible characters as marks that say their name on hover; "" stays empty.

    Text that is HTML already keeps its elements; the middleware marks what is in it.
    """
    if isinstance(text, SafeString):
        return format_html("<bdi>{}</bdi>", text) if text else text
    pieces = re.split(f"({_INVISIBLE.pattern})", str(text))
    marked = ((_marked(piece) if _INVISIBLE.fullmatch(piece) else piece,) for piece in pieces)
    return format_html("<bdi>{}</bdi>", format_html_join("", "{}", marked)) if text != "" else SafeString("")


def _mark(character: str) -> str:
    return f"\u2039{_SHORT.get(character, f'U+{ord(character):04X}')}\u203a"


def _marked(character: str) -> SafeString:
    title = f"U+{ord(character):04X} {unicodedata.name(character, 'control character').lower()}"
    return format_html('<span class="invisible" title="{}">{}</span>', title, _mark(character))


class InvisibleCharactersMiddleware:
    """Makes such characters visible in every page that is sent, wherever their text came from.

    It is the second line of defence after `isolated`: sentences, titles and choices with somebody's text pass here too.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if isinstance(response, HttpResponse) and response.get("Content-Type", "").startswith("text/html"):
            page = response.content.decode(response.charset)
            if _INVISIBLE.search(page):
                response.content = _IN_PAGE.sub(lambda match: match["exact"] or _mark(match[0]), page)
        return response
