"""How the worker behaves. Each value keeps one promise of the money rules: a message may get lost, never run twice."""

from django.conf import settings

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
task_routes = {
    "chaindata.*": {"queue": "chain"},
    "exchange_ops.prove_payouts": {"queue": "chain"},
    "exchange_ops.run_checks": {"queue": "chain"},
    "exchange_ops.release": {"queue": "release"},
    "exchange_ops.sweep_releases": {"queue": "release"},
}
task_time_limit = 40
worker_prefetch_multiplier = 1
# Shorter than the time that `up` gives its children, and enough to hear an answer that is on its way.
worker_soft_shutdown_timeout = 5
worker_hijack_root_logger = False
timezone = "UTC"
# Every entry expires before the next is due, so a worker that was away does not meet a flood.
beat_schedule = {
    "sweep": {"task": "exchange_ops.sweep", "schedule": settings.SWEEP_SECONDS, "options": {"expires": 9}},
    "sweep-releases": {
        "task": "exchange_ops.sweep_releases",
        "schedule": settings.SWEEP_SECONDS,
        "options": {"expires": 9},
    },
    "sweep-transfers": {
        "task": "exchange_ops.sweep_transfers",
        "schedule": settings.SWEEP_SECONDS,
        "options": {"expires": 9},
    },
    "sweep-orders": {
        "task": "exchange_ops.sweep_orders",
        "schedule": settings.SWEEP_SECONDS,
        "options": {"expires": 9},
    },
    "read-orders": {"task": "exchange_ops.read_orders", "schedule": 10, "options": {"expires": 9}},
    "sync-ledger": {"task": "exchange_ops.sync_ledger", "schedule": 10, "options": {"expires": 9}},
    "sweep-subaccounts": {
        "task": "exchange_ops.sweep_subaccounts",
        "schedule": settings.SWEEP_SECONDS,
        "options": {"expires": 9},
    },
    "sync-subaccounts": {"task": "exchange_ops.sync_subaccounts", "schedule": 15, "options": {"expires": 14}},
    "probe-keys": {"task": "exchange_ops.probe_keys", "schedule": 15, "options": {"expires": 14}},
    "refresh-market": {"task": "exchange_ops.refresh_market", "schedule": 15, "options": {"expires": 14}},
    "refresh-watched": {"task": "exchange_ops.refresh_watched", "schedule": 5, "options": {"expires": 4}},
    "follow-tip": {"task": "chaindata.follow_tip", "schedule": 3, "options": {"expires": 2}},
    "sweep-chain": {"task": "chaindata.sweep", "schedule": 5, "options": {"expires": 4}},
    "sweep-broadcasts": {"task": "chaindata.sweep_broadcasts", "schedule": 5, "options": {"expires": 4}},
    "prove-payouts": {"task": "exchange_ops.prove_payouts", "schedule": 5, "options": {"expires": 4}},
    "run-checks": {"task": "exchange_ops.run_checks", "schedule": 60, "options": {"expires": 50}},
    "purge-chain": {"task": "chaindata.purge", "schedule": 600, "options": {"expires": 300}},
    "purge": {"task": "exchange_ops.purge", "schedule": 600, "options": {"expires": 300}},
}
