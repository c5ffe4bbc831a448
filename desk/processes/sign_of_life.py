"""The signs by which it is seen that a process without a port is at work and not hung.

A process prints a line once when it takes work. The loop that does the work repeats the sign every few seconds, in the
way of whoever started the process: a line for the supervisor of `up`, the time of a file for a container's health
check, a datagram for systemd.
"""

import os
import socket
from pathlib import Path

AT_WORK = "is at work"
VARIABLE = "SIGNS_OF_LIFE"
EVERY_SECONDS = 5


def first() -> None:
    """Print that this process takes work from now on, and give the first sign."""
    _print()
    _tell_systemd("READY=1")
    _touch()


def again() -> None:
    """Give a sign after a round of work, where somebody looks for it."""
    #: A file that a process without a port touches every few seconds while it runs, or `1` for a line on standard
    #: output. Its container, or `manage.py up`, uses it to detect a hang. [default: not set]
    if os.environ.get(VARIABLE) and not _touch():
        _print()
    _tell_systemd("WATCHDOG=1")


def _print() -> None:
    print(AT_WORK, flush=True)  # noqa: T201


def _touch() -> bool:
    """Set the time of the file that the variable names; False where it names none."""
    path = os.environ.get(VARIABLE, "")
    if not path.startswith("/"):
        return False
    Path(path).touch()
    return True


def _tell_systemd(state: str) -> None:
    """One datagram to systemd, where it started this process (sd_notify(3)); a lost one is made up for by the next."""
    #: Set by systemd for a process that it watches. [form: path of a socket; default: not set]
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
        try:
            sender.sendto(state.encode(), address.replace("@", "\0", 1) if address.startswith("@") else address)
        except OSError:
            return
