"""Compression of pages where nobody else can choose what stands in them.

The length of a compressed answer tells whether a text of the request occurs in the page a second time: who can have a
browser ask for pages with text of their choice, and sees the lengths, can guess what else the page says (BREACH, 2013).
The CSRF token alone is masked anew for each answer, but balances, addresses, recovery codes and links are not. So a
page is compressed only if nothing of the request can stand in it that another site chose: it was asked for by GET
without a query, by this site's own pages or by a person's own action (`Sec-Fetch-Site`, set by the browser and by no
script), and it is no answer to a form. What the path names is a row or a code, and no link of another site leads here
compressed. Django adds up to a hundred bytes of chance to each length besides.
"""

from typing import Final

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

_OWN_SITES: Final = frozenset({"same-origin", "none"})


class PageCompressionMiddleware(GZipMiddleware):
    """Compresses pages and their parts as the module says; files, streams and everything else leave as they are."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """The answer, compressed where that tells nobody anything."""
        if response.streaming or not self._is_plain(request) or response.status_code != 200:
            return response
        if not response.headers.get("Content-Type", "").startswith("text/html"):
            return response
        compressed: HttpResponseBase = super().process_response(request, response)
        return compressed

    @staticmethod
    def _is_plain(request: HttpRequest) -> bool:
        """Whether nothing that another site chose can stand in the answer."""
        own = request.headers.get("Sec-Fetch-Site", "") in _OWN_SITES
        return own and request.method == "GET" and not request.META.get("QUERY_STRING")
