"""Lanes: work that may hang waits only for its own kind, in threads of the process that does it.

A lane is an account and a kind of call, or one duty such as the deliveries. Each has a queue and at most `WIDTH`
threads of its own, so calls that hang take the threads of their lane and no other lane's. Nothing is kept here: the
rows are the queue, and what a process that ends leaves undone is found again by its row.

A process that works opens the lanes when it starts (`use_threads`). In every other one, and inside a transaction, whose
rows another thread could not see, the work is done at once by the caller.

What bounds a job: each call has one total time (`wire.deadline`), each row at most `MOST_STEPS` steps, each sweep, walk
and round its own time. No limit of a task ends a thread, so a job beyond its `longest_s` is a fault: it is logged, and
the desk's health names it while it runs.

A thread gives its connection to the database back before a call waits. So what hangs holds none, and the number of
connections is that of the threads that work on rows, at most that of the process's pool (`project/database_pool.py`).
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Final

import structlog
from django.db import connection

from wire.transport import before_waiting

WIDTH: Final = 8  # threads of one lane: a new hold is not behind six that hang
LONGEST_S: Final = 240.0  # of one job that names no other time: eight steps of a row, each with a call or two of 25 s
WAIT_S: Final = 3.0  # a sweep waits so long for what it began, then leaves it to its threads
_here = threading.local()
_log = structlog.get_logger(__name__)


def _give_connection_back() -> None:
    """Return this thread's connection to the pool; only a lane's thread does so, and only outside a transaction."""
    if getattr(_here, "is_lane", False) and not connection.in_atomic_block:
        connection.close()


@dataclass(frozen=True, slots=True)
class Job:
    """Work in a lane. Of two jobs of a lane with one `key` that both wait, one is done.

    `run` gives the number of its steps. Beyond `longest_s` seconds it is reported.
    """

    lane: Hashable
    key: Hashable
    run: Callable[[], int]
    longest_s: float = LONGEST_S


@dataclass(slots=True)
class _Lane:
    waiting: deque[tuple[Job, "_Tally"]] = field(default_factory=deque)
    keys: set[Hashable] = field(default_factory=set)
    running: dict[Hashable, float] = field(default_factory=dict)  # when it is overdue, by the clock that only rises
    overdue: set[Hashable] = field(default_factory=set)
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
        before_waiting(_give_connection_back)

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

    def overdue(self) -> list[str]:
        """The jobs that run for longer than any may, as "lane: key"; each is logged once."""
        moment, names = time.monotonic(), []
        with self._changed:
            for name, lane in self._lanes.items():
                for key in [key for key, ends in lane.running.items() if ends < moment]:
                    names.append(f"{name}: {key}")
                    if key not in lane.overdue:
                        lane.overdue.add(key)
                        _log.error("lanes.job_overdue", lane=str(name), job=str(key))
        return names

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
        _here.is_lane, is_over = True, False
        try:
            while (taken := self._next(name, lane)) is not None:
                self._do(name, lane, *taken)
            is_over = True
        finally:
            connection.close()
            if not is_over:  # the interpreter ends this thread
                with self._changed:
                    lane.threads -= 1
                    self._changed.notify_all()

    def _do(self, name: Hashable, lane: _Lane, job: Job, tally: _Tally) -> None:
        steps = 0
        try:
            steps = job.run()
        except Exception:
            _log.exception("lanes.job_failed", lane=str(name), job=str(job.key))
        finally:
            with self._changed:
                lane.running.pop(job.key, None)
                lane.overdue.discard(job.key)
                tally.open_jobs, tally.steps = tally.open_jobs - 1, tally.steps + steps
                self._changed.notify_all()

    def _next(self, name: Hashable, lane: _Lane) -> tuple[Job, _Tally] | None:
        """The next job whose key does not run; without one the thread ends, and is no longer counted."""
        with self._changed:
            for place, (job, tally) in enumerate(lane.waiting):
                if job.key not in lane.running:
                    del lane.waiting[place]
                    lane.keys.discard(job.key)
                    lane.running[job.key] = time.monotonic() + job.longest_s
                    return job, tally
            lane.threads -= 1
            if not lane.threads and not lane.waiting:
                self._lanes.pop(name, None)
            self._changed.notify_all()
            return None


LANES: Final = Lanes()
