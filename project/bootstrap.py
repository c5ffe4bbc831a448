"""From a bare clone to an environment with every locked package (standard library only, Python 3.11 and later).

`up`, `verify`, `bench` and `lock` own `.venv`: they make it, install the lock by hash, and go on inside it. A mark
stands in it while it is being made, and a stamp of what was installed is written last, so an interrupted set-up is seen
and made again. Every other command runs where it is started, and uses `.venv` only when Django can't be imported there.
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
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
_PYTHON = VENV / "bin" / "python"
_UNFINISHED = VENV / "unfinished"
_RUN = ("requirements.txt",)
_TEST = ("requirements.txt", "tests/requirements.txt")
_BENCH = (*_TEST, "bench/requirements.txt")
# The commands that prepare their own environment, and what each needs in it.
_LOCKS = {"up": _RUN, "verify": _TEST, "bench": _BENCH, "lock": _TEST}
_OLDEST = (3, 11)


def name_the_settings() -> None:
    """Tell Django which settings are meant, unless the environment says so already."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")


def enter(command: str) -> None:
    """Return when this process may run `command`; otherwise replace the process by one inside `.venv`."""
    if sys.version_info < _OLDEST:
        sys.exit(f"Countersign needs Python 3.11 or later; this is {platform.python_version()}.")
    if command in _LOCKS:
        with _one_at_a_time():
            if _set_up(_LOCKS[command]) and _inside():
                # What this process has already imported may have changed under it.
                _go_inside()
        if not _inside():
            _go_inside()
    elif importlib.util.find_spec("django") is None:
        if _inside() or not _PYTHON.exists():
            sys.exit("Django is not installed here. `python3 manage.py up` makes .venv, installs the lock and starts.")
        _go_inside()


def _inside() -> bool:
    return Path(sys.prefix).resolve() == VENV.resolve()


def _go_inside() -> None:
    os.execv(_PYTHON, [str(_PYTHON), *sys.argv])


def _set_up(locks: tuple[str, ...]) -> bool:
    """Make `.venv` and install each lock that is not in it yet; whether anything was done."""
    python = _version_inside()
    if VENV.exists() and (_UNFINISHED.exists() or not python):
        _say("The last set-up was not finished or its Python is gone: making .venv again.")
        shutil.rmtree(VENV)
        python = ""
    missing = [lock for lock in locks if not python or _stamped(lock) != _mark(lock, python)]
    if missing:
        began = time.monotonic()
        with _ended_by_signals():
            _make(missing)
        _say(f"Environment ready after {time.monotonic() - began:.0f} s.")
    return bool(missing)


def _make(missing: list[str]) -> None:
    is_new = not VENV.exists()
    VENV.mkdir(exist_ok=True)
    _UNFINISHED.touch()
    if is_new:
        _say("Making .venv; this happens once.")
        _make_venv()
    for lock in missing:
        _say(f"Installing {lock}.")
        _install(lock)
        _stamp(lock).write_text(_mark(lock, _version_inside()))
    _UNFINISHED.unlink()


def _make_venv() -> None:
    wants_pip = shutil.which("uv") is None
    if wants_pip and importlib.util.find_spec("ensurepip") is None:
        shutil.rmtree(VENV)
        sys.exit("This Python can't make environments: install python3-venv (apt-get install python3-venv) or uv.")
    without = [] if wants_pip else ["--without-pip"]
    _run([sys.executable, "-m", "venv", *without, str(VENV)], must=True)


def _install(lock: str) -> None:
    rules = ["--require-hashes", "--only-binary", ":all:", "--no-deps", "-r", str(ROOT / lock)]
    uv = shutil.which("uv")
    if uv and _run([uv, "pip", "install", "--quiet", "--python", str(_PYTHON), *rules]):
        return
    pip = [str(_PYTHON), "-m", "pip"]
    if not _run([*pip, "--version"], quiet=True):
        _run([str(_PYTHON), "-m", "ensurepip"], quiet=True, must=True)
    if not _run([*pip, "install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-compile", *rules]):
        sys.exit(f"{lock} could not be installed; what pip said is above. Nothing was started; run the command again.")


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
        sys.exit(f"{' '.join(command)} ended with {code}; what it said is above.")
    return code == 0


def _stamp(lock: str) -> Path:
    return VENV / f"installed-{lock.replace('/', '-')}"


def _stamped(lock: str) -> str:
    return _stamp(lock).read_text() if _stamp(lock).exists() else ""


def _mark(lock: str, python: str) -> str:
    return f"{hashlib.sha256((ROOT / lock).read_bytes()).hexdigest()} {python}"


def _version_inside() -> str:
    """The version and machine of the environment's own Python; empty when it does not run."""
    if _inside():
        return f"{platform.python_version()} {platform.machine()}"
    question = "import platform; print(platform.python_version(), platform.machine())"
    try:
        asked = subprocess.run([_PYTHON, "-c", question], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return asked.stdout.strip() if asked.returncode == 0 else ""


@contextlib.contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Two starts at once: the second waits until the first has finished the environment."""
    descriptor = os.open(ROOT, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("Another start is preparing the environment; waiting for it.")
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
