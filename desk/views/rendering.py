"""How a page is answered: whole, only the part that htmx asks for at the same address, or with one sentence."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers

ANSWER = "#own-answer [data-words]"


def show(
    request: HttpRequest,
    template: str,
    context: Mapping[str, Any],
    *,
    parts: Mapping[str, str] | None = None,
    status: int = 200,
) -> HttpResponse:
    """The page, or the part whose element id htmx names as its target. No browser keeps it in a cache."""
    chosen = (parts or {}).get(target(request), template)
    response = render(request, chosen, dict(context), status=status)
    response["Cache-Control"] = "no-store"
    patch_vary_headers(response, ("HX-Request", "HX-Target"))
    return response


def answer_here(
    request: HttpRequest, sentence: str, *, tone: str = "success", url: str = "", link: str = "", status: int = 200
) -> HttpResponse:
    """One sentence at the foot of the page that sent a form and stays open, with a `link` to `url`.

    `tone` is ours or the level of a message. The page shows it whatever the status is (static/js/answers.js).
    """
    context = {"sentence": sentence, "tone": tone, "url": url, "link": link}
    response = render(request, "components/sentence.html", context, status=status)
    response["HX-Retarget"], response["HX-Reswap"] = ANSWER, "innerHTML"
    response["Cache-Control"] = "no-store"
    return response


def target(request: HttpRequest) -> str:
    """The id of the element that htmx asks for; empty for a whole page."""
    htmx = getattr(request, "htmx", None)
    return (htmx.target or "") if htmx else ""
