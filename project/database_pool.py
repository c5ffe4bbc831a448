"""How many connections to PostgreSQL a process may have, so that all of them together fit its default of a hundred.

A thread of a lane holds no connection while a call waits (`desk/machines/lanes.py`), so a child of a worker needs few,
however many of its calls hang. The follower keeps two for each account besides.
"""

from collections.abc import Sequence
from typing import Final

WORKER: Final = 8
OTHERS: Final = 32
SPARE: Final = 4  # of the web process, beside one for each of its threads


def most(argv: Sequence[str], *, web_threads: int) -> int:
    """The most connections of the process with this command line, or of each child where it is a worker."""
    if "project.celery:app" in argv:
        return WORKER
    return max(OTHERS, web_threads + SPARE)
