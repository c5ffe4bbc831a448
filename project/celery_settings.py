"""How the worker behaves. Each value keeps one promise of the money rules: a message may get lost, never run twice."""

import django
from django.apps import apps
from django.conf import settings

if not apps.ready:  # the command of a worker reads this before it has set up anything
    django.setup()

from desk import rooms, work

broker_url = settings.REDIS_URL.replace("unix://", "redis+socket://", 1)
broker_connection_retry_on_startup = True
# Nobody commands the workers from afar, so nothing that reaches the broker may stop them or make them listen elsewhere.
worker_enable_remote_control = False
broker_transport_options = {"socket_timeout": 5, "socket_connect_timeout": 2}
task_serializer = "json"
accept_content = ["json"]
task_ignore_result = True
# Acknowledged before it runs: a task that died is found again by the sweep, from its row, and never by redelivery.
task_acks_late = False
task_default_queue = "money"
# Reads of the chain have a queue and workers of their own: however slow they are, no payout waits for them.
# Releases have theirs as well, and nothing else goes there: no order to pay that hangs keeps one of them waiting.
task_routes = work.routes(*rooms.work())
task_time_limit = 40
worker_prefetch_multiplier = 1
# Shorter than the time that `up` gives its children, and enough to hear an answer that is on its way.
worker_soft_shutdown_timeout = 5
worker_hijack_root_logger = False
timezone = "UTC"
beat_schedule = work.beat_schedule(*rooms.work())
