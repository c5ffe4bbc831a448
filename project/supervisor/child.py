"""One supervised process: started, watched, read, started again when it ends or hangs, ended with its own."""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from project.supervisor import parent_death, run_queue
from project.supervisor.console import Console
from project.supervisor.forks import Forked, Forks
from project.supervisor.guard import Guard
from project.supervisor.probes import Probe

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 15.0
_LIFE_THAT_COUNTS_S = 10.0
# A child that works gives a sign every five seconds; one that gave none in so many looks hangs, or was stopped.
_LOOK_S, _MOST_LOOKS_WITHOUT_A_SIGN = 5.0, 9
Waits = Callable[[int], Mapping[int, float]]
_CHUNK = 65_536


@dataclass(frozen=True, slots=True)
class Plan:
    """What to start and how to know that it works.

    `probe` asks the child from outside whether it is ready, and `alive` (the same, unless given) from then on whether
    it still answers: one that refuses because it has too much to do is not to be ended for it. Without a probe the
    child is taken to work once it printed `says`, which it then repeats every few seconds as a sign of life. Without
    either it is taken to work once it has lived `settles_s` seconds, and nobody sees when it hangs. `stage` orders the
    end: the highest stage is asked to end first. `is_desk` says that the command is Python with modules of the desk,
    which a fork server has loaded.
    """

    name: str
    command: Sequence[str]
    stage: int
    environment: Mapping[str, str] = field(default_factory=dict)
    probe: Probe | None = None
    alive: Probe | None = None
    says: str = ""
    settles_s: float = 1.0
    is_desk: bool = False


class Child:
    """A plan being carried out."""

    def __init__(
        self,
        plan: Plan,
        console: Console,
        guard: Guard | None = None,
        *,
        forks: Forks | None = None,
        waits: Waits = run_queue.waits,
    ) -> None:
        self.plan = plan
        self.is_ready = asyncio.Event()
        self.endings = 0
        self._console = console
        self._guard = guard
        self._forks = forks if plan.is_desk else None
        self._waits = waits
        self._signs = 0
        self._hung = False
        self._process: asyncio.subprocess.Process | Forked | None = None
        self._stopping = asyncio.Event()
        self._may_live = asyncio.Event()
        self._may_live.set()
        self._task: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        """The number of the living process, or None."""
        return self._process.pid if self._process and self._process.returncode is None else None

    def waited(self) -> Mapping[int, float]:
        """Seconds that each of its threads has waited for a processor so far."""
        return self._waits(self.pid) if self.pid else {}

    def start(self) -> None:
        """Begin to run the plan, and go on until `stop`."""
        self._task = asyncio.create_task(self._live())

    async def stop(self, seconds: float) -> None:
        """Ask the child to end, and end it and all it started by force when it has not after `seconds`."""
        self._stopping.set()
        if self._task is None:
            return
        if self._process is None:
            # Between two lives there is nothing to end but the pause.
            self._task.cancel()
        self._signal(signal.SIGTERM)
        # One that was stopped hears it only when it goes on.
        self._signal(signal.SIGCONT)
        await asyncio.wait({self._task}, timeout=seconds)
        self._signal(signal.SIGKILL)
        await asyncio.wait({self._task}, timeout=1)

    def hold(self, is_held: bool) -> None:
        """Keep the child stopped, or let it live again. To be repeated: a child that is being started is not there."""
        if is_held:
            self._may_live.clear()
            self._signal(signal.SIGKILL)
        else:
            self._may_live.set()

    def kill(self) -> None:
        """End the child and all it started at once; `stop` still has to be awaited."""
        self._stopping.set()
        self._signal(signal.SIGKILL)

    async def _live(self) -> None:
        pause = _FIRST_PAUSE_S
        while not self._stopping.is_set():
            await self._may_live.wait()
            began = time.monotonic()
            try:
                ending = self._ending(await self._run_once())
            except OSError as error:
                ending = f"can't be started ({error.strerror})"
            self.is_ready.clear()
            self.endings += 1
            if self._stopping.is_set():
                return
            if not self._may_live.is_set():
                self._console.say(f"{self.plan.name} {ending}; a drill keeps it stopped.")
                pause = _FIRST_PAUSE_S
                continue
            pause = _FIRST_PAUSE_S if time.monotonic() - began >= _LIFE_THAT_COUNTS_S else pause
            self._console.say(f"{self.plan.name} {ending}; restarting in {pause:g} s.")
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE_S)

    def _ending(self, code: int) -> str:
        if self._hung:
            return f"sent no heartbeat for {_LOOK_S * _MOST_LOOKS_WITHOUT_A_SIGN:.0f} s and was stopped"
        return f"ended ({_reason(code)})"

    async def _run_once(self) -> int:
        # A pipe of our own: with asyncio's, the end of a child counts only once its own children have closed it too.
        read_end, write_end = os.pipe()
        try:
            self._process = await self._begin(write_end)
        except BaseException:
            os.close(read_end)
            raise
        finally:
            os.close(write_end)
        pid, self._hung = self._process.pid, False
        if self._guard is not None:
            self._guard.add(pid)
        reading = asyncio.create_task(self._read(read_end))
        watching = asyncio.create_task(self._watch())
        code = await self._process.wait()
        watching.cancel()
        # What it had started itself must not live on beside its successor, nor hold the pipe.
        self._signal(signal.SIGKILL)
        self._process = None
        if self._guard is not None:
            self._guard.remove(pid)
        await asyncio.wait({reading}, timeout=1)
        reading.cancel()
        return code

    async def _begin(self, output: int) -> asyncio.subprocess.Process | Forked:
        """Start the process, which writes to this file."""
        # Its own process group, here and there: Ctrl-C reaches the supervisor alone, which ends its children in order.
        if self._forks is not None:
            arguments = self.plan.command[1:]
            return await self._forks.start(arguments, self.plan.environment, output=output, errors=output)
        return await asyncio.create_subprocess_exec(
            *self.plan.command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **self.plan.environment},
            start_new_session=True,
            preexec_fn=parent_death.tied_to_this_process(signal.SIGTERM),
        )

    async def _watch(self) -> None:
        """Set `is_ready` when the plan's sign of work is there, then end the child when there is none for long."""
        if self.plan.probe is not None:
            # The child is another process, which sets no event of ours.
            while not await self.plan.probe():  # noqa: ASYNC110
                await asyncio.sleep(0.1)
            self.is_ready.set()
        elif self.plan.says:
            await self.is_ready.wait()
        else:
            await asyncio.sleep(self.plan.settles_s)
            self.is_ready.set()
            return
        await self._until_it_hangs()
        self._hung = True
        self._signal(signal.SIGKILL)

    async def _until_it_hangs(self) -> None:
        """Looks are counted, not seconds: while this process itself is stopped, nobody is late.

        Nor is one late that got no processor: of a look without a sign counts only the part in which no thread of the
        child stood in the queue for one. One that is stopped, waits for ever or runs in circles doesn't stand there.
        """
        probe, silent = self.plan.alive or self.plan.probe, 0.0
        while silent < _MOST_LOOKS_WITHOUT_A_SIGN:
            signs, waits, began = self._signs, self.waited(), time.monotonic()
            await asyncio.sleep(_LOOK_S)
            if probe is not None and await probe():
                self._signs += 1
            if self._signs != signs:
                silent = 0.0
                continue
            without = time.monotonic() - began - run_queue.longest(waits, self.waited())
            silent += min(max(without / _LOOK_S, 0.0), 1.0)

    async def _read(self, read_end: int) -> None:
        reader = asyncio.StreamReader()
        pipe = os.fdopen(read_end, "rb", buffering=0)
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
        rest = b""
        try:
            while chunk := await reader.read(_CHUNK):
                *lines, rest = (rest + chunk).split(b"\n")
                if len(rest) > _CHUNK:
                    lines, rest = [*lines, rest], b""
                for line in lines:
                    self._read_line(line)
            self._read_line(rest)
        finally:
            transport.close()

    def _read_line(self, line: bytes) -> None:
        text = line.decode(errors="replace").rstrip()
        if self.plan.says and self.plan.says in text:
            self._signs += 1
            self.is_ready.set()
        elif text:
            self._console.pass_on(self.plan.name, text)

    def _signal(self, number: int) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)


def _reason(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit {code}"
