"""Whether the audit trail bears out the rows, asked at the end of tests whose subject it is not."""

import os
import zlib

from tests import selection

_replayed: set[str] = set()


def problems() -> list[str]:
    """What the check of the trail finds: nothing, where all is well.

    In a usual run the whole replay, which reads every witnessed row again, is made in the first test of a file and in
    those whose turn it is; the chain of events and the guards are looked at every time. In thorough all is.
    """
    from desk import audit_check

    return audit_check.verify(replay=_replays(os.environ.get("PYTEST_CURRENT_TEST", "").partition(" ")[0]))


def _replays(test: str) -> bool:
    path = test.partition("::")[0]
    is_first = path not in _replayed
    _replayed.add(path)
    if is_first or not selection.is_usual_depth():
        return True
    return zlib.crc32(test.encode()) % selection.TURNS == selection.turn()
