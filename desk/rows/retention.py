"""Rows that are kept for a while only: each room declares its own (`desk.rooms.Room.retention`).

Nothing about money is among them. They are removed in small batches, each in a transaction of its own, so that nobody
waits for a large one, and a run that is broken off goes on with the next.
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
    """Which rows of a model are kept for how long after the moment in `column`; `among` narrows them down.

    The last two are asked at each run, since settings say how long.
    """

    model: type[Model]
    column: str
    lasts: Callable[[], timedelta]
    among: Callable[[], Q] = Q

    def remove(self, *, now: datetime, size: int = BATCH) -> int:
        """Remove about `size` rows that are too old, the oldest first; all that share the last one's moment go too."""
        too_old = {f"{self.column}__lt": now - self.lasts()}
        rows = self.model._default_manager.filter(self.among(), **too_old)
        oldest: list[Any] = list(rows.order_by(self.column).values_list(self.column, flat=True)[:size])
        return rows.filter(**{f"{self.column}__lte": oldest[-1]}).delete()[0] if oldest else 0


def purge(*, now: datetime, batch: int = BATCH, most_batches: int = MOST_BATCHES) -> int:
    """Remove what is older than the rooms keep, oldest first, up to a bound; how many rows went."""
    removed = 0
    for each in rooms.retention():
        while most_batches > 0 and (count := each.remove(now=now, size=batch)):
            removed, most_batches = removed + count, most_batches - 1
    return removed
