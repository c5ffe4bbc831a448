"""How fast this machine is right now: a piece of work of fixed size, of the kind that tests are made of.

What a stage costs is said in units of this work, so that a budget holds on a slow machine and on a quick one; and how
long a unit takes by the wall says by how much bounds in time have to be stretched where others use the processor too.
"""

import json
import sqlite3
import time
from dataclasses import dataclass
from decimal import Decimal
from statistics import median

# What one unit takes by the wall where nothing else runs, on the machine whose shares stand in tests/budget.toml.
AT_REST_SECONDS = 0.25
MOST_STRETCH = 12.0
_ROUNDS = 6_000


@dataclass(frozen=True, slots=True)
class Unit:
    """Seconds that one unit of work takes: of a processor, and by the wall."""

    processor: float
    wall: float

    @property
    def stretch(self) -> float:
        """By how much a bound in time is stretched: 1 at rest, and twice what the wall says where it is slower.

        Twice, because the processes of one stage share with each other what others leave; and never so far that what
        hangs is not seen any more, or a test that waits in vain takes minutes.
        """
        slower = self.wall / AT_REST_SECONDS
        return 1.0 if slower < 1.5 else min(2 * slower, MOST_STRETCH)


def measure(times: int = 1) -> Unit:
    """Do the work so many times; the median of what it took."""
    units = [_timed() for _ in range(times)]
    return Unit(median(unit.processor for unit in units), median(unit.wall for unit in units))


def _timed() -> Unit:
    wall, processor = time.perf_counter(), time.process_time()
    _work()
    return Unit(time.process_time() - processor, time.perf_counter() - wall)


def _work() -> None:
    rows = sqlite3.connect(":memory:")
    rows.execute("CREATE TABLE line (id INTEGER PRIMARY KEY, text TEXT)")
    for number in range(_ROUNDS):
        record = {f"field-{place}": str(Decimal(number) / (place + 1)) for place in range(40)}
        text = json.dumps(record, sort_keys=True)
        rows.execute("INSERT INTO line (text) VALUES (?)", (text,))
        rows.execute("SELECT text FROM line WHERE id = ?", (number,)).fetchall()
        json.loads(text)
    rows.close()
