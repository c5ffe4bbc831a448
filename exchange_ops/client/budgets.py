"""How many calls a second may leave for the exchange, so that it has no reason to answer 429.

The published figures (supplement 2.5) count market data by address, everything else by user; here each address and each
key has its own budget in every process. A call takes a place when it leaves, and the place is free again one second
after its answer. So the exchange never gets more calls in a second than there are places, however long they are on
their way. Urgent calls go first; reads never take the last places, and the very last is for releases alone.
"""

import os
import threading
import time
from bisect import insort
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import IntEnum, StrEnum
from itertools import count

from exchange_ops.wire import catalogue
from wire.operation import Operation

SECOND_NS = 1_000_000_000
LONGEST_PAUSE_NS = 30 * SECOND_NS
_NEVER_NS = 2**62


class Group(StrEnum):
    """The operations that are counted together."""

    MARKET = "market"
    TRADING = "trading"
    OTHER = "other"


PER_SECOND: dict[Group, int] = {Group.MARKET: 100, Group.TRADING: 300, Group.OTHER: 10}


class Urgency(IntEnum):
    """Which call goes first."""

    RELEASE = 0  # rollback of a withdrawal: no other call takes its place, and it is never held back
    DECISION = 1  # commit of a withdrawal: there is a deadline behind it
    ACT = 2
    READ = 3


class NoPlace(Exception):
    """The call got no place in time and was not sent."""


def group_of(operation: Operation) -> Group:
    """The group of an operation. Where the figures leave doubt (margin accounts, fees), the smaller one counts."""
    if operation.public:
        return Group.MARKET
    if operation.group in (catalogue.SPOT_ORDERS, catalogue.MARGIN_ORDERS):
        return Group.TRADING
    return Group.OTHER


def urgency_of(operation: Operation) -> Urgency:
    """The urgency of an operation."""
    if operation.name == "rollback_withdrawal":
        return Urgency.RELEASE
    if operation.name == "commit_withdrawal":
        return Urgency.DECISION
    return Urgency.READ if operation.method == "GET" else Urgency.ACT


class Budget:
    """The places of one key in one group. Safe for threads."""

    def __init__(self, per_second: int, *, clock_ns: Callable[[], int] = time.monotonic_ns) -> None:
        if per_second < 1:
            raise ValueError("a budget must allow at least one request per second")
        self._places = per_second
        self._clock_ns = clock_ns
        self._changed = threading.Condition()
        self._away = 0  # calls that have left and not come back
        self._cooling: deque[int] = deque()  # when the places of those that came back are free, ascending
        self._waiting: list[tuple[Urgency, int]] = []
        self._tickets = count()
        self._paused_until_ns = 0
        self._pause_ns = SECOND_NS

    @contextmanager
    def place(self, urgency: Urgency, *, within_ns: int) -> Iterator[None]:
        """Wait for a place, by urgency and then in turn, and hold it during a call. Raises `NoPlace`."""
        self._take(urgency, self._clock_ns() + within_ns)
        try:
            yield
        finally:
            with self._changed:
                self._away -= 1
                self._cooling.append(self._clock_ns() + SECOND_NS)
                self._changed.notify_all()

    def refused(self) -> None:
        """The exchange answered 429: only decisions leave for a second, and for twice as long each next time."""
        with self._changed:
            now_ns = self._clock_ns()
            if now_ns >= self._paused_until_ns:  # else another call reported it already
                self._paused_until_ns = now_ns + self._pause_ns
                self._pause_ns = min(2 * self._pause_ns, LONGEST_PAUSE_NS)

    def answered(self) -> None:
        """The exchange accepted a call: the next pause is short again."""
        with self._changed:
            if self._clock_ns() >= self._paused_until_ns:
                self._pause_ns = SECOND_NS

    def _take(self, urgency: Urgency, ends_ns: int) -> None:
        with self._changed:
            ticket = (urgency, next(self._tickets))
            insort(self._waiting, ticket)
            try:
                while True:
                    now_ns = self._clock_ns()
                    opens_ns = self._opens_ns(urgency, now_ns) if self._waiting[0] == ticket else _NEVER_NS
                    if opens_ns <= now_ns:
                        break
                    if now_ns >= ends_ns or (_NEVER_NS > opens_ns > ends_ns):
                        raise NoPlace
                    self._changed.wait((min(opens_ns, ends_ns) - now_ns) / SECOND_NS)
                self._away += 1
            finally:
                self._waiting.remove(ticket)
                self._changed.notify_all()

    def _opens_ns(self, urgency: Urgency, now_ns: int) -> int:
        """When there is a place for the first in the queue; `_NEVER_NS` while that depends on an answer to come."""
        while self._cooling and self._cooling[0] <= now_ns:
            self._cooling.popleft()
        # Each urgency leaves a tenth of the places to those before it. The smallest published figure is ten a second,
        # where a tenth is one place: reads have seven of them, acts eight, commits nine, and releases all ten.
        allowed = self._places - urgency * (self._places // 10)
        too_many = self._away + len(self._cooling) - allowed + 1
        opens_ns = now_ns
        if too_many > 0:
            opens_ns = self._cooling[too_many - 1] if too_many <= len(self._cooling) else _NEVER_NS
        return opens_ns if urgency <= Urgency.DECISION else max(opens_ns, self._paused_until_ns)


class KeyBudget:
    """The budgets of one key, by group; `per_second` is what each group may do."""

    def __init__(self, budgets: "Budgets", address: str, login: str, per_second: Mapping[Group, int]) -> None:
        self._budgets, self._address, self._login = budgets, address, login
        self._per_second = per_second

    def budget_for(self, operation: Operation) -> Budget:
        """The budget that counts a call of the operation: market data by address, all else by key."""
        group = group_of(operation)
        login = "" if group is Group.MARKET else self._login
        return self._budgets.budget(self._address, login, group, per_second=self._per_second[group])


class Budgets:
    """All budgets of a process. A read that the transport repeats after a failed connection counts once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._budgets: dict[tuple[str, str, Group], Budget] = {}

    def for_key(self, address: str, login: str, per_second: Mapping[str, int] | None = None) -> KeyBudget:
        """The budgets of the key `login` at the exchange of this address; the empty login is for calls without a key.

        `per_second` overrides the published figures by group: several processes with one key share it by smaller ones.
        """
        figures = {group: (per_second or {}).get(group.value, figure) for group, figure in PER_SECOND.items()}
        return KeyBudget(self, address, login, figures)

    def budget(self, address: str, login: str, group: Group, *, per_second: int) -> Budget:
        """One budget, created with this figure on first use."""
        with self._lock:
            name = (address, login, group)
            if name not in self._budgets:
                self._budgets[name] = Budget(per_second)
            return self._budgets[name]

    def forget(self) -> None:
        """Start over: the calls of the process that this one was forked from are not ours."""
        self._lock = threading.Lock()
        self._budgets = {}


of_this_process = Budgets()
os.register_at_fork(after_in_child=of_this_process.forget)
