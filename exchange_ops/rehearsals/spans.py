"""Lengths of time for people: how long somebody took."""

from datetime import timedelta


def spoken(length: timedelta) -> str:
    """Seconds, minutes or hours, rounded down: "42 s", "3 min 5 s", "2 h 10 min". Never negative."""
    seconds = max(int(length.total_seconds()), 0)
    if seconds < 60:
        return f"{seconds} s"
    minutes, seconds = divmod(seconds, 60)
    if minutes < 60:
        return f"{minutes} min {seconds} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"
