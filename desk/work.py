"""What workers are woken for. The row is the queue and a task only a hint: each makes one domain call and nothing else.

A room declares its tasks in a module of its own, which `desk.rooms.Room.tasks` names:

    WORK = Work(queue="money")

    @WORK.task("exchange_ops.sweep", every_s=10)
    def sweep() -> None: ...

No task is ever repeated by the broker, none waits for a moment, and arguments are row ids. From the declarations come
the tasks of the workers, what beat wakes and the queues that messages go to.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, ParamSpec

from celery import shared_task

P = ParamSpec("P")
# Reads have a queue and workers of their own: however slow they are, no payout waits for them.
CHAIN: Final = "chain"


@dataclass(frozen=True, slots=True)
class Task:
    """A task as others have to know it: its name on the wire, how often beat wakes it, and the queue it goes to."""

    name: str
    queue: str
    every_s: int | None = None
    expires_s: int | None = None


class Work:
    """The tasks of one room, and the queue that they go to unless one says otherwise."""

    def __init__(self, *, queue: str) -> None:
        self.tasks: list[Task] = []
        self._queue = queue

    def task(
        self,
        name: str,
        *,
        every_s: int | None = None,
        expires_s: int | None = None,
        queue: str = "",
        time_limit_s: int | None = None,
    ) -> Callable[[Callable[P, None]], Callable[P, None]]:
        """Declare a function as a task: it is woken by name, never repeated by the broker, and nobody reads a result.

        With `every_s` beat wakes it so often. Such a call expires a second before the next is due, or after
        `expires_s`, so that a worker that was away meets no flood. `time_limit_s` stands for the one of all tasks.
        """
        if any(task.name == name for task in self.tasks):
            raise ValueError(f"Task {name} already exists.")
        expires_s = expires_s or (every_s - 1 if every_s else None)
        self.tasks.append(Task(name=name, queue=queue or self._queue, every_s=every_s, expires_s=expires_s))
        limit: dict[str, Any] = {"time_limit": time_limit_s} if time_limit_s else {}

        def declare(function: Callable[P, None]) -> Callable[P, None]:
            make: Any = shared_task(name=name, max_retries=0, ignore_result=True, **limit)
            task: Callable[P, None] = make(function)
            return task

        return declare


def beat_schedule(*rooms: Work) -> dict[str, dict[str, Any]]:
    """What beat wakes, by the name of the task, in the order of the declarations."""
    return {
        task.name: {"task": task.name, "schedule": task.every_s, "options": {"expires": task.expires_s}}
        for room in rooms
        for task in room.tasks
        if task.every_s is not None
    }


def routes(*rooms: Work) -> dict[str, dict[str, str]]:
    """The queue of each task, by its name."""
    return {task.name: {"queue": task.queue} for room in rooms for task in room.tasks}
