"""How long a process waited for a processor, as the kernel counts it: whoever got none is slow and does not hang."""

import os
from collections.abc import Mapping
from pathlib import Path

_PROC = Path("/proc")


def waits(pid: int) -> Mapping[int, float]:
    """Seconds that each thread of the process, and of the processes below it, has stood in the queue for a processor.

    One that sleeps, is stopped or waits for a lock doesn't stand there. Empty where the kernel doesn't count it, and
    for a process that is gone.
    """
    seconds: dict[int, float] = {}
    try:
        for thread in os.listdir(_PROC / str(pid) / "task"):
            folder = _PROC / str(pid) / "task" / thread
            # Nanoseconds on a processor, nanoseconds in the queue, turns.
            seconds[int(thread)] = int((folder / "schedstat").read_text().split()[1]) / 1e9
            for child in (folder / "children").read_text().split():
                seconds.update(waits(int(child)))
    except (OSError, ValueError, IndexError):
        return seconds
    return seconds


def longest(before: Mapping[int, float], now: Mapping[int, float]) -> float:
    """Seconds that the thread which waited longest between two readings stood in the queue."""
    return max((total - before.get(thread, 0.0) for thread, total in now.items()), default=0.0)
