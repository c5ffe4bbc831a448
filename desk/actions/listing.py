"""The entries that one person sees, in groups, filtered and sorted as they chose."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from desk.actions import attachments, entries, threads
from desk.actions.entries import Entry
from desk.people import scopes

if TYPE_CHECKING:
    from desk.models import Person

Reader = Callable[["Person", datetime], Sequence[Entry]]

MINE: Final = "mine"
OTHERS: Final = "others"
SOON: Final = "soon"
WATCHING: Final = "watching"
ASSIGNED: Final = "assigned"
ALL: Final = "all"
DONE: Final = "done"
GROUPS: Final = {
    MINE: "Needs you",
    ASSIGNED: "Assigned to me",
    OTHERS: "Waiting for others",
    SOON: "Expiring soon",
    WATCHING: "Watching",
    ALL: "All open",
    DONE: "Done",
}
PER_PAGE: Final = 20
CROWDED: Final = 12  # more entries than this are read under headings, and closer together
SORTS: Final = {"urgency": "Most urgent first", "newest": "Newest first", "oldest": "Oldest first"}


@dataclass(frozen=True, slots=True)
class Wish:
    """The filter of the list: a group, one source or all, a severity, words to search for, an order, one account.

    `page` counts from 1.
    """

    group: str = MINE
    source: str = ""
    severity: str = ""
    words: str = ""
    sort: str = "urgency"
    scope: str = ""
    page: int = 1


@dataclass(slots=True)
class Listing:
    """One page of the chosen group, of `total` entries, and how many entries each open group has.

    The number of the page is at most that of the last one: as entries go, a later page becomes the last.
    """

    entries: list[Entry]
    total: int = 0
    page: int = 1
    pages: int = 1
    counts: dict[str, int] = field(default_factory=dict)
    is_cut: bool = False
    is_by_urgency: bool = False

    @property
    def is_crowded(self) -> bool:
        """Whether there are more entries than somebody takes in at a glance."""
        return self.total > CROWDED

    @property
    def first(self) -> int:
        """The place of the page's first entry, counted from 1."""
        return (self.page - 1) * PER_PAGE + 1

    @property
    def last(self) -> int:
        """The place of the page's last entry."""
        return self.first + len(self.entries) - 1

    @property
    def sections(self) -> list[tuple[str, list[Entry]]]:
        """The entries under headings where there are many and the most urgent come first; else under none."""
        if not (self.is_crowded and self.is_by_urgency):
            return [("", self.entries)]
        return [(label, list(rows)) for label, rows in groupby(self.entries, lambda entry: entry.section)]


def listing_for(person: "Person", wish: Wish, *, now: datetime) -> Listing:
    """The chosen group, and the size of each; the number of queries does not grow with the number of entries."""
    sources = [source for source in entries.sources() if wish.source in {"", source.name}]
    waiting, is_cut = _read([source.waiting for source in sources], person, wish, now)
    groups = _grouped(person, waiting)
    chosen = groups.get(wish.group)
    if chosen is None:
        chosen, is_cut = _read([source.done for source in sources], person, wish, now)
    matches = [entry for entry in chosen if _fits(entry, wish)]
    in_order = sorted(matches, key=_order(wish))[: entries.MOST]
    pages = max(-(-len(in_order) // PER_PAGE), 1)
    page = min(max(wish.page, 1), pages)
    return Listing(
        entries=in_order[(page - 1) * PER_PAGE : page * PER_PAGE],
        total=len(in_order),
        page=page,
        pages=pages,
        counts={name: len(rows) for name, rows in groups.items()},
        is_cut=is_cut or len(matches) > entries.MOST,
        is_by_urgency=wish.sort == "urgency" and wish.group != DONE,
    )


def _read(readers: Sequence[Reader], person: "Person", wish: Wish, now: datetime) -> tuple[list[Entry], bool]:
    """The entries of the chosen account that this person may see, and whether some source was cut off."""
    parts = [reader(person, now) for reader in readers]
    visible = [entry for part in parts for entry in part if _is_of(entry, wish) and _is_shown(person, entry)]
    return _with_threads(visible), any(len(part) >= entries.MOST for part in parts)


def _with_threads(visible: list[Entry]) -> list[Entry]:
    """The same entries, each with who has taken it and how many comments and files it has."""
    subjects = [entry.subject for entry in visible]
    taken, counts, files = threads.taken_by(subjects), threads.counts(subjects), attachments.counts(subjects)
    for entry in visible:
        entry.taken_by = entry.taken_by or taken.get(entry.subject)
        entry.comments, entry.files = counts.get(entry.subject, 0), files.get(entry.subject, 0)
    return visible


def _grouped(person: "Person", waiting: list[Entry]) -> dict[str, list[Entry]]:
    commented = threads.commented_by(person, [entry.subject for entry in waiting])
    return {
        MINE: [entry for entry in waiting if entry.mine],
        ASSIGNED: [entry for entry in waiting if entry.taken_by == person],
        OTHERS: [entry for entry in waiting if not entry.mine and not entry.is_followed],
        SOON: [entry for entry in waiting if entry.is_soon],
        WATCHING: [entry for entry in waiting if _is_watched(entry, person) or entry.subject in commented],
        ALL: [entry for entry in waiting if not entry.is_followed],
    }


def _is_watched(entry: Entry, person: "Person") -> bool:
    return entry.own or entry.decided or entry.taken_by == person


def _is_of(entry: Entry, wish: Wish) -> bool:
    return not wish.scope or entry.scope in {"", wish.scope}


def _is_shown(person: "Person", entry: Entry) -> bool:
    """Whether the person may see the entry's account. Checked here for every source."""
    return not person.limits or scopes.may_see(person, entry.scope)


def _fits(entry: Entry, wish: Wish) -> bool:
    if wish.severity and entry.severity != wish.severity:
        return False
    return all(word in entry.text for word in wish.words.lower().split())


def _order(wish: Wish) -> Callable[[Entry], Any]:
    if wish.group == DONE:
        return lambda entry: -(entry.done_at or entry.since).timestamp()
    if wish.sort == "newest":
        return lambda entry: -entry.since.timestamp()
    if wish.sort == "oldest":
        return lambda entry: entry.since.timestamp()
    return lambda entry: entry.urgency
