"""From a bare clone to an environment with every locked package (standard library only, Python 3.11 and later).

`up`, `verify` and `lock` own `.venv`, and `bench` owns `.venv-bench`: they make it, install their locks by hash, and go
on inside it. A mark stands in it while it is being made, and a stamp of what was installed is written last, so an
interrupted set-up is seen and made again. What a running desk needs is never taken away because something else could
not be installed: the demo's broker and the tests' packages are added to `.venv` without a mark, and come again when
they did not arrive whole; the measurements, whose peers may be missing for a Python, have an environment of their own.
Every other command runs where it is started, and uses `.venv` only when it needs Django and Django can't be imported.
"""

import contextlib
import fcntl
import hashlib
import importlib.util
import os
import platform
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_RUN = "requirements.txt"
_DEMO = "requirements-demo.txt"
_TEST = (_RUN, _DEMO, "tests/requirements.txt")
_OLDEST = (3, 11)


@dataclass(frozen=True, slots=True)
class Environment:
    """A folder with a Python of its own, and the locks that a command needs in it."""

    folder: Path
    locks: tuple[str, ...]

    @property
    def python(self) -> Path:
        """The program that runs inside."""
        return self.folder / "bin" / "python"

    @property
    def unfinished(self) -> Path:
        """Stands while what the desk needs is being installed; what is found with it is made again."""
        return self.folder / "unfinished"

    def stamp(self, lock: str) -> Path:
        """Says which text of a lock was installed whole."""
        return self.folder / f"installed-{lock.replace('/', '-')}"


_DESK = ROOT / ".venv"
# The commands that prepare their own environment, and what each needs in it.
_ENVIRONMENTS = {
    "up": Environment(_DESK, (_RUN, _DEMO)),
    "verify": Environment(_DESK, _TEST),
    "lock": Environment(_DESK, _TEST),
    "bench": Environment(ROOT / ".venv-bench", (*_TEST, "tools/bench/requirements.txt")),
}
# These run on a server before anything is installed there: the standard library is enough for them.
_PLAIN = {"units", "make_secrets", "sbom"}


def name_the_settings() -> None:
    """Tell Django which settings are meant, unless the environment says so already."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")


def enter(command: str) -> None:
    """Return when this process may run `command`; otherwise replace the process by one inside `.venv`."""
    if sys.version_info < _OLDEST:
        sys.exit(f"Countersign needs Python 3.11 or later; this is {platform.python_version()}.")
    environment = _ENVIRONMENTS.get(command)
    if command == "up" and _is_real():
        environment = Environment(_DESK, (_RUN,))
    if environment is not None:
        with _one_at_a_time():
            if _set_up(environment) and _is_inside(environment):
                # What this process has already imported may have changed under it.
                _go_inside(environment)
        if not _is_inside(environment):
            _go_inside(environment)
    elif command not in _PLAIN and importlib.util.find_spec("django") is None:
        desk = _ENVIRONMENTS["up"]
        if _is_inside(desk) or not desk.python.exists():
            sys.exit(
                "Django is not installed here. `python3 manage.py up` creates .venv, "
                "installs the locked packages and starts the desk."
            )
        _go_inside(desk)


def _is_real() -> bool:
    """Whether `up` is asked for a real desk, which has no broker of the demo: the settings judge the rest."""
    demo = _setting("DEMO").lower()
    return bool(_setting("EXCHANGE_URL")) and demo not in {"1", "true", "yes", "on"}


def _setting(name: str) -> str:
    return os.environ.get(name, "").strip()


def _is_inside(environment: Environment) -> bool:
    return Path(sys.prefix).resolve() == environment.folder.resolve()


def _go_inside(environment: Environment) -> None:
    os.execv(environment.python, [str(environment.python), *sys.argv])


def _set_up(environment: Environment) -> bool:
    """Make the environment and install each lock that is not in it yet; whether anything was done."""
    folder = environment.folder
    python = _version_inside(environment)
    if folder.exists() and (environment.unfinished.exists() or not python):
        _say(f"The last set-up is incomplete or its Python is missing: recreating {folder.name}.")
        shutil.rmtree(folder)
        python = ""
    missing = [lock for lock in environment.locks if not python or _stamped(environment, lock) != _mark(lock, python)]
    if missing:
        began = time.monotonic()
        with _ended_by_signals():
            _make(environment, missing)
        _say(f"Environment ready after {time.monotonic() - began:.0f} s.")
    return bool(missing)


def _make(environment: Environment, missing: list[str]) -> None:
    is_new = not environment.folder.exists()
    environment.folder.mkdir(exist_ok=True)
    if _RUN in missing:
        environment.unfinished.touch()
    if is_new:
        _say(f"Creating {environment.folder.name}; this happens only once.")
        _make_venv(environment)
    for lock in missing:
        _say(f"Installing {lock}.")
        _install(environment, lock)
        environment.stamp(lock).write_text(_mark(lock, _version_inside(environment)))
        if lock == _RUN:
            environment.unfinished.unlink()


def _make_venv(environment: Environment) -> None:
    wants_pip = shutil.which("uv") is None
    if wants_pip and importlib.util.find_spec("ensurepip") is None:
        shutil.rmtree(environment.folder)
        sys.exit("This Python can't create virtual environments: install python3-venv or uv.")
    without = [] if wants_pip else ["--without-pip"]
    _run([sys.executable, "-m", "venv", *without, str(environment.folder)], must=True)


def _install(environment: Environment, lock: str) -> None:
    rules = ["--require-hashes", "--only-binary", ":all:", "--no-deps", "-r", str(ROOT / lock)]
    uv = shutil.which("uv")
    if uv and _run([uv, "pip", "install", "--quiet", "--python", str(environment.python), *rules]):
        return
    pip = [str(environment.python), "-m", "pip"]
    if not _run([*pip, "--version"], quiet=True):
        _run([str(environment.python), "-m", "ensurepip"], quiet=True, must=True)
    if not _run([*pip, "install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-compile", *rules]):
        sys.exit(f"{lock} could not be installed; see pip's output above. Nothing was started; run the command again.")


def _run(command: list[str], *, quiet: bool = False, must: bool = False) -> bool:
    """Run a command to its end; whether it succeeded. `must` ends this process with a sentence when it did not.

    A signal that comes while the command is being started waits until there is a process to end.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    try:
        running = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL if quiet else None,
            preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, before),
        )
        try:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            code = running.wait()
        except BaseException:
            running.kill()
            running.wait()
            raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    if code and must:
        sys.exit(f"{' '.join(command)} failed with exit code {code}; see its output above.")
    return code == 0


def _stamped(environment: Environment, lock: str) -> str:
    stamp = environment.stamp(lock)
    return stamp.read_text() if stamp.exists() else ""


def _mark(lock: str, python: str) -> str:
    return f"{hashlib.sha256((ROOT / lock).read_bytes()).hexdigest()} {python}"


def _version_inside(environment: Environment) -> str:
    """The version and machine of the environment's own Python; empty when it does not run."""
    if _is_inside(environment):
        return f"{platform.python_version()} {platform.machine()}"
    question = "import platform; print(platform.python_version(), platform.machine())"
    try:
        answer = subprocess.run([environment.python, "-c", question], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return answer.stdout.strip() if answer.returncode == 0 else ""


@contextlib.contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Two starts at once: the second waits until the first has finished the environment."""
    descriptor = os.open(ROOT, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("Another process is preparing the environment; waiting for it.")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """SIGTERM ends the installer too: as an exception it makes `_run` kill what it waits for."""
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit("Stopped while preparing the environment."))
    try:
        yield
    except KeyboardInterrupt:
        sys.exit("Stopped while preparing the environment.")
    finally:
        signal.signal(signal.SIGTERM, before)


def _say(sentence: str) -> None:
    print(sentence, flush=True)
