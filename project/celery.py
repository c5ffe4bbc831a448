"""The worker's application. The row is the queue and a task only wakes: a lost message costs ten seconds."""

import logging
import os

from celery import Celery
from celery.signals import beat_init, worker_ready

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")

AT_WORK = "is at work"
# One line for every wake-up call would bury what matters: what a task did is in the rows and in the desk's own lines.
logging.getLogger("celery").setLevel(logging.WARNING)

app = Celery("countersign")
app.config_from_object("project.celery_settings")
app.autodiscover_tasks(["exchange_ops", "desk", "chaindata"])


@worker_ready.connect
@beat_init.connect
def _say_so(**_: object) -> None:
    """The line by which whoever started this process knows that it takes work now."""
    print(AT_WORK, flush=True)  # noqa: T201
