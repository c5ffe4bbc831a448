"""How long to wait before the next try, by the number of earlier tries."""

from datetime import timedelta

READ_PAUSES_S = (2, 4, 8, 15)
LONGEST_AFTER_SILENCE = timedelta(seconds=60)
QUEUE_PAUSES_S = (2, 5, 15, 30, 60)


def pause(pauses_s: tuple[int, ...], tries: int) -> timedelta:
    """The pause after so many tries (from 1); the last figure repeats."""
    return timedelta(seconds=pauses_s[min(max(tries, 1), len(pauses_s)) - 1])


def pause_after(pauses_s: tuple[int, ...], tries: int, *, took: timedelta) -> timedelta:
    """The pause after a call that took this long: a slow call waits longer, at most a minute, to give others a turn."""
    return max(pause(pauses_s, tries), min(took * min(max(tries, 1) + 1, 4), LONGEST_AFTER_SILENCE))
