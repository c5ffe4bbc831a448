"""What the rooms tell the desk about themselves: each makes one declaration when its app is ready.

The desk knows no exchange and no chain. Where it needs one, it asks what was declared, in the order of the apps.

What is declared is made of the classes of rooms above this module, which therefore names them in words alone; that
each declaration is made of these classes is a test (tests/desk/test_declarations.py).
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from importlib import import_module
from types import ModuleType
from typing import Any

from prometheus_client import REGISTRY
from prometheus_client.registry import Collector


@dataclass(frozen=True, slots=True)
class Health:
    """One answer: whether it is well, one sentence for a person, and the age in seconds of what it is about.

    `public` is the sentence for anybody, with counts in place of the names of accounts, keys, people and requests.
    Where there is none, `anonymous` says only whether it is well.
    """

    ok: bool
    sentence: str
    age_s: float | None = None
    public: str = ""

    @property
    def anonymous(self) -> str:
        """The sentence for somebody who may not see names."""
        return self.public or ("Healthy." if self.ok else "Not healthy. Sign in for details.")


@dataclass(frozen=True, slots=True)
class Check:
    """One check of readiness, which should answer within a second. Lists name those of a lower `order` first.

    While it is unwell, an incident of the kind `incident` is open; without a name none is.
    """

    ask: Callable[[], Health]
    order: int = 0
    incident: str = ""


@dataclass(frozen=True, slots=True)
class OpenWord:
    """Something open of a person: what people call it, where it stands, what it says, and the topic of its page."""

    reference: str
    url: str
    sentence: str
    topic: str = ""


MayFollow = Callable[[Any, str], bool]  # a person, and the key of the topic
Replay = Callable[[Iterator[Any]], Iterable[str]]  # of the events of the trail
Statements = Callable[[str], Mapping[str, str]]
Rewrap = Callable[[str, str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What one room declares; everything by a name that no other room uses."""

    topics: Mapping[str, MayFollow] = field(default_factory=dict)
    """What browsers may follow. The rule gets a person and the key of the topic, and may read rows."""
    ticking: Collection[str] = ()
    """Those of the topics that carry values of the public market, of which only the newest counts."""
    checks: Mapping[str, Check] = field(default_factory=dict)
    """What is asked for readiness."""
    incidents: Collection[Any] = ()
    """What a person has to look at, each `desk.incidents.kinds.Kind` with how its causes are read from rows."""
    browser_kinds: Collection[Any] = ()
    """What open pages show their person besides, each a `desk.notifications.wishes.BrowserKind` to choose."""
    actions: Collection[Any] = ()
    """Each `desk.actions.entries.Source` of the list of everything that waits for somebody."""
    approvals: Collection[Any] = ()
    """What of a machine waits for approvals, for that list: a `desk.actions.approvals.Approvals` each."""
    selectable: Collection[Any] = ()
    """What of a machine can be decided in a selection of requests: a `desk.actions.selection.Selectable` each."""
    open_words: Callable[[Any], Iterable[OpenWord]] | None = None
    """What a person approved that is not decided yet: void once they are switched off."""
    open_work: Callable[[Any], Iterable[OpenWord]] | None = None
    """What a person began and the desk goes on with by itself, whoever is switched off."""
    searches: Collection[Any] = ()
    """Each `desk.web.search.Search` that finds the things that a text names."""
    commands: Collection[Any] = ()
    """Each `desk.web.search.Command` that can be begun from the search box."""
    replays: Mapping[str, Replay] = field(default_factory=dict)
    """Rebuild the rows of one kind from the audit trail.

    Each gets every event whose subject starts with its name and a colon, in order, compares with the tables and yields
    a sentence for each difference.
    """
    trail: Collection[Any] = ()
    """The words for its events in the audit trail: `desk.audit.words.Words` for each kind of object."""
    guards: Mapping[str, Statements] = field(default_factory=dict)
    """The triggers that the database must have.

    For an engine ("sqlite" or "postgresql") the statements that make them, by the trigger's name.
    """
    tables: Collection[Any] = ()
    """Each `desk.rows.witnessed.Table` whose rows decide or prove something, with the columns that do neither."""
    idle_tables: Mapping[str, str] = field(default_factory=dict)
    """The tables that decide nothing, by "app.model" in lower case, each with the reason."""
    retention: Collection[Any] = ()
    """Which rows are kept for a while only: a `desk.rows.retention.Retention` each."""
    rewrappers: Mapping[str, Callable[[Rewrap], int]] = field(default_factory=dict)
    """Put sealed rows under another key.

    They go through the rows, call what they get with a sealed text and its context, write what changed by a conditional
    update and return how many rows it changed.
    """
    demo: Mapping[str, Callable[[], None]] = field(default_factory=dict)
    """Load what the room adds to the demo; safe to run twice."""
    navigation: Collection[Any] = ()
    """Its pages in the navigation, a `desk.web.context.Entry` each; lists name their own."""
    paths: Mapping[str, tuple[Any, str, str]] = field(default_factory=dict)
    """The parts of paths that name a row of one account: its model, the column that is named, the account's column."""
    file_paths: Collection[str] = ()
    """Patterns of the paths, without an account before them, to which forms send a file (`actions.file_types`)."""
    urls: str = ""
    """The module with its `lists`, its other `urlpatterns`, and the `api_urlpatterns` of an interface for programs."""
    tasks: str = ""
    """The module with its `WORK`, what workers are woken for (`desk.work`). Only workers import it."""
    figures: Collection[Collector] = ()
    """Shown to `/metrics`."""
    scopes: Callable[[], Iterable[tuple[str, str]]] | None = None
    """The accounts that a role may be limited to, each with the text that rows name it by and what it is called."""
    quorums: Callable[[], Mapping[str, int]] | None = None
    """How many people of treasury the rules ask for at most, by the account's number as text."""
    waiting: Collection[Any] = ()
    """After a restore: each `desk.restores.waiting.Source` of what waits to be sent, for people to judge."""
    outside: Callable[[datetime], Iterable[Any]] | None = None
    """After a restore: each `desk.restores.waiting.Outside` since a moment: what no row of the desk explains."""
    not_read_yet: Callable[[datetime], Iterable[str]] | None = None
    """After a restore: what has to be read from outside systems after a moment before anybody can judge."""
    obstacles: Collection[Callable[[], str]] = ()
    """Why no call that moves money may leave right now, else an empty text; asked outside any transaction."""
    before_sending: Callable[[], None] | None = None
    """Done once a call that moves money is claimed, before it leaves."""
    lost_heads: Callable[[str], Iterable[tuple[int, str]]] | None = None
    """For a file of heads of the audit trail, those that people gave up (`desk.audit.heads.findings`)."""


_declared: list[Room] = []


def declare(room: Room) -> None:
    """Make a room known; called once, when its app is ready."""
    _declared.append(room)
    for figures in room.figures:
        REGISTRY.register(figures)
    for table in room.tables:
        table.register()


def with_topic(name: str) -> Room | None:
    """The room whose topic this is; of two, the later one."""
    return next((room for room in reversed(_declared) if name in room.topics), None)


def checks() -> dict[str, Check]:
    """Every check, by name, in their order."""
    named = [(name, check) for room in _declared for name, check in room.checks.items()]
    return dict(sorted(named, key=lambda one: one[1].order))


def replays() -> dict[str, Replay]:
    """Every replay, by the name that the subjects of its events begin with."""
    return {name: replay for room in _declared for name, replay in room.replays.items()}


def trail() -> list[Any]:
    """The words for the events of the audit trail, in the order of the rooms."""
    return [words for room in _declared for words in room.trail]


def guards() -> dict[str, Statements]:
    """What makes the triggers of every room, by name."""
    return {name: statements for room in _declared for name, statements in room.guards.items()}


def rewrappers() -> dict[str, Callable[[Rewrap], int]]:
    """Whoever keeps sealed rows, by name."""
    return {name: rewrap_all for room in _declared for name, rewrap_all in room.rewrappers.items()}


def idle_tables() -> dict[str, str]:
    """Every table that decides nothing, with the reason."""
    return {name: reason for room in _declared for name, reason in room.idle_tables.items()}


def demo_loaders() -> dict[str, Callable[[], None]]:
    """What is added to the demo, by name."""
    return {name: load for room in _declared for name, load in room.demo.items()}


def incidents() -> list[Any]:
    """Every kind of incident, in the order of the rooms."""
    return [kind for room in _declared for kind in room.incidents]


def browser_kinds() -> list[Any]:
    """Every kind that open pages show by themselves, in the order of the rooms."""
    return [kind for room in _declared for kind in room.browser_kinds]


def actions() -> list[Any]:
    """Every source of the list of what waits for somebody, in the order of the rooms."""
    return [source for room in _declared for source in room.actions]


def approvals() -> list[Any]:
    """What waits for approvals, machine by machine, in the order of the rooms."""
    return [each for room in _declared for each in room.approvals]


def selectable() -> list[Any]:
    """What can be decided in a selection, machine by machine, in the order of the rooms."""
    return [each for room in _declared for each in room.selectable]


def searches() -> list[Any]:
    """Everything that finds what a text names, in their order."""
    return sorted((each for room in _declared for each in room.searches), key=lambda each: each.order)


def commands() -> list[Any]:
    """Everything that can be begun from the search box, in their order."""
    return sorted((each for room in _declared for each in room.commands), key=lambda each: each.order)


def navigation() -> list[Any]:
    """Every page of the navigation, in their order."""
    of_lists = (each.entry for each in lists() if each.entry)
    return sorted((*(each for room in _declared for each in room.navigation), *of_lists), key=lambda each: each.order)


def paths() -> dict[str, tuple[Any, str, str]]:
    """Every part of a path that names a row of one account."""
    return {name: row for room in _declared for name, row in room.paths.items()}


def file_paths() -> list[str]:
    """The patterns of all paths to which forms of the rooms send a file."""
    return [pattern for room in _declared for pattern in room.file_paths]


def lists(app: str = "") -> list[Any]:
    """The lists of an app's rooms, or of all, in the order of the rooms."""
    return [each for module in _addresses(app) for each in getattr(module, "lists", ())]


def urls(app: str, *, name: str = "urlpatterns") -> list[Any]:
    """The addresses of an app's rooms, in the order of the rooms."""
    return [pattern for module in _addresses(app) for pattern in getattr(module, name, ())]


def _addresses(app: str) -> list[ModuleType]:
    """The modules of addresses of an app's rooms, or of all. Only who answers pages loads them."""
    names = [room.urls for room in _declared if room.urls and (not app or room.urls.startswith(f"{app}."))]
    return [import_module(name) for name in names]


def work() -> list[Any]:
    """What workers are woken for, in the order of the rooms."""
    return [import_module(room.tasks).WORK for room in _declared if room.tasks]


def retention() -> list[Any]:
    """Which rows are kept for a while only, in the order of the rooms."""
    return [each for room in _declared for each in room.retention]


def open_words(person: Any) -> list[OpenWord]:
    """Every word of this person on something undecided, in the order of the rooms."""
    return [word for room in _declared if room.open_words is not None for word in room.open_words(person)]


def open_work(person: Any) -> list[OpenWord]:
    """Everything that this person began and the desk goes on with by itself, in the order of the rooms."""
    return [work for room in _declared if room.open_work is not None for work in room.open_work(person)]


def scopes() -> list[tuple[str, str]]:
    """Every account that a role may be limited to, with what it is called, in the order of the rooms."""
    return [scope for room in _declared if room.scopes is not None for scope in room.scopes()]


def quorums() -> dict[str, int]:
    """How many people of treasury are asked for at most, by account."""
    return {scope: most for room in _declared if room.quorums is not None for scope, most in room.quorums().items()}


def waiting() -> list[Any]:
    """Every source of what waits to be sent, in the order of the rooms."""
    return [source for room in _declared for source in room.waiting]


def outside() -> list[Callable[[datetime], Iterable[Any]]]:
    """Whatever looks at what outside systems show and no row tells of."""
    return [room.outside for room in _declared if room.outside is not None]


def not_read_yet() -> list[Callable[[datetime], Iterable[str]]]:
    """Whatever says what has to be read from outside first."""
    return [room.not_read_yet for room in _declared if room.not_read_yet is not None]


def why_nothing_leaves() -> str:
    """Why no call that moves money may leave right now, else an empty text. Asked outside any transaction."""
    return next((reason for room in _declared for ask in room.obstacles if (reason := ask())), "")


def before_sending() -> None:
    """A call that moves money is claimed and is about to leave."""
    for room in _declared:
        if room.before_sending is not None:
            room.before_sending()


def lost_heads(name: str) -> Iterator[tuple[int, str]]:
    """For a file of heads those that people gave up."""
    for room in _declared:
        if room.lost_heads is not None:
            yield from room.lost_heads(name)
