from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class ExchangeOpsConfig(AppConfig):
    name = "exchange_ops"

    def ready(self) -> None:
        from desk import audit
        from exchange_ops import topics
        from exchange_ops.domain import replay

        topics.register()
        audit.register_replay(replay.SUBJECT, replay.check)
        post_migrate.connect(_publish_first_rules, sender=self, dispatch_uid="exchange_ops.first_rules")


def _publish_first_rules(*, plan: Any = (), **_: Any) -> None:
    """A fresh desk starts with rules, so that it can pay and never without an approval."""
    from desk import clock
    from exchange_ops.domain import policy

    policy.ensure_first(now=clock.now())
