"""What the views of the chain share: permissions, and numbers in the query."""

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
    """Allow everybody with a role. Signing in is required before."""

    return allowed(rules.may_see, NOT_YOURS)(view)


def allowed(rule: Callable[[Person], bool], sentence: str) -> Callable[[View], View]:
    """Allow only those whom `rule` allows; the others read `sentence`. Signing in is required before."""

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponse:
            if not isinstance(request.user, Person) or not rule(request.user):
                raise PermissionDenied(sentence)
            return view(request, *arguments, **named)

        return guarded

    return decorate


def number(request: HttpRequest, name: str) -> int | None:
    """A whole number in the query; None if it is missing, too long, or no number."""
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER else None


def target(request: HttpRequest) -> str:
    """The part that htmx requests; empty if the whole page is requested."""
    htmx = getattr(request, "htmx", None)
    return (htmx.target or "") if htmx else ""
