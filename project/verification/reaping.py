"""Runs a command until everything that it started has ended: `python -m project.verification.reaping command ...`.

A process whose parent ended before it would be counted nowhere; here it comes to this process, so that a stage's costs
are those of all that it started. What outlives the command is ended and named; at once, where the command was asked to
end. It starts for each stage, so it imports little.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from project.supervisor import parent_death

#: How long processes of a stage of `manage.py verify` may take to stop after the stage.
#: [form: number; unit: seconds]
_GRACE_SECONDS = float(os.environ.get("REAPING_GRACE", "10"))
_LOOK_SECONDS = 0.05


def main(command: Sequence[str]) -> int:
    """The command's exit code; 128 and the signal's number where a signal ended it."""
    parent_death.adopt_orphans()
    child = subprocess.Popen(command, preexec_fn=parent_death.tied_to_this_process(signal.SIGTERM))
    is_asked_to_end = False

    def ask_to_end(*_: object) -> None:
        nonlocal is_asked_to_end
        is_asked_to_end = True
        child.terminate()

    signal.signal(signal.SIGTERM, ask_to_end)
    # From the keyboard it goes to the whole group, and the command decides what becomes of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    code = _wait_for(child.pid)
    _end_others(0 if is_asked_to_end else _GRACE_SECONDS)
    return code if code >= 0 else 128 - code


def _wait_for(pid: int) -> int:
    """The exit code of this child; others that end meanwhile are waited for as well."""
    while True:
        ended, status = os.wait()
        if ended == pid:
            return os.waitstatus_to_exitcode(status)


def _end_others(grace: float) -> None:
    """Wait so many seconds for what has been left behind, then end it."""
    deadline = time.monotonic() + grace
    while _is_any_left() and time.monotonic() < deadline:
        time.sleep(_LOOK_SECONDS)
    while _is_any_left():
        for pid in _children():
            print(f"{_command(pid)} outlived the stage and was stopped.", flush=True)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_LOOK_SECONDS)


def _is_any_left() -> bool:
    """Whether there is a child; those that have ended are waited for."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _children() -> list[int]:
    tasks = Path("/proc/self/task").glob("*/children")
    return [int(pid) for task in tasks for pid in task.read_text().split()]


def _command(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        words = []
    return " ".join(words).strip() or f"Process {pid}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
