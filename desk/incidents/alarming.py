"""A machine with states that raise an alarm: the move opens or ends the incident in the same transaction."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction

from desk.incidents import review
from desk.machines.mover import Machine, R


@dataclass(frozen=True)
class Alarming(Machine[R]):
    """A machine with `alarms`: for each such state, the kind of incident that a row in it causes."""

    alarms: Mapping[str, str] = field(default_factory=dict)

    def move(self, row: R, *, event: str, to: str, now: datetime, **named: Any) -> R:
        """As `Machine.move`; before the commit, the incidents of the old and the new state are reviewed."""
        before = row.state
        with transaction.atomic():
            super().move(row, event=event, to=to, now=now, **named)
            if before != to:
                names = {self.alarms[state] for state in (before, to) if state in self.alarms}
                review.review_now(*names, now=now, key=row.subject)
        return row
