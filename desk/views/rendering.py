"""How a page is answered: whole, or only the part that htmx asks for at the same address."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers


def show(
    request: HttpRequest,
    template: str,
    context: Mapping[str, Any],
    *,
    parts: Mapping[str, str] | None = None,
    status: int = 200,
) -> HttpResponse:
    """The page, or the part whose element id htmx names as its target. No browser caches it."""
    htmx = getattr(request, "htmx", None)
    target = htmx.target if htmx else None
    chosen = (parts or {}).get(target or "", template)
    response = render(request, chosen, dict(context), status=status)
    response["Cache-Control"] = "no-store"
    patch_vary_headers(response, ("HX-Request", "HX-Target"))
    return response
