"""How old something is, for the sentences of the checks of readiness."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from desk import clock
from desk.rooms import Health
from exchange_ops.shared import heartbeats

STREAM_SILENCE = timedelta(seconds=60)
DUE_AGE = timedelta(seconds=60)  # of what is due and waits for a worker
BEAT_AGE = timedelta(seconds=45)
MOST_NAMED = 5  # rows that one sentence names
NO_ACCOUNT = Health(
    ok=False, sentence="No exchange account is set up yet. An administrator can create one by adding an API key."
)


def age(moment: datetime | None, now: datetime) -> timedelta | None:
    """The time since the moment, never negative; None without a moment.

    What happened before the clock was set back is as old as the clock is behind it.
    """
    if moment is not None and clock.is_future(moment, now):
        return moment - now
    return None if moment is None else max(now - moment, timedelta(0))


def spoken(length: timedelta) -> str:
    """A length of time in seconds, minutes or hours, rounded down."""
    seconds = int(length.total_seconds())
    if seconds < 120:
        return f"{seconds} s"
    return f"{seconds // 60} min" if seconds < 7200 else f"{seconds // 3600} h"


def worst(answers: Sequence[Health]) -> Health:
    """One answer for several accounts: the first that is not ok, else one without an age, else the oldest."""
    if not answers:
        return NO_ACCOUNT
    unwell = [one for one in answers if not one.ok]
    answer = unwell[0] if unwell else max(answers, key=lambda one: (one.age_s is None, one.age_s or 0))
    return replace(answer, public=f"OK for {len(answers) - len(unwell)} of {len(answers)} accounts.")


def liveness(name: str, what: str, now: datetime) -> str:
    """A sentence on whether a stream is live: without it a worker reads the same a few seconds later."""
    row = heartbeats.state_of(name)
    heard = age(row.heard_at if row else None, now)
    if row is not None and row.connected and heard is not None and heard <= STREAM_SILENCE:
        return f"{what} are live."
    return f"{what} are not live; refreshing every few seconds instead."
