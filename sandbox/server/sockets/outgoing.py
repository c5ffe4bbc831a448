"""What waits to leave on one socket, in order and bounded, and what armed faults make of it."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from sandbox.server.answers import Connection
from sandbox.server.faults.fault_kinds import SOCKET_KINDS, Scope
from sandbox.server.faults.faults import Fault, Faults

MOST_WAITING = 10_000  # messages
MOST_CHARACTERS = 16 * 2**20
# Beyond this no request is taken in.
LITTLE = 100  # messages
LITTLE_CHARACTERS = 2**20


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

    Putting never waits. A reader so slow that `most_waiting` messages pile up, or so many characters, loses his
    connection, as on the exchange (exchange supplement 1.7): the world goes on without him. What a fault keeps back
    counts too.
    """

    def __init__(self, faults: Faults, connection: Connection, most_waiting: int | None = None) -> None:
        self.key: str | None = None
        self.is_over = False
        self._faults = faults
        self._connection = connection
        self._most_waiting = most_waiting or MOST_WAITING
        self._waiting: deque[str | Pause | End] = deque()
        self._arrived = asyncio.Event()
        self._kept_back: list[str] = []
        self._silent = False
        self._characters = 0
        self._drained = asyncio.Event()

    def end(self) -> None:
        """Nothing leaves any more, nothing is taken: nobody is to wait for it."""
        self.is_over = True
        self._waiting.clear()
        self._kept_back.clear()
        self._drained.set()

    def hang_up(self) -> None:
        """Ends the socket at once; what waits is lost."""
        self.end()
        self._connection.leave()

    async def has_room(self) -> None:
        """Returns once little waits to leave, so that who asks faster than he reads is not answered meanwhile.

        The writer gets its turn in any case.
        """
        await asyncio.sleep(0)
        while not self.is_over and self._is_crowded():
            self._drained.clear()
            await self._drained.wait()

    def _is_crowded(self) -> bool:
        waiting = len(self._waiting)
        return waiting > min(LITTLE, self._most_waiting // 2) or (waiting > 0 and self._characters > LITTLE_CHARACTERS)

    def put(self, name: str, text: str, scope: Scope) -> None:
        """Queues the message called `name`, an answer (Scope.METHOD) or a notification, unless a fault has its way."""
        if self._silent or self.is_over:
            return
        fault = self._faults.claim(name, key=self.key, kinds=SOCKET_KINDS, scope=scope)
        if fault is None:
            self._queue(text)
        elif fault.kind == "reorder":
            if self._has_place(text):
                self._kept_back.append(text)
            return
        else:
            self._inject(fault, text)
        if scope is Scope.NOTIFICATION:
            self._release()

    def _inject(self, fault: Fault, text: str) -> None:
        match fault.kind:
            case "drop":
                self._queue(End(fault.text("how")))
            case "silence":
                self._fall_silent(fault)
            case "duplicate":
                self._queue(text)
                self._queue(text)
            case "slow":
                self._queue(Pause(fault.whole_number("ms")))
                self._queue(text)

    def _release(self) -> None:
        kept_back, self._kept_back = self._kept_back, []
        for text in kept_back:
            self._characters -= len(text)
            self._queue(text)

    def _fall_silent(self, fault: Fault) -> None:
        self._silent = True
        self._connection.pings_answered = fault.on("pings")
        if fault.whole_number("ms"):
            asyncio.get_running_loop().call_later(fault.whole_number("ms") / 1000, self._speak_again)

    def _speak_again(self) -> None:
        self._silent = False
        self._connection.pings_answered = True

    def _queue(self, item: str | Pause | End) -> None:
        if self._has_place(item):
            self._waiting.append(item)
            self._arrived.set()

    def _has_place(self, item: str | Pause | End) -> bool:
        """Counts what is to wait; when it is too much, that is the end. One message alone may be of any length."""
        number = len(self._waiting) + len(self._kept_back)
        self._characters += len(item) if isinstance(item, str) else 0
        if self.is_over or number >= self._most_waiting or (number and self._characters > MOST_CHARACTERS):
            if not self.is_over:
                self.end()
                self._connection.reset()
            return False
        return True

    async def write(self, send: Callable[[str], Awaitable[None]]) -> None:
        """Sends what waits, one after the other, until a fault ends the socket."""
        while True:
            while self._waiting:
                match self._waiting.popleft():
                    case Pause(ms):
                        await asyncio.sleep(ms / 1000)
                    case End(how):
                        self._connection.disconnect(how)
                        return
                    case str() as text:
                        self._characters -= len(text)
                        await send(text)
                self._drained.set()
            self._arrived.clear()
            await self._arrived.wait()
