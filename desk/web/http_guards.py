"""Checks around every page: where a request comes from, and that no cache stores the answer.

`Sec-Fetch-Site` is set by the browser and by no script (Fetch Metadata, W3C): a request that changes something and
comes from another site, or from another origin of the same site, is refused even if it carries the right token.
"""

from collections.abc import Callable
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import resolve_url
from django.urls import reverse
from django.utils.cache import patch_cache_control

from desk.web import errors

GetResponse = Callable[[HttpRequest], HttpResponseBase]

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
# "none" stands for a person's own action, such as typing an address. Older browsers and programs send nothing.
_OWN_SITES = frozenset({"same-origin", "none", ""})


class NoStoreMiddleware:
    """Keeps caches from storing any answer of the desk; static files do not pass here."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if "no-store" not in response.headers.get("Cache-Control", ""):
            patch_cache_control(response, no_store=True)
        return response


class ReportingMiddleware:
    """Names the address of the policy's `report-to`.

    That is the Reporting API (W3C); `report-uri` is for older browsers.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response["Reporting-Endpoints"] = f'csp="{reverse("csp-reports")}"'
        return response


class FetchSiteMiddleware:
    """Refuses requests that change something and come from another site's page.

    It also gives a bare 405 a readable page, and leads a sign-in that interrupted a form back to the form's page.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if response.status_code == 405 and not getattr(response, "content", b"-"):
            return errors.wrong_method(request, response.headers.get("Allow", ""))
        sign_in = resolve_url(settings.LOGIN_URL)
        if (
            response.status_code == 302
            and request.method not in _SAFE_METHODS
            and response.headers.get("Location", "").startswith(f"{sign_in}?{REDIRECT_FIELD_NAME}=")
        ):
            # The address of a decision takes no GET: after signing in, the person returns to the page of its form. The
            # sign-in page says that nothing was done.
            response.headers["Location"] = f"{sign_in}?{urlencode({'next': _page_of(request), 'unsent': 'yes'})}"
        return response

    def process_view(self, request: HttpRequest, *_: object) -> HttpResponseBase | None:
        """A 403 for what another site sent; None lets the request go on."""
        if request.method in _SAFE_METHODS or request.headers.get("Sec-Fetch-Site", "") in _OWN_SITES:
            return None
        # A browser sends reports from any site; they change nothing.
        if request.path == reverse("csp-reports"):
            return None
        return errors.foreign_site(request)


def _page_of(request: HttpRequest) -> str:
    """The page of ours that the request was sent from, or the overview."""
    came_from = urlsplit(request.headers.get("Referer", ""))
    same = came_from.netloc == request.get_host() and came_from.path.startswith("/")
    path = came_from.path + (f"?{came_from.query}" if came_from.query else "")
    return path if same and not path.startswith("//") else "/"
