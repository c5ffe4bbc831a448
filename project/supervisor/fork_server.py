"""Loads the desk once and forks its processes: `python -m project.supervisor.fork_server CHANNEL ROOM` (Linux).

Each process of the desk needs the same modules. Loaded by each, they take two seconds of a processor and a hundred
megabytes a process; after a fork the memory is shared for as long as nobody writes to it. `CHANNEL` is the number of
an open socket, over which `forks.Forks` asks: a line of JSON with the number of the request, the arguments of Python
and the changes of the environment, and with it the files for standard output and error. The answers are
`{"number": NUMBER, "pid": PID}`, and `{"pid": PID, "code": CODE}` when that process has ended. `ROOM` has no meaning:
it is where a forked process writes its own command, for lists of processes.

The server starts no thread and opens no connection, so that nothing is in use by two after a fork.
"""

import contextlib
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import sys
from dataclasses import dataclass
from pathlib import Path

from project import bootstrap
from project.supervisor import parent_death

LONGEST_REQUEST = 65_536
# What the processes of project/deployment/processes.py import sooner or later, beside the apps. Not project.asgi: it
# starts threads, and looks at the static files, which may not be there yet.
_MODULES = (
    "channels.routing",
    "channels.sessions",
    "desk.live.consumers",
    "project.origins",
    "project.pages",
    "project.request_limits",
    "project.sockets",
    "servestatic",
    "uvicorn",
    "celery.bin.celery",
    "celery.apps.worker",
    "celery.apps.beat",
    "celery.concurrency.prefork",
    "celery.worker.components",
    "celery.worker.consumer",
    "celery.worker.strategy",
)


@dataclass(frozen=True, slots=True)
class Job:
    """What a forked process runs: the arguments of Python, with `-m` and a module or a script first."""

    number: int
    arguments: list[str]
    environment: dict[str, str]
    output: int
    errors: int


def main() -> int:
    """Serve until the channel closes; a forked process returns from here as if it had been started for its job."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    _take_the_name(f"{sys.executable} -m project.supervisor.fork_server")
    _load()
    job = _serve(channel)
    if job is not None:
        _run(job)
    return 0


def _load() -> None:
    bootstrap.name_the_settings()
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import load_command_class
    from django.template import engines
    from django.urls import get_resolver
    from django.utils.module_loading import import_string

    for name in _MODULES:
        importlib.import_module(name)
    for path in settings.MIDDLEWARE:
        import_string(path)
    from project.celery import app

    app.loader.import_default_modules()
    app.finalize()
    load_command_class("exchange_ops", "follow")
    # Reading these loads all views and template tags.
    _ = get_resolver().reverse_dict, engines.all()
    gc.collect()
    # A collection writes to every object that it looks at, and what is written to is no longer shared.
    gc.freeze()


def _serve(channel: socket.socket) -> Job | None:
    """In each forked process its job; in the server itself None, once the other end of the channel has closed."""
    wake, woken = os.pipe()
    for end in (wake, woken):
        os.set_blocking(end, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken)
    while True:
        readable, _, _ = select.select([channel.fileno(), wake], [], [])
        if wake in readable:
            os.read(wake, 4_096)
            _report_ended(channel)
        if channel.fileno() not in readable:
            continue
        job = _next_job(channel)
        if job is None:
            return None
        pid = _fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            for end in (wake, woken):
                os.close(end)
            channel.close()
            return job
        os.close(job.output)
        os.close(job.errors)
        _answer(channel, {"number": job.number, "pid": pid})


def _next_job(channel: socket.socket) -> Job | None:
    text, files, _, _ = socket.recv_fds(channel, LONGEST_REQUEST, 2)
    while text and not text.endswith(b"\n"):
        more = channel.recv(LONGEST_REQUEST)
        text = text + more if more else b""
    return Job(*json.loads(text), *files) if text else None


def _fork() -> int:
    """The number of the new process, which leads a group of its own by then; 0 in it."""
    began, begins = os.pipe()
    tie = parent_death.tied_to_this_process(signal.SIGTERM)
    pid = os.fork()
    if pid == 0:
        for number in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        os.setsid()
        if tie is not None:
            tie()
        os.close(began)
    os.close(begins)
    if pid:
        os.read(began, 1)
        os.close(began)
    return pid


def _report_ended(channel: socket.socket) -> None:
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            _answer(channel, {"pid": ended[0], "code": os.waitstatus_to_exitcode(ended[1])})


def _answer(channel: socket.socket, answer: dict[str, int]) -> None:
    # Who asked may be gone: the next reading of the channel says so.
    with contextlib.suppress(OSError):
        channel.sendall(json.dumps(answer).encode() + b"\n")


def _run(job: Job) -> None:
    from desk.processes import uptime

    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    for file, number in ((job.output, 1), (job.errors, 2)):
        os.dup2(file, number)
        os.close(file)
    os.environ.update(job.environment)
    uptime.restart()
    _take_the_name(f"{sys.executable} {' '.join(job.arguments)}")
    first, *rest = job.arguments
    if first == "-m":
        sys.argv = rest
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = job.arguments
        runpy.run_path(first, run_name="__main__")


def _take_the_name(command: str) -> None:
    """Have lists of processes show this command instead of the server's, as far as there is room for it."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        # proc(5): fields 48 and 49 are where the arguments begin and end in memory.
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        begins, ends = int(fields[45]), int(fields[46])
        room = ends - begins
        with open("/proc/self/mem", "r+b", buffering=0) as memory:
            memory.seek(begins)
            memory.write(command.encode()[: room - 1].ljust(room, b"\0"))


if __name__ == "__main__":
    sys.exit(main())
