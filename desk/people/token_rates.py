"""How often a token may ask: a program that went wild must not take the desk from the people at it."""

import math
from typing import Any, cast

from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from desk.models import ApiToken


class TokenRate(SimpleRateThrottle):
    """Each token by itself, `API_RATE` of the settings; people who are signed in are not counted.

    The count is kept in the desk's cache and is not exact under concurrent requests: some more than the rate may pass.
    """

    scope = "token"

    def get_cache_key(self, request: Request, view: Any) -> str | None:
        """The token that was sent; none for a session."""
        return f"api-rate:{request.auth.pk}" if isinstance(request.auth, ApiToken) else None


def seconds_to_wait(token_id: int) -> int:
    """Count what a socket of this token does as one request of it: zero, or the whole seconds until it may again."""
    request, rate, no_view = Request(HttpRequest()), TokenRate(), cast("Any", None)
    request.auth = ApiToken(pk=token_id)
    return 0 if rate.allow_request(request, no_view) else math.ceil(rate.wait() or 1)
