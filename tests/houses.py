"""The house started the way a user starts it, for tests that look at it from outside only."""

import atexit
import fcntl
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any

from tests import prepared_database
from tests.bounds import stretched

ROOT = Path(__file__).resolve().parent.parent
# A house whose people sign in by the hundred; see there.
QUICK = {"DJANGO_SETTINGS_MODULE": "tests.house_settings"}
_READY = re.compile(r"ready at http://localhost:(\d+)/")
_KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "XDG_CACHE_HOME")
_SESSIONS = "sessions.json"  # in a prepared folder: the keys of the sessions of its people, by their names
_REMEMBER = "from project import settings; from project.supervisor import prepared; prepared.remember(settings)"


def free_port() -> int:
    """A port that nobody listens on right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _environment() -> dict[str, str]:
    return {name: os.environ[name] for name in _KEPT if name in os.environ}


def _new_folder() -> Path:
    made = Path(tempfile.mkdtemp(prefix=f"countersign-test-{os.getpid()}-house-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def prepared_folder() -> Path:
    """A DATA_DIR for a house of QUICK people that is prepared already: a copy of the one that this run prepared once.

    To prepare takes some 10 s of a processor; it is what tests/project/test_up.py looks at. The people of
    tests/e2e/make_people.py are there as well.
    """
    shared = os.environ.get(prepared_database.FOLDER)
    if not shared:
        return _new_folder()
    kept = Path(shared) / "house"
    with (Path(shared) / "house.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            _prepare(kept)
    made = _new_folder()
    shutil.copytree(kept, made, dirs_exist_ok=True)
    # The one place where the folder stands in its own files.
    mark = made / "prepared.json"
    mark.write_text(mark.read_text().replace(str(kept), str(made)))
    return made


def _prepare(folder: Path) -> None:
    """In a folder beside it, so that one that was cut off is never taken for a whole one."""
    began = folder.with_name(f"{folder.name}-{os.getpid()}")
    began.mkdir(mode=0o700)
    environment = _environment() | QUICK | {"DATA_DIR": str(began), "DEMO": "1"}
    for command in ((str(ROOT / "manage.py"), "prepare"), ("-c", _REMEMBER)):
        subprocess.run([sys.executable, *command], cwd=ROOT, env=environment, check=True)
    people = (sys.executable, "-m", "tests.e2e.make_people")
    printed = subprocess.run(people, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    (began / _SESSIONS).write_text(printed.splitlines()[-1])
    mark = began / "prepared.json"
    mark.write_text(mark.read_text().replace(str(began), str(folder)))
    began.rename(folder)


def sessions_of(folder: Path) -> dict[str, str]:
    """The keys of the sessions to which the people of a prepared folder have signed in; none of another folder."""
    path = folder / _SESSIONS
    sessions: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
    return sessions


class RunningHouse:
    """`manage.py up` in a session of its own, with every line it prints kept.

    `folder` is its DATA_DIR (a fresh one by default); `changes` are environment variables. The rows are SQLite and the
    broker is private, as for a newcomer, unless `changes` say otherwise. `ports` are those of the desk and the sandbox,
    for a house that goes on where another one ended; free ones by default.
    """

    def __init__(
        self,
        *,
        folder: Path | None = None,
        command: list[str] | None = None,
        ports: tuple[int, int] | None = None,
        **changes: str,
    ) -> None:
        self.folder = folder or _new_folder()
        self.port, self.sandbox_port = ports or (free_port(), free_port())
        ours = {"DATA_DIR": str(self.folder), "PORT": str(self.port), "SANDBOX_PORT": str(self.sandbox_port)}
        self.environment = _environment() | ours | changes
        self.lines: list[str] = []
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            command or [sys.executable, "manage.py", "up"],
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def url(self) -> str:
        """The desk's address."""
        return f"http://localhost:{self.port}"

    @property
    def sandbox_url(self) -> str:
        """The sandbox's address."""
        return f"http://127.0.0.1:{self.sandbox_port}"

    @property
    def text(self) -> str:
        """Everything printed so far."""
        return "\n".join(self.lines)

    def control(self, path: str, body: dict[str, Any] | None = None, *, method: str | None = None) -> Any:
        """Call the sandbox's control plane: `control("clock", {"advance_ms": 1000})`; without a body it asks, or does
        what `method` says."""
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"{self.sandbox_url}/_sandbox/{path}",
            data=content,
            headers={"Content-Type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=stretched(30)) as answer:
            return json.loads(answer.read())

    def python(self, *arguments: str, typed: str = "", seconds: float = 60) -> str:
        """What another Python process with this house's settings prints: `python("manage.py", "sweep")`.

        `typed` is what it reads from its standard input, and `seconds` how long it may take.
        """
        ended = subprocess.run(
            [sys.executable, *arguments],
            input=typed,
            cwd=ROOT,
            env={"DJANGO_SETTINGS_MODULE": "project.settings"} | self.environment,
            capture_output=True,
            text=True,
            timeout=stretched(seconds),
            check=False,
        )
        if ended.returncode:
            raise AssertionError(f"{arguments} ended with {ended.returncode}:\n{ended.stdout}\n{ended.stderr}")
        return ended.stdout

    def wait_until_ready(self, seconds: float = 120) -> float:
        """Wait for the line that says so; how many seconds it took from the start."""
        self.wait_for(_READY.pattern, seconds)
        return time.monotonic() - self.started

    def wait_for(self, pattern: str, seconds: float = 30) -> None:
        """Wait until a printed line has `pattern` (a regular expression)."""
        deadline = time.monotonic() + stretched(seconds)
        while not any(re.search(pattern, line) for line in list(self.lines)):
            if self.process.poll() is not None:
                self._reader.join(5)
                if any(re.search(pattern, line) for line in self.lines):
                    return
                raise AssertionError(f"the house ended with {self.process.returncode}:\n{self.text}")
            if time.monotonic() > deadline:
                raise AssertionError(f"{pattern!r} was not printed within {seconds} s:\n{self.text}")
            time.sleep(0.05)

    def stop(self, number: int = signal.SIGTERM, seconds: float = 15) -> float:
        """Ask for the end by a signal to the started process alone; how many seconds it took."""
        began = time.monotonic()
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            self.process.wait(stretched(seconds))
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"the house did not end within {seconds} s:\n{self.text}") from None
        self._reader.join(5)
        return time.monotonic() - began

    def processes(self) -> dict[int, str]:
        """Every living process that belongs to this house: number and command line.

        By its DATA_DIR; Redis writes its title over its environment, and the title names its socket.
        """
        found = {}
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                belongs = f"DATA_DIR={self.folder}\0".encode() in (entry / "environ").read_bytes() + b"\0"
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
            except OSError:
                continue
            if command and (belongs or f"{self.folder}/" in command):
                found[int(entry.name)] = command
        return found

    def _read(self) -> None:
        assert self.process.stdout
        with self.process.stdout as printed:
            for line in printed:
                self.lines.append(line.rstrip("\n"))
