"""A person's own settings on every page: read together with the person, so they cost no query."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from allauth.core.exceptions import ImmediateHttpResponse
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import NoReverseMatch, reverse
from django.utils.functional import SimpleLazyObject

from desk.models import Person
from desk.people.accounts import AccountAdapter
from desk.personal import formats
from desk.personal.models import Density, PersonalSettings, Theme
from desk.web import context, networks, tours

GetResponse = Callable[[HttpRequest], HttpResponseBase]
THEME_COOKIE = "theme"  # chosen with the navigation's button on this device; it overrides the person's setting


class PersonalFormatsMiddleware:
    """Has times and figures formatted as the person of the request chose."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        cache: list[formats.Formats] = []

        def read_formats() -> formats.Formats:
            if not cache:
                cache.append(formats.for_settings(settings_of(request)))
            return cache[0]

        with formats.using(read_formats):
            return self.get_response(request)


def settings_of(request: Any) -> PersonalSettings | None:
    """The settings of the person who is signed in; None for strangers, programs and people without settings."""
    person = getattr(request, "user", None)
    return getattr(person, "personal", None) if isinstance(person, Person) else None


def on_every_page(request: HttpRequest) -> dict[str, Any]:
    """The variable `personal` of every template."""
    return {"personal": SimpleLazyObject(lambda: _own(request))}


def _own(request: HttpRequest) -> dict[str, Any]:
    settings, chosen = settings_of(request), request.COOKIES.get(THEME_COOKIE, "")
    return {
        "theme": chosen if chosen in {Theme.LIGHT, Theme.DARK} else settings.theme if settings else "",
        "is_compact": settings is not None and settings.density == Density.COMPACT,
        "formats": formats.current(),
        "is_unusual": formats.current() != formats.USUAL,
        "tour": tour(request),
    }


def start_page(person: Person) -> str:
    """The address of this person's start page: the one they chose, if they may open it."""
    settings = getattr(person, "personal", None)
    url_name = settings.start_page if settings else ""
    url_names = {entry.url_name for entry in context.pages_of(person)}
    try:
        return reverse(url_name) if url_name in url_names else reverse("overview")
    except NoReverseMatch:
        return reverse("overview")


class PersonalAdapter(AccountAdapter):
    """Lets people in from the networks of their roles, to their start page unless another page led to the sign-in."""

    def login(self, request: HttpRequest, user: Any) -> None:
        """Sign in somebody whose password, and second factor where one is required, or passkey was right."""
        if (answer := networks.refused_sign_in(request, user)) is not None:
            raise ImmediateHttpResponse(answer)
        super().login(request, user)

    def get_login_redirect_url(self, request: HttpRequest) -> str:
        return start_page(request.user) if isinstance(request.user, Person) else reverse("overview")


@dataclass(frozen=True, slots=True)
class Tour:
    """The tour as a page shows it: the current `step` of the tour of `role`; `number` is 0 before it began."""

    role: str
    number: int
    step: tours.Step | None
    steps: tuple[tours.Step, ...]
    is_here: bool

    @property
    def is_last(self) -> bool:
        """Whether nothing comes after this step."""
        return self.number == tours.STEPS


def tour(request: HttpRequest) -> Tour | None:
    """The tour, on the page of its step and on start pages; None on others, so that it disturbs nobody."""
    person, settings = getattr(request, "user", None), settings_of(request)
    if not isinstance(person, Person) or getattr(request, "enrols", False):
        return None
    reached = settings.tours if settings else {}
    role = tours.open_role(person, reached)
    if not role:
        return None
    steps, number = tours.steps_of(role), reached.get(role, tours.NOT_BEGUN)
    step = steps[number - 1] if number else None
    path = getattr(request, "path", "")
    is_here = step is not None and path == reverse(step.url_name)
    if not is_here and path not in {reverse("overview"), start_page(person)}:
        return None
    return Tour(role, number, step, steps, is_here)
