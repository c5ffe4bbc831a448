"""Lanes: work that may hang waits only for its own kind, in threads of the process that does it.

A lane is an account and a kind of call, or one duty such as the deliveries. Each has a queue and at most `WIDTH`
threads of its own, so calls that hang take the threads of their lane and no other lane's. Nothing is kept here: the
rows are the queue, and what a process that ends leaves undone is found again by its row.

A process that works opens the lanes when it starts (`use_threads`). In every other one, and inside a transaction, whose
rows another thread could not see, the work is done at once by the caller.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Final

import structlog
from django.db import connection

WIDTH: Final = 8  # threads of one lane: a new hold is not behind six that hang
WAIT_S: Final = 3.0  # a sweep waits so long for what it began, then leaves it to its threads
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Job:
    """Work in a lane. Of two jobs of a lane with one `key` that both wait, one is done.

    `run` gives the number of its steps.
    """

    lane: Hashable
    key: Hashable
    run: Callable[[], int]


@dataclass(slots=True)
class _Lane:
    waiting: deque[tuple[Job, "_Tally"]] = field(default_factory=deque)
    keys: set[Hashable] = field(default_factory=set)
    running: set[Hashable] = field(default_factory=set)
    threads: int = 0


class _Tally:
    """How many of the jobs that were put together are done, and their steps."""

    def __init__(self, open_jobs: int) -> None:
        self.open_jobs, self.steps = open_jobs, 0


class Lanes:
    """The lanes of one process."""

    def __init__(self, *, width: int = WIDTH, is_threaded: bool = False) -> None:
        self.is_threaded = is_threaded
        self._width = width
        self._changed = threading.Condition()
        self._lanes: dict[Hashable, _Lane] = {}

    def use_threads(self) -> None:
        """From now on jobs are done in threads; called once by a process that works, after it was forked."""
        self.is_threaded = True

    def put(self, jobs: Iterable[Job], *, wait_s: float = 0.0) -> int:
        """Put jobs in their lanes and wait for them up to `wait_s`; the number of steps done until then.

        A job whose key waits in its lane already is left out. Jobs of one key never run at the same time.
        """
        ordered = list(jobs)
        if not self.is_threaded or connection.in_atomic_block:
            return sum(job.run() for job in ordered)
        tally, ends = _Tally(0), time.monotonic() + wait_s
        with self._changed:
            for job in ordered:
                lane = self._lanes.setdefault(job.lane, _Lane())
                if job.key in lane.keys:
                    continue
                lane.keys.add(job.key)
                lane.waiting.append((job, tally))
                tally.open_jobs += 1
                if lane.threads < self._width:
                    lane.threads += 1
                    threading.Thread(target=self._drain, args=(job.lane, lane), daemon=True).start()
            while tally.open_jobs and (remaining_s := ends - time.monotonic()) > 0:
                self._changed.wait(remaining_s)
            return tally.steps

    def finish(self, *, within_s: float) -> bool:
        """Begin nothing more and wait for what runs; whether all of it ended in time."""
        ends = time.monotonic() + within_s
        with self._changed:
            for lane in self._lanes.values():
                lane.waiting.clear()
                lane.keys.clear()
            while any(lane.threads for lane in self._lanes.values()):
                if (remaining_s := ends - time.monotonic()) <= 0:
                    return False
                self._changed.wait(remaining_s)
            return True

    def _drain(self, name: Hashable, lane: _Lane) -> None:
        try:
            while (taken := self._next(name, lane)) is not None:
                job, tally = taken
                steps = 0
                try:
                    steps = job.run()
                except Exception:
                    _log.exception("lanes.job_failed", lane=str(name), job=str(job.key))
                finally:
                    with self._changed:
                        lane.running.discard(job.key)
                        tally.open_jobs, tally.steps = tally.open_jobs - 1, tally.steps + steps
                        self._changed.notify_all()
        finally:
            connection.close()

    def _next(self, name: Hashable, lane: _Lane) -> tuple[Job, _Tally] | None:
        """The next job whose key does not run; without one the thread ends, and is no longer counted."""
        with self._changed:
            for place, (job, tally) in enumerate(lane.waiting):
                if job.key not in lane.running:
                    del lane.waiting[place]
                    lane.keys.discard(job.key)
                    lane.running.add(job.key)
                    return job, tally
            lane.threads -= 1
            if not lane.threads and not lane.waiting:
                self._lanes.pop(name, None)
            self._changed.notify_all()
            return None


LANES: Final = Lanes()
