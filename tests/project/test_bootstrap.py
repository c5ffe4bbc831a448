"""From a bare tree to an environment: made once, made again when it was cut off, and never for other commands."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest

from project import bootstrap
from tests.architecture import tree

UP = """
import sys

def main(arguments):
    print("inside", sys.prefix, arguments, flush=True)
    return 0
"""
ABSENT = "countersign-no-such-package==1.0 --hash=sha256:" + "0" * 64 + "\n"
OLD = {"PATH", "HOME", "LANG", "TMPDIR", "UV_CACHE_DIR", "XDG_CACHE_HOME"}


@pytest.fixture
def clone(tmp_path):
    """A tree with the door and the bootstrap, an empty lock, and an `up` that only says where it runs."""
    root = tmp_path / "clone"
    (root / "project" / "supervisor").mkdir(parents=True)
    for name in ("manage.py", "project/__init__.py", "project/bootstrap.py", "project/supervisor/__init__.py"):
        shutil.copy(tree.ROOT / name, root / name)
    (root / "project" / "supervisor" / "up.py").write_text(UP)
    (root / "requirements.txt").write_text("# nothing is needed\n")
    return root


def start(clone, *arguments, python=(), **changes):
    environment = {name: value for name, value in os.environ.items() if name in OLD} | changes
    command = [sys._base_executable, *python, "manage.py", *arguments]
    return subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True, timeout=110)


def test_the_first_start_makes_the_environment_and_the_second_only_enters_it(clone):
    first = start(clone, "up", "one")
    assert first.returncode == 0, first.stdout + first.stderr
    assert "Making .venv" in first.stdout
    assert first.stdout.splitlines()[-1] == f"inside {clone}/.venv ['one']"
    second = start(clone, "up")
    assert second.stdout == f"inside {clone}/.venv []\n"
    assert second.stderr == ""


def test_plain_pip_does_where_there_is_no_uv(clone):
    path = os.pathsep.join(place for place in os.environ["PATH"].split(os.pathsep) if not has_uv(place))
    first = start(clone, "up", PATH=path)
    assert first.returncode == 0, first.stdout + first.stderr
    assert (clone / ".venv" / "bin" / "pip").exists()


def has_uv(place):
    return os.access(f"{place}/uv", os.X_OK)


def test_a_changed_lock_is_installed_into_the_same_environment(clone):
    start(clone, "up")
    kept = clone / ".venv" / "kept"
    kept.touch()
    (clone / "requirements.txt").write_text("# still nothing\n")
    changed = start(clone, "up")
    assert "Installing requirements.txt." in changed.stdout
    assert kept.exists()


def test_an_interrupted_set_up_is_made_again(clone):
    start(clone, "up")
    left = clone / ".venv" / "left over"
    left.touch()
    (clone / ".venv" / "unfinished").touch()
    again = start(clone, "up")
    assert "making .venv again" in again.stdout
    assert not left.exists()
    assert not (clone / ".venv" / "unfinished").exists()
    assert "Making" not in start(clone, "up").stdout


def test_an_environment_whose_python_is_gone_is_made_again(clone):
    start(clone, "up")
    (clone / ".venv" / "bin" / "python").unlink()
    again = start(clone, "up")
    assert again.returncode == 0, again.stdout + again.stderr
    assert "its Python is gone" in again.stdout


def test_a_lock_that_can_not_be_installed_stops_and_is_tried_again(clone):
    (clone / "requirements.txt").write_text(ABSENT)
    failed = start(clone, "up", PIP_NO_INDEX="1", UV_OFFLINE="1")
    assert failed.returncode != 0
    assert "inside" not in failed.stdout
    assert failed.stderr.splitlines()[-1].startswith("requirements.txt could not be installed")
    (clone / "requirements.txt").write_text("# nothing after all\n")
    assert start(clone, "up").returncode == 0


@pytest.mark.parametrize(("command", "lock"), [("verify", "tests"), ("bench", "bench")])
def test_what_only_tests_and_measurements_need_can_not_spoil_the_desks_environment(clone, command, lock):
    assert start(clone, "up").returncode == 0
    kept = clone / ".venv" / "kept"
    kept.touch()
    for name in ("tests", "bench"):
        (clone / name).mkdir()
        (clone / name / "requirements.txt").write_text("# nothing is needed\n")
    (clone / lock / "requirements.txt").write_text(ABSENT)
    failed = start(clone, command, PIP_NO_INDEX="1", UV_OFFLINE="1")
    assert failed.returncode == 1
    assert f"{lock}/requirements.txt could not be installed" in failed.stderr
    again = start(clone, "up")
    assert again.stdout == f"inside {clone}/.venv []\n"
    assert kept.exists()


def test_the_measurements_have_an_environment_of_their_own(clone):
    (clone / "project" / "verification").mkdir()
    (clone / "project" / "verification" / "__init__.py").touch()
    (clone / "project" / "verification" / "bench.py").write_text(UP)
    for name in ("tests", "bench"):
        (clone / name).mkdir()
        (clone / name / "requirements.txt").write_text("# nothing is needed\n")
    measured = start(clone, "bench")
    assert measured.stdout.splitlines()[-1] == f"inside {clone}/.venv-bench []"
    assert not (clone / ".venv").exists()


def test_a_signal_during_set_up_leaves_no_half_environment_in_use(clone):
    slow = clone / "bin"
    slow.mkdir()
    (slow / "uv").write_text(f"#!/bin/sh\n: > {slow}/started\nexec sleep 60\n")
    (slow / "uv").chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if name in OLD}
    environment["PATH"] = f"{slow}{os.pathsep}{environment['PATH']}"
    running = subprocess.Popen(
        [sys._base_executable, "manage.py", "up"],
        cwd=clone,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 60
    while not (slow / "started").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    running.send_signal(signal.SIGTERM)
    _, complaint = running.communicate(timeout=10)
    assert running.returncode == 1
    assert complaint.decode().strip() == "Stopped while preparing the environment."
    assert (clone / ".venv" / "unfinished").exists()
    assert "making .venv again" in start(clone, "up").stdout


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


def test_two_starts_at_once_make_one_environment(clone):
    environment = {name: value for name, value in os.environ.items() if name in OLD}
    both = [
        subprocess.Popen(
            [sys._base_executable, "manage.py", "up"], cwd=clone, env=environment, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    printed = [running.communicate(timeout=110)[0] for running in both]
    assert [running.returncode for running in both] == [0, 0]
    assert sum("Making .venv" in text for text in printed) == 1
    assert all("inside" in text for text in printed)


def test_other_commands_make_nothing_and_say_what_is_missing(clone):
    refused = start(clone, "check", python=("-S",))
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
