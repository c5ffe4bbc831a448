"""For how long this process has been running."""

import time

_began = time.monotonic()


def seconds() -> float:
    """Seconds since this process began; one that was forked with its modules loaded began when it was forked."""
    return time.monotonic() - _began


def restart() -> None:
    """This process begins now."""
    global _began  # noqa: PLW0603
    _began = time.monotonic()
