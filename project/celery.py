"""The worker's application. The row is the queue and a task only wakes: a lost message costs ten seconds."""

import logging
import os
from typing import Any

from celery import Celery, bootsteps
from celery.beat import Scheduler
from celery.fixups.django import DjangoFixup, DjangoWorkerFixup  # type: ignore[attr-defined]
from celery.signals import (
    beat_init,
    task_rejected,
    task_unknown,
    worker_init,
    worker_process_init,
    worker_process_shutdown,
    worker_ready,
)
from django.db import connections
from kombu.exceptions import OperationalError
from kombu.transport import TRANSPORT_ALIASES

from desk.processes import sign_of_life

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")

# One line for every wake-up call would bury what matters: what a task did is in the rows and in the desk's own lines.
logging.getLogger("celery").setLevel(logging.WARNING)

# Addresses of the broker name the library's own transport, which ends the worker at a message that it can't read.
for _scheme in ("redis", "rediss"):
    TRANSPORT_ALIASES[_scheme] = "project.broker:Transport"


class WorkerFixup(DjangoWorkerFixup):  # type: ignore[misc]
    """What the library does for Django in a worker, but for one thing: no task closes the pool of connections.

    The library closes it before and after every task. A child of a worker also works in the threads of its lanes, and
    one that waited for a connection then would fail with its job, even between a call that pays and its record.
    """

    def on_task_prerun(self, sender: Any, **_: object) -> None:
        """Give back the connection of this thread."""
        self._give_back(sender)

    def on_task_postrun(self, sender: Any, **_: object) -> None:
        """Give back the connection of this thread, and close the caches."""
        self._give_back(sender)
        self.close_cache()

    def _give_back(self, task: Any) -> None:
        if not getattr(task.request, "is_eager", False):
            connections.close_all()


class Fixup(DjangoFixup):
    """The library's, with the worker's part from above."""

    def on_worker_init(self, **arguments: Any) -> None:
        """The worker begins."""
        self.worker_fixup = WorkerFixup(self.app)  # type: ignore[misc]
        super().on_worker_init(**arguments)


app = Celery("countersign", fixups=[lambda app: Fixup(app).install()])  # type: ignore[list-item]
app.config_from_object("project.celery_settings")
app.autodiscover_tasks(["exchange_ops", "desk", "chaindata"])


@worker_init.connect
@beat_init.connect
def _require_database(**_: object) -> None:
    """Nobody works on the database of another desk."""
    from project.serve import require_database  # the apps are loaded by now

    require_database()


@worker_process_init.connect
def _use_lanes(**_: object) -> None:
    """Each child of a worker does what may hang in threads, so that no such call takes a place of its two."""
    from desk.machines.lanes import LANES

    LANES.use_threads()


@worker_process_shutdown.connect
def _finish_lanes(**_: object) -> None:
    """Hear the answers that are on their way; what stays unanswered is found again by its row."""
    from desk.machines.lanes import LANES

    LANES.finish(within_s=4.0)


@worker_ready.connect
@beat_init.connect
def _say_so(**_: object) -> None:
    """The line by which whoever started this process knows that it takes work now."""
    sign_of_life.first()


class SignsOfLife(bootsteps.StartStopStep):
    """A sign from the loop in which a worker hears of its tasks; a loop that hangs gives none."""

    requires = ("celery.worker.components:Timer",)

    def start(self, worker: Any) -> None:
        """Begin to give signs."""
        self._repeated = worker.timer.call_repeatedly(sign_of_life.EVERY_SECONDS, sign_of_life.again)

    def stop(self, worker: Any) -> None:
        """The worker ends."""
        self._repeated.cancel()


app.steps["worker"].add(SignsOfLife)


class BeatScheduler(Scheduler):
    """The schedule in memory, with a sign at each round; the shortest entry keeps the rounds seconds apart."""

    def tick(self, *args: Any, **kwargs: Any) -> Any:
        """Wake what is due."""
        sign_of_life.again()
        return super().tick(*args, **kwargs)


@task_unknown.connect
def _count_unknown(**_: object) -> None:
    """A task that nobody here knows; the library logs and drops it."""
    _count("unknown_task")


@task_rejected.connect
def _count_rejected(exc: object = None, **_: object) -> None:
    """A message that is none of a task's; the library logs and drops it."""
    _count("rejected", type(exc).__name__)


def _count(kind: str, reason: str = "") -> None:
    # Needs the settings, which this module only names.
    from desk import dropped

    dropped.note(kind, reason)


@beat_init.connect
def _wake_at_once(**_: object) -> None:
    """Everything on the schedule is due when the house starts: a new desk knows no prices yet."""
    for entry in app.conf.beat_schedule.values():
        try:
            app.send_task(entry["task"], retry=False, **entry["options"])
        except OperationalError as error:
            # A dead broker costs one interval: the schedule says the same again.
            logging.getLogger(__name__).warning("beat: wake-up calls failed at the start: %s", error)
            return
