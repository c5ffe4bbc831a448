"""`manage.py up`: the whole house in one terminal, from the checks at the door to the last child's end."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Coroutine, Sequence
from types import ModuleType
from typing import Any

from project import addresses, environment
from project.bootstrap import ROOT
from project.rehearsal import obeying
from project.supervisor import parent_death, plans, prepared, redis_choice, run_queue
from project.supervisor.child import Child, Plan
from project.supervisor.console import Console
from project.supervisor.forks import ARE_POSSIBLE, Forked, Forks
from project.supervisor.guard import Guard
from project.supervisor.instance_lock import CannotClaim, Claim

_READY_WITHIN_S, _LOOK_S = 120.0, 5.0
_END_WITHIN_S = 9.0
_LAST_STAGES_S = 1.2
_AFTER_A_KILL_S = 9.0
_MANAGE = ROOT / "manage.py"


class CannotStart(Exception):
    """The house can't be started; the text is the sentence for the person who tries."""


def main(arguments: Sequence[str]) -> int:
    """Run the house until it is asked to end; 0 when it ended as asked, 1 when it could not start."""
    if arguments:
        print(f"`up` reads its settings from the environment and accepts no {' '.join(arguments)}.", file=sys.stderr)
        return 2
    addresses.ask_for_demo(sandbox_port=environment.integer("SANDBOX_PORT", 8100, lowest=1, highest=65535))
    # Reads the environment: an odd value ends the process here, with its sentence.
    from project import settings

    claim = Claim(settings.DATA_DIR)
    try:
        claim.acquire(port=settings.PORT, sandbox_port=settings.SANDBOX_PORT)
        asyncio.run(House(settings, Console()).run(after_a_kill=claim.was_cut_off))
    except (CannotClaim, CannotStart, redis_choice.NoBroker) as refusal:
        print(refusal, file=sys.stderr, flush=True)
        return 1
    finally:
        claim.release()
    return 0


class House:
    """The children, and what a person is told about them."""

    def __init__(self, settings: ModuleType, console: Console) -> None:
        self._settings = settings
        self._console = console
        self._children: list[Child] = []
        self._guard = Guard()
        self._forks = Forks(self._guard, environment=plans.before_loading()) if ARE_POSSIBLE else None
        self._asked_to_end = asyncio.Event()
        self._drills: asyncio.Task[None] | None = None
        self._began = time.monotonic()

    async def run(self, *, after_a_kill: bool) -> None:
        """Start everything, say when it is ready, and end it all when asked to."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._ask_to_end)
        try:
            await self._until_asked_to_end(self._start(after_a_kill=after_a_kill))
            if not self._asked_to_end.is_set():
                self._console.say(self._greeting())
                await self._asked_to_end.wait()
        finally:
            await self._end()

    def _ask_to_end(self) -> None:
        if self._asked_to_end.is_set():
            # Asked twice: the person does not want to wait.
            for child in self._children:
                child.kill()
        self._asked_to_end.set()

    async def _start(self, *, after_a_kill: bool) -> None:
        settings = self._settings
        await self._wait_for_ports(seconds=_AFTER_A_KILL_S if after_a_kill else 0)
        if plans.runs_redis(settings):
            choice = redis_choice.choose(
                socket_path=settings.REDIS_SOCKET, folder=settings.DATA_DIR, demo=settings.DEMO
            )
            self._console.say(f"Redis: {choice.sentence}.")
        if self._forks is not None:
            await self._forks.load()
        outside = self._begin(plans.outside(settings))
        if not prepared.holds(settings):
            await self._prepare()
            prepared.remember(settings)
        # Pages call nobody, so they need not wait for the outside; who works would only meet refusals.
        web = self._begin(plans.web(settings))
        await self._ready(outside)
        await self._ready([*web, *self._begin(plans.work())])
        if settings.REHEARSAL:
            self._drills = asyncio.create_task(obeying.obey(self._children, settings.DATA_DIR))

    def _begin(self, plans: list[Plan]) -> list[Child]:
        children = [Child(plan, self._console, self._guard, forks=self._forks) for plan in plans]
        for child in children:
            self._children.append(child)
            child.start()
        return children

    async def _ready(self, children: list[Child]) -> None:
        # Counted from here: what is prepared before, a long migration of an upgrade, takes as long as it takes. And
        # what passes while somebody who is late gets no processor doesn't count: a start is slow beside other work.
        waiting = {asyncio.create_task(child.is_ready.wait()) for child in children}
        late, remaining_s = children, _READY_WITHIN_S
        try:
            while late and remaining_s > 0:
                before, look = {child: child.waited() for child in late}, min(_LOOK_S, remaining_s)
                await asyncio.wait(waiting, timeout=look)
                late = [child for child in children if not child.is_ready.is_set()]
                queued = max((run_queue.longest(before[child], child.waited()) for child in late), default=0.0)
                remaining_s -= max(look - queued, 0.0)
        finally:
            for each in waiting:
                each.cancel()
        if not late:
            return
        names = ", ".join(child.plan.name for child in late)
        raise CannotStart(f"Not ready after {_READY_WITHIN_S:.0f} s: {names}. See the output above.")

    async def _prepare(self) -> None:
        """Bring the rows and the static files up to date, in one process of its own."""
        arguments = [str(_MANAGE), "prepare"]
        process: asyncio.subprocess.Process | Forked
        if self._forks is not None:
            try:
                process = await self._forks.start(arguments, {}, output=1, errors=2)
            except OSError as error:
                raise CannotStart(f"The database could not be prepared: {error}; see the output above.") from None
        else:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *arguments,
                stdin=asyncio.subprocess.DEVNULL,
                start_new_session=True,
                preexec_fn=parent_death.tied_to_this_process(signal.SIGTERM),
            )
        self._guard.add(process.pid)
        try:
            code = await process.wait()
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)
            self._guard.remove(process.pid)
        if code:
            raise CannotStart("The database could not be prepared; see the output above.")

    async def _wait_for_ports(self, *, seconds: float) -> None:
        settings = self._settings
        # A rehearsal gets its ports as options (`project.rehearsal.command`).
        desk, sandbox = ("--port", "--sandbox-port") if settings.REHEARSAL else ("PORT", "SANDBOX_PORT")
        ports = {desk: (settings.LISTEN, settings.PORT)}
        if plans.runs_sandbox(settings):
            ports[sandbox] = ("127.0.0.1", settings.SANDBOX_PORT)
        deadline = time.monotonic() + seconds
        for name, (host, port) in ports.items():
            # The children of a killed house end within seconds; anybody else's port is refused at once.
            while not _is_free(host, port):
                if time.monotonic() >= deadline:
                    raise CannotStart(f"Port {port} is in use by another program; set {name} to a free port.")
                await asyncio.sleep(0.2)

    async def _until_asked_to_end(self, work: Coroutine[Any, Any, None]) -> None:
        working = asyncio.create_task(work)
        request = asyncio.create_task(self._asked_to_end.wait())
        try:
            await asyncio.wait({working, request}, return_when=asyncio.FIRST_COMPLETED)
            if working.done():
                working.result()
        finally:
            for task in (working, request):
                task.cancel()
            await asyncio.gather(working, request, return_exceptions=True)

    async def _end(self) -> None:
        if self._drills is not None:
            self._drills.cancel()
        if self._children:
            self._console.say("Stopping…")
        deadline = time.monotonic() + _END_WITHIN_S
        for stage in sorted({child.plan.stage for child in self._children}, reverse=True):
            # Each stage leaves time for those below it.
            remaining_s = deadline - time.monotonic() - _LAST_STAGES_S * (stage - 1)
            leaving = [child for child in self._children if child.plan.stage == stage]
            await asyncio.gather(*(child.stop(max(remaining_s, 0.3)) for child in reversed(leaving)))
        if self._forks is not None:
            await self._forks.close()
        self._guard.close()
        if self._children:
            self._console.say(f"Everything stopped after {time.monotonic() - deadline + _END_WITHIN_S:.1f} s.")

    def _greeting(self) -> str:
        settings = self._settings
        lines = ["", f"Countersign is ready at http://localhost:{settings.PORT}/ after {self._seconds():.1f} s."]
        demo_file = settings.DATA_DIR / "demo.json"
        if settings.DEMO and demo_file.exists():
            demo = json.loads(demo_file.read_text())
            lines += [
                f"  Sign in as     {', '.join(demo['people'])}",
                f"  Password       {demo['password']}",
                f"  Second factor  {demo['totp_secret']} in an authenticator app, or: python3 manage.py demo_code",
            ]
        if settings.REHEARSAL:
            lines += [
                "  Rehearsal      no real money; people sign in with the passwords printed when it was made",
                "  In another terminal: manage.py rehearse --drill NAME, manage.py rehearse --report",
            ]
        if plans.runs_sandbox(settings):
            lines.append(f"  The sandbox    http://127.0.0.1:{settings.SANDBOX_PORT}/")
        lines += [
            f"  Data in        {settings.DATA_DIR}",
            "  Ctrl-C stops everything; the next start resumes from here.",
            "",
        ]
        return "\n".join(lines)

    def _seconds(self) -> float:
        return time.monotonic() - self._began


def _is_free(host: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        # As the servers do: a connection that is only lingering does not keep a port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True
