"""Parents and children whatever ends first: a child that never outlives its parent, orphans that come to this process.

Standard library only.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def tied_to_this_process(signal_number: int = signal.SIGTERM) -> Callable[[], None] | None:
    """What a child runs between fork and exec (`preexec_fn`): its death by `signal_number` when this process ends.

    The tie is to the thread that starts the child, so start children from a thread that lives as long as the process.
    None where the kernel knows no such tie; there a killed parent leaves its children to be ended by hand.
    """
    if _libc is None:
        return None
    parent = os.getpid()

    def tie() -> None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal_number)
        # The parent may have ended between fork and the call above; then nobody would ever send the signal.
        if os.getppid() != parent:
            os._exit(0)

    return tie


def adopt_orphans() -> None:
    """Have what this process's children leave behind become its own children, to be waited for and counted here.

    Nothing changes where the kernel knows no such thing.
    """
    if _libc is not None:
        _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)
