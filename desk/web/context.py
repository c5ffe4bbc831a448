"""What every template has: the navigation of this person, the server's time, the people of the demo.

The rooms declare their pages (`desk.rooms.Room.navigation`), so the desk itself knows no exchange and no chain.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import get_script_prefix, reverse
from django.utils.functional import SimpleLazyObject

from desk import clock, rooms
from desk.models import FactorChange, Person
from desk.people import demo, factors, roles, scopes
from desk.people.by_role import required_passkeys
from desk.web.requests import scope_of

STYLESHEETS = (
    *("tokens", "base", "layout", "components", "forms", "pages", "orders", "action", "personal", "portfolio"),
    *("palette", "small", "lists", "print"),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One page of the navigation: `may_see` hides it from those who can't open it, `count` is what waits there for
    them.

    The count is read again at a hint on one of `topics`. Pages of a lower `order` come first. `also` are other words of
    the trade that the search box finds it by.
    """

    label: str
    url_name: str
    icon: str
    group: str
    order: int
    key: str = ""
    may_see: Callable[[Person], bool] = lambda person: person.is_active
    count: Callable[[Person, str], int] | None = None
    topics: str = ""
    also: tuple[str, ...] = ()


def pages_of(person: Person) -> list[Entry]:
    """The pages of the navigation that this person may open."""
    return [entry for entry in rooms.navigation() if entry.may_see(person)]


def desk(request: HttpRequest) -> dict[str, Any]:
    """The variable `desk` of every template; what costs a query is read only when a template asks for it."""
    return {
        "desk": {
            "now": clock.now(),
            "demo": settings.DEMO,
            "rehearsal": settings.REHEARSAL,
            "passwords": settings.PASSWORD_SIGN_IN,
            "company": settings.SSO_NAME if settings.OIDC_ISSUER else "",
            "stylesheets": [f"css/{name}.css" for name in STYLESHEETS],
            "resting": SimpleLazyObject(lambda: _resting(request)),
            "passkey_only": SimpleLazyObject(lambda: _passkey_only(request)),
            "why_resting": SimpleLazyObject(lambda: _why_resting(request)),
            "navigation": SimpleLazyObject(lambda: navigation(request)),
            **(_demo() if settings.DEMO and not settings.REHEARSAL else {}),
            "roles": SimpleLazyObject(
                lambda: scopes.words(request.user.grants) if isinstance(request.user, Person) else []
            ),
        }
    }


def _demo() -> dict[str, Any]:
    """What the sign-in page shows in the demo only: people, their password, their second factor."""
    return {
        "demo_people": [
            {"username": name, "does": roles.LABELS[held[0]].partition(": ")[2]} for name, held in demo.PEOPLE.items()
        ],
        "demo_password": demo.DEMO_PASSWORD,
        "demo_totp_secret": demo.DEMO_TOTP_SECRET,
    }


def _resting(request: HttpRequest) -> list[FactorChange]:
    """The changes of this person's factors because of which their approvals don't count yet; every page says so."""
    if not isinstance(request.user, Person):
        return []
    now = clock.now()
    return [change for change in factors.recent_changes(request.user, now=now) if change.rests_until > now]


def _why_resting(request: HttpRequest) -> str:
    """Why this person's approvals don't count yet, for forms that confirm a decision; empty when they do."""
    return factors.why_cooling_off(request.user, now=clock.now()) if isinstance(request.user, Person) else ""


def _passkey_only(request: HttpRequest) -> str:
    """Why forms that confirm something take this person's passkey alone; empty where they take a code as well."""
    if not isinstance(request.user, Person) or getattr(request, "enrols", False):
        return ""
    return required_passkeys.reason(request.user)


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """The pages that this person may open, by group; none before a second factor is enrolled."""
    person = request.user
    if not isinstance(person, Person) or getattr(request, "enrols", False):
        return []
    pages = pages_of(person)
    here = max((url for entry in pages if _leads_to(url := reverse(entry.url_name), request.path)), key=len, default="")
    groups: dict[str, list[dict[str, Any]]] = {}
    for entry in pages:
        groups.setdefault(entry.group, []).append(_link(entry, person, here, scope_of(request)))
    return [{"label": label, "entries": entries} for label, entries in groups.items()]


def counts(request: HttpRequest, parts: Collection[str]) -> list[dict[str, Any]]:
    """The counts of the pages that this person may open, limited to those whose elements are among `parts`."""
    person = request.user
    if not isinstance(person, Person):
        return []
    offered = [entry for entry in pages_of(person) if _count_part(entry) in parts]
    return [counted for entry in offered if (counted := _counted(entry, person, scope_of(request)))]


def _count_part(entry: Entry) -> str:
    """The id of the element that shows the count."""
    return f"count-{entry.url_name}"


def _counted(entry: Entry, person: Person, scope: str) -> dict[str, Any] | None:
    """The count of a page, with the id of its element and the topics whose hints make it read again."""
    if entry.count is None:
        return None
    return {"part": _count_part(entry), "count": entry.count(person, scope), "topics": entry.topics}


def _leads_to(url: str, path: str) -> bool:
    """Whether the page of this path is the one at `url` or one below it; below the first page is everything."""
    return path == url or (url != get_script_prefix() and path.startswith(url))


def _link(entry: Entry, person: Person, here: str, scope: str) -> dict[str, Any]:
    url = reverse(entry.url_name)
    return {
        "label": entry.label,
        "icon": entry.icon,
        "key": entry.key,
        "url": url,
        "current": url == here,
        "counted": _counted(entry, person, scope),
        "also": entry.also,
    }
