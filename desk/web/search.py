"""The search box: finds what a text names anywhere on the desk, a few hits of each kind, the best first.

The rooms declare their searches (`desk.rooms.Room.searches`). Each reads rows that the person may see, of the accounts
in view. An exact match comes before a partial one. Nothing outside the desk is asked.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from django.db.models import Case, IntegerField, Q, QuerySet, Value, When
from django.urls import reverse

from desk import rooms

if TYPE_CHECKING:
    from desk.models import Person

MOST_OF_A_KIND: Final = 5
SHORTEST_PIECE: Final = 3  # characters; shorter pieces of an address or a reason are not searched for
LONGEST_NUMBER: Final = 18  # digits of a row's number, which the database could look up
ENDS: Final = 10  # characters of each end of an address that are shown


@dataclass(frozen=True, slots=True)
class Hit:
    """One hit: its kind, its name, a short description, and its address. `is_exact`: the text names it and no other."""

    kind: str
    label: str
    words: str
    url: str
    icon: str
    is_exact: bool = False


@dataclass(frozen=True, slots=True)
class Scope:
    """Who searches, in which accounts, when; `pages` is the navigation of the person."""

    person: "Person"
    accounts: Sequence[Any]
    pages: Sequence[dict[str, Any]]
    now: datetime


@dataclass(frozen=True, slots=True)
class Search:
    """One search; the box shows kinds of a lower `order` first."""

    find: Callable[[str, Scope], Iterable[Hit]]
    order: int


@dataclass(frozen=True, slots=True)
class Command:
    """Something to start: who may, and the address where it starts. The box shows commands of a lower `order` first."""

    label: str
    url_name: str
    icon: str
    may: Callable[["Person"], bool]
    order: int
    arguments: tuple[str, ...] = ()

    def hit(self) -> Hit:
        """As the box shows it."""
        return Hit("Actions", self.label, "", reverse(self.url_name, args=self.arguments), self.icon)


def hits(*, text: str, scope: Scope) -> dict[str, list[Hit]]:
    """The first hits of each kind, by the kind's name, in the order in which the box shows them.

    Kinds with an exact hit come first: "btc" means its markets more than a payout whose reason mentions it.
    """
    text = text.strip()
    by_kind: dict[str, list[Hit]] = {}
    if not text or "\x00" in text:
        return by_kind
    for search in rooms.searches():
        for hit in islice(search.find(text, scope), MOST_OF_A_KIND):
            by_kind.setdefault(hit.kind, []).append(hit)
    return dict(sorted(by_kind.items(), key=lambda one: not any(hit.is_exact for hit in one[1])))


def first(by_kind: dict[str, list[Hit]]) -> Hit | None:
    """What Enter opens: the hit at the top of the box."""
    return next((hit for of_kind in by_kind.values() for hit in of_kind), None)


# A person's own pages: their names, addresses and icons, and other words that the search finds them by.
OWN_PAGES: Final = (
    ("Your second factors", "mfa_index", "fingerprint-pattern", ("2FA", "MFA", "Passkeys", "Authenticator")),
    ("Your settings", "personal-settings", "circle-user-round", ("Preferences", "Time zone", "Theme", "Profile")),
    ("Your notifications", "notifications", "bell", ("Alerts", "Messages")),
    ("Your API tokens", "tokens", "key-round", ("Access tokens",)),
    ("Your sessions", "sessions", "monitor", ("Devices",)),
    ("Change your password", "account_change_password", "key-round", ("Password",)),
    ("Sign out", "account_logout", "log-out", ("Log out", "Logout", "Signout", "Log off")),
)


def pages(text: str, scope: Scope) -> Iterator[Hit]:
    """The pages of the person's navigation, and their own pages."""
    named = [
        (name, Hit("Pages", page["label"], "", page["url"], page["icon"]))
        for group in scope.pages
        for page in group["entries"]
        for name in (page["label"], *_begun(text, page["also"]))
    ]
    own = [
        (name, Hit("Pages", label, "", reverse(url_name), icon))
        for label, url_name, icon, also in OWN_PAGES
        for name in (label, *_begun(text, also))
    ]
    ranked = [hit for _, hit in [*best(text, named), *best(text, own)]]
    yield from dict.fromkeys(ranked)  # a page that several of its names lead to is shown once


def _begun(text: str, also: Sequence[str]) -> list[str]:
    """Those of the other words that the text begins: a piece of their middle means something else."""
    return [name for name in also if name.casefold().startswith(text.casefold())]


def actions(text: str, scope: Scope) -> Iterator[Hit]:
    """The commands that the person may start."""
    allowed = [(command.label, command) for command in rooms.commands() if command.may(scope.person)]
    for _, command in best(text, allowed):
        yield command.hit()


def best(text: str, named: Sequence[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Those whose name begins with the text, then those with a word that does, then those that contain it."""
    piece = text.casefold()

    def rank(label: str) -> int:
        low = label.casefold()
        if low.startswith(piece):
            return 0
        return 1 if any(word.startswith(piece) for word in low.replace("_", " ").split()) else 2

    return sorted((one for one in named if piece in one[0].casefold()), key=lambda one: rank(one[0]))


def newest(model: Any, named: Q, pieces: Q, scope: Scope) -> QuerySet[Any]:
    """The rows of the accounts in view that are named exactly, then the newest that contain the piece."""
    rows: QuerySet[Any] = model.objects.filter(named | pieces if pieces else named, account__in=scope.accounts)
    return rows.order_by(exact_first(named), "-pk")[:MOST_OF_A_KIND]


def exact_first(named: Q) -> Case:
    """The sort key that puts exactly named rows first."""
    return Case(When(named, then=Value(0)), default=Value(1), output_field=IntegerField())


def numbered(column: str, text: str) -> Q:
    """The condition that the column equals the number in the text; matches nothing where it is no number."""
    is_number = text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER
    return Q(**{column: int(text)}) if is_number else Q(pk__in=[])


def referenced(mark: str, text: str) -> Q:
    """The condition that the text is the reference of a row, such as "BR-12"."""
    number = text.upper().removeprefix(mark)
    return numbered("pk", "" if number == text.upper() else number)


def with_query(url_name: str, **query: str) -> str:
    """The address of a page, with a query."""
    return f"{reverse(url_name)}?{urlencode(query)}"


def shortened(text: str) -> str:
    """The beginning and the end of a long text."""
    return text if len(text) <= 2 * ENDS + 1 else f"{text[:ENDS]}\u2026{text[-ENDS:]}"


def plain(amount: Any) -> str:
    """A figure without zeros behind its last digit."""
    return f"{amount.normalize():f}"
