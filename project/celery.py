"""The worker's application. The row is the queue and a task only wakes: a lost message costs ten seconds."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")

app = Celery("countersign")
app.config_from_object("project.celery_settings")
app.autodiscover_tasks(["exchange_ops", "desk", "chaindata"])
