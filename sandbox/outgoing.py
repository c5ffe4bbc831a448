"""What waits to leave on one socket, in order and bounded, and what armed faults make of it."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from sandbox.connections import Connection
from sandbox.fault_kinds import SOCKET_KINDS, Scope
from sandbox.faults import Fault, Faults

MOST_WAITING = 10_000
MOST_CHARACTERS = 64 * 2**20
LITTLE = 100  # messages


@dataclass(frozen=True, slots=True)
class Pause:
    """Everything behind it waits so long."""

    ms: int


@dataclass(frozen=True, slots=True)
class End:
    """The socket breaks here, `how` being close or reset."""

    how: str


class Outgoing:
    """The messages of one socket on their way out.

    Putting never waits. A reader so slow that `most_waiting` messages pile up loses its connection, as on the exchange
    (supplement 1.7): the world goes on without it.
    """

    def __init__(self, faults: Faults, connection: Connection, most_waiting: int | None = None) -> None:
        self.key: str | None = None
        self._faults = faults
        self._connection = connection
        self._most_waiting = most_waiting or MOST_WAITING
        self._waiting: deque[str | Pause | End] = deque()
        self._arrived = asyncio.Event()
        self._kept_back: list[str] = []
        self._silent = False
        self._characters = 0
        self._drained = asyncio.Event()
        self.overflowed = False
        self._is_over = False

    def end(self) -> None:
        """Nothing leaves any more: nobody is to wait for it."""
        self._is_over = True
        self._drained.set()

    async def has_room(self) -> None:
        """Returns once little waits to leave, so that who asks faster than he reads is not answered meanwhile.

        The writer gets its turn in any case.
        """
        await asyncio.sleep(0)
        while len(self._waiting) > min(LITTLE, self._most_waiting // 2) and not (self.overflowed or self._is_over):
            self._drained.clear()
            await self._drained.wait()

    def put(self, name: str, text: str, scope: Scope) -> None:
        """Queues the message called `name`, an answer (Scope.METHOD) or a notification, unless a fault has its way."""
        if self._silent:
            return
        fault = self._faults.take(name, key=self.key, kinds=SOCKET_KINDS, scope=scope)
        if fault is None:
            self._queue(text)
        elif fault.kind == "reorder":
            self._kept_back.append(text)
            return
        else:
            self._spoil(fault, text)
        if scope is Scope.NOTIFICATION:
            self._release()

    def _spoil(self, fault: Fault, text: str) -> None:
        match fault.kind:
            case "drop":
                self._queue(End(fault.text("how")))
            case "silence":
                self._fall_silent(fault)
            case "duplicate":
                self._queue(text)
                self._queue(text)
            case "slow":
                self._queue(Pause(fault.whole("ms")))
                self._queue(text)

    def _release(self) -> None:
        for text in self._kept_back:
            self._queue(text)
        self._kept_back.clear()

    def _fall_silent(self, fault: Fault) -> None:
        self._silent = True
        self._connection.pings_answered = fault.on("pings")
        if fault.whole("ms"):
            asyncio.get_running_loop().call_later(fault.whole("ms") / 1000, self._speak_again)

    def _speak_again(self) -> None:
        self._silent = False
        self._connection.pings_answered = True

    def _queue(self, item: str | Pause | End) -> None:
        self._characters += len(item) if isinstance(item, str) else 0
        if len(self._waiting) >= self._most_waiting or self._characters > MOST_CHARACTERS:
            self.overflowed = True
            self._drained.set()
            self._connection.reset()
            return
        self._waiting.append(item)
        self._arrived.set()

    async def write(self, send: Callable[[str], Awaitable[None]]) -> None:
        """Sends what waits, one after the other, until a fault ends the socket."""
        while True:
            while self._waiting:
                match self._waiting.popleft():
                    case Pause(ms):
                        await asyncio.sleep(ms / 1000)
                    case End(how):
                        self._connection.end(how)
                        return
                    case str() as text:
                        self._characters -= len(text)
                        await send(text)
                self._drained.set()
            self._arrived.clear()
            await self._arrived.wait()
