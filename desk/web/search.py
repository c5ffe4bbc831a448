"""What a text names anywhere on the desk, for the search box: a few hits of each kind, best first.

Each room declares its searches (`desk.rooms.Room.searches`). Each reads rows that the person may see, of the accounts
in view. A name that is exactly the text comes before one that only has it in it. Nothing outside is asked.
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
SHORTEST_PIECE: Final = 3  # characters from which on a piece of an address or a reason is looked for
LONGEST_NUMBER: Final = 18  # digits of a row's number, which the database could look up
ENDS: Final = 10  # characters of each end of an address that are shown


@dataclass(frozen=True, slots=True)
class Hit:
    """One place to go to: its kind, what it is called, words about it, and where it is."""

    kind: str
    label: str
    words: str
    url: str
    icon: str


@dataclass(frozen=True, slots=True)
class Scope:
    """Who looks, at which accounts, when; `pages` are the entries of the navigation that the person has."""

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
    """Something to begin: who may, and the address where it begins; the box shows those of a lower `order` first."""

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
    """The first hits of each kind, by the kind's name, in the order in which the box shows them."""
    text = text.strip()
    by_kind: dict[str, list[Hit]] = {}
    if not text or "\x00" in text:
        return by_kind
    for search in rooms.searches():
        for hit in islice(search.find(text, scope), MOST_OF_A_KIND):
            by_kind.setdefault(hit.kind, []).append(hit)
    return by_kind


# What is one's own: the names under which it is looked for, and where it is.
OWN_PAGES: Final = (
    ("Your second factors", "mfa_index", "fingerprint-pattern"),
    ("Your settings", "personal-settings", "circle-user-round"),
    ("Your notifications", "notifications", "bell"),
    ("Your API tokens", "tokens", "key-round"),
    ("Your sessions", "sessions", "monitor"),
    ("Change your password", "account_change_password", "key-round"),
)


def pages(text: str, scope: Scope) -> Iterator[Hit]:
    """Pages of the navigation that the person has, and their own."""
    named = [(page["label"], page) for group in scope.pages for page in group["entries"]]
    for label, page in best(text, named):
        yield Hit("Pages", label, "", page["url"], page["icon"])
    own = [(label, (url_name, icon)) for label, url_name, icon in OWN_PAGES]
    for label, (url_name, icon) in best(text, own):
        yield Hit("Pages", label, "", reverse(url_name), icon)


def actions(text: str, scope: Scope) -> Iterator[Hit]:
    """What the person may begin."""
    allowed = [(command.label, command) for command in rooms.commands() if command.may(scope.person)]
    for _, command in best(text, allowed):
        yield command.hit()


def best(text: str, named: Sequence[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Those that begin with the text, then those one of whose words does, then those that have it anywhere."""
    piece = text.casefold()

    def rank(label: str) -> int:
        low = label.casefold()
        if low.startswith(piece):
            return 0
        return 1 if any(word.startswith(piece) for word in low.replace("_", " ").split()) else 2

    return sorted((one for one in named if piece in one[0].casefold()), key=lambda one: rank(one[0]))


def newest(model: Any, named: Q, pieces: Q, scope: Scope) -> QuerySet[Any]:
    """The rows of the accounts in view that are named, then the newest of those that have the piece."""
    rows: QuerySet[Any] = model.objects.filter(named | pieces if pieces else named, account__in=scope.accounts)
    return rows.order_by(exact_first(named), "-pk")[:MOST_OF_A_KIND]


def exact_first(named: Q) -> Case:
    """Sorts the rows that are named before the others."""
    return Case(When(named, then=Value(0)), default=Value(1), output_field=IntegerField())


def numbered(column: str, text: str) -> Q:
    """That the column is the number that the text is; nothing where it is none."""
    is_number = text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER
    return Q(**{column: int(text)}) if is_number else Q(pk__in=[])


def referenced(mark: str, text: str) -> Q:
    """That a row is meant by its reference, the mark of its kind and its number: "BR-12"."""
    number = text.upper().removeprefix(mark)
    return numbered("pk", "" if number == text.upper() else number)


def with_query(url_name: str, **query: str) -> str:
    """The address of a page, with a query."""
    return f"{reverse(url_name)}?{urlencode(query)}"


def shortened(text: str) -> str:
    """Both ends of a long text."""
    return text if len(text) <= 2 * ENDS + 1 else f"{text[:ENDS]}\u2026{text[-ENDS:]}"


def plain(amount: Any) -> str:
    """A figure without zeros behind its last digit."""
    return f"{amount.normalize():f}"
