"""The worker's application. The row is the queue and a task only wakes: a lost message costs ten seconds."""

import logging
import os

from celery import Celery
from celery.signals import beat_init, task_rejected, task_unknown, worker_ready
from kombu.exceptions import OperationalError
from kombu.transport import TRANSPORT_ALIASES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")

AT_WORK = "is at work"
# One line for every wake-up call would bury what matters: what a task did is in the rows and in the desk's own lines.
logging.getLogger("celery").setLevel(logging.WARNING)

# Addresses of the broker name the library's own transport, which ends the worker at a message that it can't read.
for _scheme in ("redis", "rediss"):
    TRANSPORT_ALIASES[_scheme] = "project.broker:Transport"

app = Celery("countersign")
app.config_from_object("project.celery_settings")
app.autodiscover_tasks(["exchange_ops", "desk", "chaindata"])


@worker_ready.connect
@beat_init.connect
def _say_so(**_: object) -> None:
    """The line by which whoever started this process knows that it takes work now."""
    print(AT_WORK, flush=True)  # noqa: T201


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
            logging.getLogger(__name__).warning("beat: nothing could be woken at the start: %s", error)
            return
