"""The kinds of fault, as one table: what each does to a call, what it takes, and what it is for."""

from dataclasses import dataclass
from enum import Enum


class Scope(Enum):
    """What a fault can be armed for; the value is how a message to a tester names it."""

    REST = "REST operation"
    CHAIN = "chain-data operation"
    METHOD = "socket method"
    NOTIFICATION = "socket notification"


@dataclass(frozen=True, slots=True)
class Member:
    """One member of a fault beyond operation, kind, times and key."""

    name: str
    takes: type
    meaning: str
    required: bool = False
    default: object = None
    lowest: int = 0
    highest: int = 10**9
    choices: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of fault: its name, what it is for, its own members, and its meaning in one sentence."""

    name: str
    scopes: tuple[Scope, ...]
    meaning: str
    members: tuple[Member, ...] = ()


_CALLS = (Scope.REST, Scope.CHAIN)
_HOW = Member("how", str, "close ends the connection, reset breaks it", default="close", choices=("close", "reset"))
_MS = Member("ms", int, "milliseconds of real time", required=True, highest=600_000)


def _executes(default: bool) -> Member:
    return Member("executes", bool, "whether the call is executed all the same", default=default)


def _status(default: int | None, lowest: int, highest: int, choices: tuple[object, ...] = ()) -> Member:
    return Member(
        "status", int, "HTTP status", required=default is None, default=default, lowest=lowest, highest=highest,
        choices=choices,
    )  # fmt: skip


_ROWS = (
    Kind(
        "refuse",
        (*_CALLS, Scope.METHOD),
        "answers with the catalogue's error under that code (chain data: with that HTTP status); nothing is executed",
        (
            Member("code", int, "an error code of the catalogue", required=True, lowest=1, highest=99_999),
            Member("description", str, "the description of the error", default=""),
        ),
    ),
    Kind(
        "status",
        _CALLS,
        "answers with that HTTP status and an error of the same code",
        (_status(None, 400, 599), _executes(False)),
    ),
    Kind("drop_before", _CALLS, "ends the connection without an answer; nothing is executed", (_HOW,)),
    Kind("drop_after", _CALLS, "executes the call, then ends the connection without an answer", (_HOW,)),
    Kind(
        "delay_then_execute",
        _CALLS,
        "waits, then executes and answers; with a status it answers that at once and executes after the wait",
        (_MS, Member("status", int, "HTTP status answered at once", lowest=400, highest=599)),
    ),
    Kind(
        "cut_body",
        _CALLS,
        "sends half of the answer's body, then ends the connection",
        (
            Member("framing", str, "how the body is announced", default="length", choices=("length", "chunked")),
            _executes(True),
        ),
    ),
    Kind(
        "html",
        _CALLS,
        "answers with a page of HTML, as a proxy in between would",
        (_status(200, 200, 599), _executes(False)),
    ),
    Kind(
        "redirect",
        _CALLS,
        "sends the client elsewhere; a client that follows shows as a second call",
        (
            _status(302, 301, 308, (301, 302, 303, 307, 308)),
            Member("location", str, "where to; the same address when absent", default=""),
            _executes(False),
        ),
    ),
    Kind("rate_limit", _CALLS, "answers 429 Too many requests; nothing is executed"),
    Kind(
        "echo_differs",
        (*_CALLS, Scope.METHOD, Scope.NOTIFICATION),
        "changes one field of the records in the answer, and nothing in the world",
        (
            Member("field", str, "name of the field on the wire", required=True),
            Member("value", object, "any JSON value to put there"),
            Member("absent", bool, "leaves the field out instead", default=False),
            Member("id", str, "only in the record of this id", default=""),
        ),
    ),
    Kind("drop", (Scope.METHOD, Scope.NOTIFICATION), "breaks the socket instead of sending the message", (_HOW,)),
    Kind(
        "silence",
        (Scope.METHOD, Scope.NOTIFICATION),
        "loses the message and all that follow on that socket, which stays open",
        (
            Member("ms", int, "ends the silence after so many milliseconds; never when absent", highest=600_000),
            Member("pings", bool, "whether pings are still answered", default=False),
        ),
    ),
    Kind("duplicate", (Scope.METHOD, Scope.NOTIFICATION), "sends the message twice"),
    Kind("reorder", (Scope.NOTIFICATION,), "keeps the notification back until the next one was sent"),
    Kind("gap", (Scope.METHOD, Scope.NOTIFICATION), "loses the message; later ones arrive"),
    Kind("slow", (Scope.METHOD, Scope.NOTIFICATION), "holds the message, and all behind it, for a while", (_MS,)),
)
KINDS: dict[str, Kind] = {kind.name: kind for kind in _ROWS}
REST_KINDS = frozenset(kind.name for kind in _ROWS if Scope.REST in kind.scopes) - {"echo_differs"}
SOCKET_KINDS = frozenset({"drop", "silence", "duplicate", "reorder", "gap", "slow"})
# Where `*` makes an echo differ: the answers and notifications that hold records of transactions.
RECORD_OPERATIONS = frozenset(
    {"get_transaction", "get_transactions", "findTransactions", "loadTransactions", "updateTransaction"}
)
DEFAULT_STATUS = {"html": 200, "redirect": 302, "rate_limit": 429}
