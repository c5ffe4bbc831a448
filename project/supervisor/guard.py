"""Ends what a killed supervisor leaves behind (standard library only): `python -m project.supervisor.guard`.

The kernel asks the children of a dead supervisor to end (`kinship`), but one that is stopped, that takes its time or
that has children of its own may live on, on its port and on the same rows. So a process of its own, which does nothing
else, hears from the supervisor which groups of processes are alive, and when the supervisor's end of the pipe closes,
however that came about, it lets them end for a moment and then ends what is left by force.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from typing import IO

from project.bootstrap import ROOT

_LET_END_S = 5.0
_ADDED, _REMOVED = b"+", b"-"


class Guard:
    """The supervisor's end: which groups of processes are to end with it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "project.supervisor.guard"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            # A Ctrl-C in the terminal is the supervisor's alone.
            start_new_session=True,
        )

    def add(self, group: int) -> None:
        """A group that has just begun; `group` is the number of its first process."""
        self._say(_ADDED, group)

    def remove(self, group: int) -> None:
        """A group that has ended whole; its number may soon be somebody else's."""
        self._say(_REMOVED, group)

    def close(self) -> None:
        """The supervisor has ended everything itself and leaves."""
        stdin = self._stdin()
        with contextlib.suppress(OSError):
            stdin.close()
        self._process.wait()

    def _say(self, what: bytes, group: int) -> None:
        stdin = self._stdin()
        # Without its guard the house still works; the kernel's own tie remains.
        with contextlib.suppress(OSError):
            stdin.write(b"%s%d\n" % (what, group))
            stdin.flush()

    def _stdin(self) -> IO[bytes]:
        if self._process.stdin is None:
            raise RuntimeError("A guard must be started with a pipe.")
        return self._process.stdin


def groups_left(lines: Iterable[bytes]) -> set[int]:
    """What was added and not removed when the lines end; half a line, as a kill may leave it, says nothing."""
    groups: set[int] = set()
    for line in lines:
        sign, number = line[:1], line[1:].rstrip(b"\n")
        if line.endswith(b"\n") and number.isdigit():
            (groups.add if sign == _ADDED else groups.discard)(int(number))
    return groups


def end_groups(groups: set[int], *, seconds: float) -> None:
    """Ask every group to end, wait for at most so long, then end by force what is left."""
    for group in groups:
        # One that was stopped hears it only when it goes on.
        _signal(group, signal.SIGTERM)
        _signal(group, signal.SIGCONT)
    deadline = time.monotonic() + seconds
    while any(_signal(group, 0) for group in groups) and time.monotonic() < deadline:
        time.sleep(0.05)
    for group in groups:
        _signal(group, signal.SIGKILL)


def _signal(group: int, number: int) -> bool:
    """Whether there was a process of the group to take it."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def main() -> int:
    """Listen until the supervisor is gone, then end what it left."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    end_groups(groups_left(sys.stdin.buffer), seconds=_LET_END_S)
    return 0


if __name__ == "__main__":
    sys.exit(main())
