"""A machine some of whose states are alarms: the incident is opened and ended in the transaction of the move."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction

from desk.incidents import review
from desk.machines.mover import Machine, R


@dataclass(frozen=True)
class Alarming(Machine[R]):
    """A machine with `alarms`: the kind of incident that a row in this state is the cause of."""

    alarms: Mapping[str, str] = field(default_factory=dict)

    def move(self, row: R, *, event: str, to: str, now: datetime, **named: Any) -> R:
        """As `Machine.move`; the kinds of the state before and after are looked at before it is committed."""
        before = row.state
        with transaction.atomic():
            super().move(row, event=event, to=to, now=now, **named)
            if before != to:
                names = {self.alarms[state] for state in (before, to) if state in self.alarms}
                review.review_now(*names, now=now, key=row.subject)
        return row
