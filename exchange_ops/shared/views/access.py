"""Permission to open a view: by a rule about the person, never by the name of a role."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_POST

from desk.models import Person
from desk.web.requests import DeskRequest

View = Callable[..., HttpResponseBase]

NOT_YOURS = "Your role does not allow this."


def requires(rule: Callable[[Person], bool], sentence: str = NOT_YOURS) -> Callable[[View], View]:
    """Let through only people who satisfy `rule`; others read `sentence`. They have signed in already."""

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: DeskRequest, *arguments: Any, **named: Any) -> HttpResponseBase:
            if not rule(request.user):
                raise PermissionDenied(sentence)
            return view(request, *arguments, **named)

        return guarded

    return decorate


def posted(rule: Callable[[Person], bool], sentence: str = NOT_YOURS) -> Callable[[View], View]:
    """Like `requires`, for views that take POST only."""
    return lambda view: require_POST(requires(rule, sentence)(view))
