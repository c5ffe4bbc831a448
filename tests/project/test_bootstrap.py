"""From a bare tree to an environment: made once, made again when it was cut off, and never for other commands."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from project import bootstrap
from tests.architecture import tree
from tests.bounds import stretched

UP = """
import sys

def main(arguments):
    print("inside", sys.prefix, arguments, flush=True)
    return 0
"""
ABSENT = "countersign-no-such-package==1.0 --hash=sha256:" + "0" * 64 + "\n"
OLD = {"HOME", "LANG", "TMPDIR", "UV_CACHE_DIR", "XDG_CACHE_HOME"}
# Where the locked uv is: it makes an environment in a moment, and plain pip takes seconds. Two tests are about pip.
UV = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")


@pytest.fixture
def clone(tmp_path):
    """A tree with the door and the bootstrap, an empty lock, and an `up` that only says where it runs."""
    root = tmp_path / "clone"
    (root / "project" / "supervisor").mkdir(parents=True)
    for name in ("manage.py", "project/__init__.py", "project/bootstrap.py", "project/supervisor/__init__.py"):
        shutil.copy(tree.ROOT / name, root / name)
    (root / "project" / "supervisor" / "up.py").write_text(UP)
    for lock in ("requirements.txt", "requirements-demo.txt"):
        (root / lock).write_text("# nothing is needed\n")
    return root


@pytest.fixture(scope="module")
def with_uv(tmp_path_factory):
    """A search path on which uv is found, and nothing else of what the tests' environment has."""
    folder = tmp_path_factory.mktemp("with uv")
    (folder / "uv").symlink_to(UV)
    return f"{folder}{os.pathsep}{without_uv()}"


def without_uv():
    places = os.environ["PATH"].split(os.pathsep)
    return os.pathsep.join(place for place in places if not os.access(f"{place}/uv", os.X_OK))


@pytest.fixture
def start(clone, with_uv):
    """`start("up", PATH=...)`: a command at the door of the clone, to its end."""

    def start(*arguments, python=(), **changes):
        command = [sys._base_executable, *python, "manage.py", *arguments]
        environment = surroundings(with_uv) | changes
        return subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True, timeout=110)

    return start


def surroundings(path):
    return {name: value for name, value in os.environ.items() if name in OLD} | {"PATH": path}


def in_front(clone, path, script):
    """The path with a `uv` of our own in front, in `bin` of the clone."""
    folder = clone / "bin"
    folder.mkdir()
    (folder / "uv").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "uv").chmod(0o755)
    return f"{folder}{os.pathsep}{path}"


def until(is_so):
    deadline = time.monotonic() + stretched(60)
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_the_first_start_makes_the_environment_and_the_second_only_enters_it(clone, start):
    first = start("up", "one")
    assert first.returncode == 0, first.stdout + first.stderr
    assert "Creating .venv" in first.stdout
    assert first.stdout.splitlines()[-1] == f"inside {clone}/.venv ['one']"
    second = start("up")
    assert second.stdout == f"inside {clone}/.venv []\n"
    assert second.stderr == ""


@pytest.mark.thorough("a set-up for a case that is rare; every run of CI begins with one")
def test_plain_pip_does_where_there_is_no_uv(clone, start):
    first = start("up", PATH=without_uv())
    assert first.returncode == 0, first.stdout + first.stderr
    assert (clone / ".venv" / "bin" / "pip").exists()
    kept = clone / ".venv" / "kept"
    kept.touch()
    second = start("up", PATH=without_uv())
    assert second.stdout == f"inside {clone}/.venv []\n"
    (clone / "requirements.txt").write_text("# still nothing\n")
    changed = start("up", PATH=without_uv())
    assert changed.stdout.splitlines()[-1] == f"inside {clone}/.venv []"
    assert "Installing requirements.txt." in changed.stdout
    assert kept.exists()


def test_a_changed_lock_is_installed_into_the_same_environment(clone, start):
    start("up")
    kept = clone / ".venv" / "kept"
    kept.touch()
    (clone / "requirements.txt").write_text("# still nothing\n")
    changed = start("up")
    assert "Installing requirements.txt." in changed.stdout
    assert kept.exists()


def test_an_interrupted_set_up_is_made_again(clone, start):
    start("up")
    left = clone / ".venv" / "left over"
    left.touch()
    (clone / ".venv" / "unfinished").touch()
    again = start("up")
    assert "recreating .venv" in again.stdout
    assert not left.exists()
    assert not (clone / ".venv" / "unfinished").exists()
    assert "Creating" not in start("up").stdout


def test_an_environment_whose_python_is_gone_is_made_again(clone, start):
    start("up")
    (clone / ".venv" / "bin" / "python").unlink()
    again = start("up")
    assert again.returncode == 0, again.stdout + again.stderr
    assert "its Python is missing" in again.stdout


@pytest.mark.every(3, "it installs packages")
def test_a_lock_that_can_not_be_installed_stops_and_is_tried_again(clone, start):
    (clone / "requirements.txt").write_text(ABSENT)
    failed = start("up", PIP_NO_INDEX="1", UV_OFFLINE="1")
    assert failed.returncode != 0
    assert "inside" not in failed.stdout
    assert failed.stderr.splitlines()[-1].startswith("requirements.txt could not be installed")
    (clone / "requirements.txt").write_text("# nothing after all\n")
    assert start("up").returncode == 0


def refuse_pip(clone):
    """Give the environments a pip that installs nothing: the real one takes seconds, and refuses in another test."""
    for packages in clone.glob(".venv*/lib/python*/site-packages"):
        (packages / "pip").mkdir()
        (packages / "pip" / "__main__.py").write_text("import sys\nsys.exit('install' in sys.argv)\n")


@pytest.mark.thorough("a set-up for a case that is rare; every run of CI begins with one")
@pytest.mark.parametrize(("command", "lock"), [("verify", "tests"), ("bench", "tools/bench")])
def test_what_only_tests_and_measurements_need_can_not_spoil_the_desks_environment(clone, command, lock, start):
    assert start("up").returncode == 0
    kept = clone / ".venv" / "kept"
    kept.touch()
    for name in ("tests", "tools/bench"):
        (clone / name).mkdir(parents=True)
        (clone / name / "requirements.txt").write_text("# nothing is needed\n")
    start(command)
    refuse_pip(clone)
    (clone / lock / "requirements.txt").write_text(ABSENT)
    failed = start(command, PIP_NO_INDEX="1", UV_OFFLINE="1")
    assert failed.returncode == 1
    assert f"{lock}/requirements.txt could not be installed" in failed.stderr
    again = start("up")
    assert again.stdout == f"inside {clone}/.venv []\n"
    assert kept.exists()


def test_the_measurements_have_an_environment_of_their_own(clone, start):
    (clone / "project" / "verification").mkdir()
    (clone / "project" / "verification" / "__init__.py").touch()
    (clone / "project" / "verification" / "bench.py").write_text(UP)
    for name in ("tests", "tools/bench"):
        (clone / name).mkdir(parents=True)
        (clone / name / "requirements.txt").write_text("# nothing is needed\n")
    measured = start("bench")
    assert measured.stdout.splitlines()[-1] == f"inside {clone}/.venv-bench []"
    assert not (clone / ".venv").exists()


def test_a_signal_during_set_up_leaves_no_half_environment_in_use(clone, start, with_uv):
    path = in_front(clone, with_uv, ': > "$0-started"\nexec sleep 60')
    running = subprocess.Popen(
        [sys._base_executable, "manage.py", "up"],
        cwd=clone,
        env=surroundings(path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    until((clone / "bin" / "uv-started").exists)
    running.send_signal(signal.SIGTERM)
    _, complaint = running.communicate(timeout=10)
    assert running.returncode == 1
    assert complaint.decode().strip() == "Stopped while preparing the environment."
    assert (clone / ".venv" / "unfinished").exists()
    assert "recreating .venv" in start("up").stdout


@pytest.fixture
def interruptible():
    """A shell starts background jobs with interrupts ignored; here they count."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_a_command_is_being_started_ends_that_command(interruptible, monkeypatch, number):
    begun = []

    class Interrupted(subprocess.Popen):
        """The signal arrives when the process is there and nobody waits for it yet."""

        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            begun.append(self)
            # To this thread: another one of the test's process would not wake it from its waiting.
            signal.pthread_kill(threading.get_ident(), number)

    monkeypatch.setattr(bootstrap.subprocess, "Popen", Interrupted)
    with pytest.raises(SystemExit, match="Stopped while preparing"), bootstrap._ended_by_signals():
        bootstrap._run(["sleep", "60"])
    assert begun[0].poll() == -signal.SIGKILL
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == set()


def test_two_starts_at_once_make_one_environment(clone, with_uv):
    path = in_front(clone, with_uv, f'until [ -e "$0-may-go-on" ]; do sleep 0.02; done\nexec {UV} "$@"')

    def begin():
        command = [sys._base_executable, "manage.py", "up"]
        return subprocess.Popen(command, cwd=clone, env=surroundings(path), stdout=subprocess.PIPE, text=True)

    one = begin()
    until((clone / ".venv").exists)
    other = begin()
    facts = other.stdout.readline()
    assert facts == "Another process is preparing the environment; waiting for it.\n"
    (clone / "bin" / "uv-may-go-on").touch()
    printed = [one.communicate(timeout=110)[0], facts + other.communicate(timeout=110)[0]]
    assert [one.returncode, other.returncode] == [0, 0]
    assert sum("Creating .venv" in text for text in printed) == 1
    assert all("inside" in text for text in printed)


def test_other_commands_make_nothing_and_say_what_is_missing(clone, start):
    refused = start("check", python=("-S",))
    assert refused.returncode == 1
    assert refused.stderr.startswith("Django is not installed here.")
    assert refused.stderr.count("\n") == 1
    assert not (clone / ".venv").exists()


def test_an_old_python_is_told_so(monkeypatch):
    monkeypatch.setattr(bootstrap.sys, "version_info", (3, 10, 9))
    with pytest.raises(SystemExit, match=r"needs Python 3\.11 or later"):
        bootstrap.enter("up")


def test_a_python_without_ensurepip_is_told_what_to_install(monkeypatch, tmp_path):
    environment = bootstrap.Environment(tmp_path / "venv", ("requirements.txt",))
    environment.folder.mkdir()
    monkeypatch.setattr(bootstrap.shutil, "which", lambda name: None)
    monkeypatch.setattr(bootstrap.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match="install python3-venv"):
        bootstrap._make_venv(environment)
    assert not (tmp_path / "venv").exists()
