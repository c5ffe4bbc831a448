"""Removes rows that are kept only for a while, as the rooms declare (`desk.rooms.Room.retention`).

None of them is about money. They are removed in small batches, each in its own transaction, so that nobody waits long,
and after an interruption the next run continues.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Model, Q

from desk import rooms

BATCH = 1_000
MOST_BATCHES = 40  # of one run, over everything


@dataclass(frozen=True, slots=True)
class Retention:
    """How long (`lasts`) rows of a model are kept after the time in `column`; `among` limits it to some of them.

    Both are called at each run, since settings say how long.
    """

    model: type[Model]
    column: str
    lasts: Callable[[], timedelta]
    among: Callable[[], Q] = Q

    def remove(self, *, now: datetime, size: int = BATCH) -> int:
        """Remove about `size` expired rows, the oldest first, with all rows of the same time as the last one."""
        too_old = {f"{self.column}__lt": now - self.lasts()}
        rows = self.model._default_manager.filter(self.among(), **too_old)
        oldest: list[Any] = list(rows.order_by(self.column).values_list(self.column, flat=True)[:size])
        return rows.filter(**{f"{self.column}__lte": oldest[-1]}).delete()[0] if oldest else 0


def purge(*, now: datetime, batch: int = BATCH, most_batches: int = MOST_BATCHES) -> int:
    """Remove expired rows of all rooms, the oldest first, up to a limit; the number of rows."""
    removed = 0
    for each in rooms.retention():
        while most_batches > 0 and (count := each.remove(now=now, size=batch)):
            removed, most_batches = removed + count, most_batches - 1
    return removed
