"""The log of calls received, kept in memory: what a test asserts about a client that may have got no answer.

A call is listed from the moment it was read, so that one whose execution is delayed shows at once; `executed` and
`answer` are filled in later. Secrets are never kept: neither headers nor the values of sensitive parameters.
"""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count

MASK = "…"
MOST_KEPT = 5_000
MOST_CHARACTERS = 16 * 2**20  # of parameters, of all calls together
LONGEST_TEXT = 4_000
# Masked under whatever operation they come: a secret may have been sent to the wrong address.
ALWAYS_SENSITIVE = frozenset({"skey", "signature", "secret", "password"})


@dataclass(slots=True)
class Call:
    """One call: when it was read (milliseconds of the sandbox's clock), by whom, what it asked and what it got."""

    number: int
    when_ms: int
    operation: str
    method: str
    path: str
    key: str | None = None
    query: tuple[tuple[str, str], ...] = ()
    form: tuple[tuple[str, str], ...] = ()
    fault: str | None = None
    executed: bool = False
    status: int | None = None
    body: object = None

    def as_json(self) -> dict[str, object]:
        """The call as the control plane lists it; `answer` is null when none was sent."""
        answer = None if self.status is None else {"status": self.status, "body": self.body}
        return {
            "number": self.number,
            "when": instant_text(self.when_ms),
            "operation": self.operation,
            "key": self.key,
            "method": self.method,
            "path": self.path,
            "query": _grouped(self.query),
            "form": _grouped(self.form),
            "fault": self.fault,
            "executed": self.executed,
            "answer": answer,
        }


class Calls:
    """The latest calls, at most `MOST_KEPT` of them or `MOST_CHARACTERS`; older ones are dropped and counted."""

    def __init__(self, now_ms: Callable[[], int], most_kept: int = MOST_KEPT) -> None:
        self._now_ms = now_ms
        self._numbers = count(1)
        self._most_kept = most_kept
        self._kept: deque[Call] = deque()
        self._characters = 0
        self._received = 0

    def received(
        self,
        *,
        operation: str,
        method: str,
        path: str,
        query: Iterable[tuple[str, str]] = (),
        form: Iterable[tuple[str, str]] = (),
        sensitive: frozenset[str] = frozenset(),
    ) -> Call:
        """Writes down a call that was just read; the values of `sensitive` parameters are masked."""
        call = Call(
            number=next(self._numbers),
            when_ms=self._now_ms(),
            operation=operation,
            method=method,
            path=_short(path),
            query=_masked(query, sensitive),
            form=_masked(form, sensitive),
        )
        self._received += 1
        self._kept.append(call)
        self._characters += _length(call)
        while len(self._kept) > self._most_kept or (self._characters > MOST_CHARACTERS and len(self._kept) > 1):
            self._characters -= _length(self._kept.popleft())
        return call

    def listed(self, *, operation: str = "", since: str = "") -> dict[str, object]:
        """The calls of an operation (every one when empty) after a number, or from an ISO datetime on.

        Raises ValueError with a sentence when `since` is neither.
        """
        after, from_ms = _since(since)
        found = [
            call.as_json()
            for call in self._kept
            if call.number > after and call.when_ms >= from_ms and operation in ("", call.operation)
        ]
        return {"calls": found, "received": self._received, "dropped": self._received - len(self._kept)}

    def clear(self) -> None:
        """Forgets every call; numbers go on."""
        self._kept.clear()
        self._characters = self._received = 0


def instant_text(at_ms: int) -> str:
    """Milliseconds since 1970 as the exchange writes an instant: `2021-01-02T03:04:05.678Z`."""
    seconds, milliseconds = divmod(at_ms, 1000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{milliseconds:03d}Z"


def _since(text: str) -> tuple[int, int]:
    if not text:
        return 0, 0
    if text.isascii() and text.isdigit() and len(text) <= 18:
        return int(text), 0
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"'since' is {_short(text)!r}; it takes the number of a call or an ISO datetime.") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    elapsed = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return 0, elapsed.days * 86_400_000 + elapsed.seconds * 1000 + elapsed.microseconds // 1000


def _masked(pairs: Iterable[tuple[str, str]], sensitive: frozenset[str]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (_short(name), MASK if name in sensitive or name.lower() in ALWAYS_SENSITIVE else _short(value))
        for name, value in pairs
    )


def _length(call: Call) -> int:
    return sum(len(name) + len(value) for name, value in (*call.query, *call.form))


def _grouped(pairs: tuple[tuple[str, str], ...]) -> dict[str, object]:
    """Pairs as an object; a name given more than once has the list of its values."""
    grouped: dict[str, object] = {}
    for name, value in pairs:
        if name not in grouped:
            grouped[name] = value
            continue
        earlier = grouped[name]
        grouped[name] = [*earlier, value] if isinstance(earlier, list) else [earlier, value]
    return grouped


def _short(text: str) -> str:
    """The text, cut when it is long, with a mark for what has no bytes (half of a surrogate pair)."""
    whole = text.encode("utf-8", errors="replace").decode("utf-8")
    return whole if len(whole) <= LONGEST_TEXT else whole[:LONGEST_TEXT] + MASK
