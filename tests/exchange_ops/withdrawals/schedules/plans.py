"""Schedules for tests: set up yesterday, due for the first time an hour ago."""

from datetime import timedelta
from typing import Any

from desk import clock
from exchange_ops.withdrawals.schedules import book
from exchange_ops.withdrawals.schedules.models import PayoutSchedule
from exchange_ops.withdrawals.schedules.rhythm import DAYS, Rhythm
from exchange_ops.withdrawals.templates import book as templates
from exchange_ops.withdrawals.templates.models import PayoutTemplate
from tests.exchange_ops import rows

KEY = "6b0b8f2e-4a53-4d3c-9f0e-0f5f0c8a4d11"


def template(person: Any, name: str = "Rent") -> PayoutTemplate:
    """A template of a payout that ended long ago."""
    row = rows.ended(person, now=clock.now() - timedelta(days=40))
    return templates.save(row, name=name, person=person, now=clock.now())


def due(person: Any, *, first: timedelta = timedelta(hours=-1), step: int = 7, planned: int = 3) -> PayoutSchedule:
    """A schedule whose first occurrence is `first` from now, then every `step` days."""
    at = clock.now() + first
    one = Rhythm(DAYS, step, at.date(), at.time().replace(second=0, microsecond=0), planned)
    words: dict[str, Any] = {"person": person, "request_key": KEY, "now": at - timedelta(days=1)}
    return book.set_up(template(person), rhythm=one, **words)
