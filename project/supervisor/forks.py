"""The supervisor's end of `fork_server`: processes of the desk that start loaded and share their memory."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from typing import Final

from project.bootstrap import ROOT
from project.supervisor import parent_death
from project.supervisor.fork_server import LONGEST_REQUEST
from project.supervisor.guard import Guard

# The server starts no thread and PR_SET_PDEATHSIG ties its processes to it: both are known to hold here.
ARE_POSSIBLE: Final = sys.platform == "linux"
_SERVER = "project.supervisor.fork_server"
_ROOM = "-" * 400
_START_WITHIN_S: Final = 120.0


class Forked:
    """A process that the server forked; to be waited for like one of asyncio's."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ended = asyncio.Event()

    async def wait(self) -> int:
        """Its exit code; below zero the signal that ended it."""
        await self._ended.wait()
        return -signal.SIGKILL if self.returncode is None else self.returncode

    def end(self, code: int) -> None:
        """It has ended with this code."""
        self.returncode = code
        self._ended.set()


class Forks:
    """Asks a fork server for processes; starts the server when there is none.

    The processes end with their server (SIGTERM), and with this process as well. `environment` is what a process needs
    before its modules are loaded.
    """

    def __init__(self, guard: Guard | None = None, *, environment: Mapping[str, str]) -> None:
        self._guard = guard
        self._environment = environment
        self._turn = asyncio.Lock()
        self._server: asyncio.subprocess.Process | None = None
        self._channel: socket.socket | None = None
        self._reading: asyncio.Task[None] | None = None
        self._last_number = 0
        self._starting: dict[int, asyncio.Future[Forked]] = {}
        self._forked: dict[int, Forked] = {}

    @property
    def pid(self) -> int | None:
        """The number of the server's process, or None."""
        return self._server.pid if self._server is not None else None

    async def load(self) -> None:
        """Start the server, so that it is loaded when the first process is asked for."""
        async with self._turn:
            await self._ensure()

    async def start(
        self, arguments: Sequence[str], environment: Mapping[str, str], *, output: int, errors: int
    ) -> Forked:
        """Start Python with these arguments, changes of the environment and files; OSError where that fails."""
        started: asyncio.Future[Forked] = asyncio.get_running_loop().create_future()
        self._last_number += 1
        number = self._last_number
        request = json.dumps([number, list(arguments), dict(environment)]).encode() + b"\n"
        try:
            async with self._turn:
                channel = await self._ensure()
                self._starting[number] = started
                socket.send_fds(channel, [request], [output, errors])
            return await asyncio.wait_for(started, _START_WITHIN_S)
        except TimeoutError:
            self._kill()
            raise OSError("the fork server does not answer") from None
        finally:
            self._starting.pop(number, None)

    async def close(self) -> None:
        """End the server, which has no processes any more."""
        self._kill()
        if self._reading is not None:
            await asyncio.wait({self._reading}, timeout=1)

    async def _ensure(self) -> socket.socket:
        """The channel to a living server."""
        if self._channel is not None:
            return self._channel
        if self._reading is not None:
            await self._reading
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with theirs:
            self._server = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", _SERVER, str(theirs.fileno()), _ROOM),
                cwd=ROOT,
                stdin=asyncio.subprocess.DEVNULL,
                env={**os.environ, "PYTHONUNBUFFERED": "1", **self._environment},
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                preexec_fn=parent_death.tied_to_this_process(signal.SIGTERM),
            )
        if self._guard is not None:
            self._guard.add(self._server.pid)
        self._channel = ours
        self._reading = asyncio.create_task(self._read(self._server, ours))
        return ours

    async def _read(self, server: asyncio.subprocess.Process, channel: socket.socket) -> None:
        """Take the answers until the server is gone; its processes end with it."""
        rest = b""
        with channel:
            with contextlib.suppress(OSError):
                while answer := await asyncio.get_running_loop().sock_recv(channel, LONGEST_REQUEST):
                    *lines, rest = (rest + answer).split(b"\n")
                    for line in lines:
                        self._take(json.loads(line))
            self._channel = None
        _kill(server)
        await server.wait()
        if self._guard is not None:
            self._guard.remove(server.pid)
        self._server = None
        for started in self._starting.values():
            if not started.done():
                started.set_exception(OSError("the fork server ended"))
        for forked in self._forked.values():
            forked.end(-signal.SIGTERM)
        self._forked = {}

    def _take(self, answer: Mapping[str, int]) -> None:
        pid = answer["pid"]
        if "code" in answer:
            if (ended := self._forked.pop(pid, None)) is not None:
                ended.end(answer["code"])
            return
        started = self._starting.get(answer["number"])
        if started is None or started.done():
            # Who asked for it has gone.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
            return
        self._forked[pid] = Forked(pid)
        started.set_result(self._forked[pid])

    def _kill(self) -> None:
        self._channel = None
        if self._server is not None:
            _kill(self._server)


def _kill(server: asyncio.subprocess.Process) -> None:
    # Not by its own method, which would take the exit code away from who waits for it.
    if server.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(server.pid, signal.SIGKILL)
