"""What the views of the chain share: permission at the door, and the numbers in a query."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse

from chaindata import rules
from desk.models import Person

View = Callable[..., HttpResponse]
NOT_YOURS = "Your roles don't allow this."
_LONGEST_NUMBER = 9


def readable(view: View) -> View:
    """Let everybody with a role through. Signing in is asked for before."""

    return allowed(rules.may_see, NOT_YOURS)(view)


def allowed(rule: Callable[[Person], bool], sentence: str) -> Callable[[View], View]:
    """Let only those through whom `rule` lets; the others read `sentence`. Signing in is asked for before."""

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponse:
            if not isinstance(request.user, Person) or not rule(request.user):
                raise PermissionDenied(sentence)
            return view(request, *arguments, **named)

        return guarded

    return decorate


def number(request: HttpRequest, name: str) -> int | None:
    """A whole number of the query; one that is none, or too long, counts as absent."""
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER else None


def target(request: HttpRequest) -> str:
    """The part that htmx asks for; nothing when a person asks for the page."""
    htmx = getattr(request, "htmx", None)
    return (htmx.target or "") if htmx else ""
