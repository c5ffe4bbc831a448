from collections.abc import Iterator
from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class ExchangeOpsConfig(AppConfig):
    name = "exchange_ops"

    def ready(self) -> None:
        from desk import rooms
        from exchange_ops import belongings, demo, guards, health, incidents, owned_addresses, replay, topics, witnesses
        from exchange_ops.keys import store as keys
        from exchange_ops.keys import uses as key_uses
        from exchange_ops.ledger import matching
        from exchange_ops.pages import approvals, open_words
        from exchange_ops.policy import vote_replay
        from exchange_ops.policy_changes import source as policy_changes
        from exchange_ops.restores import outside as restores
        from exchange_ops.transfers import ledger_matching as transfer_matching
        from exchange_ops.withdrawals import queries
        from exchange_ops.withdrawals.evidence import ledger_matching

        witnesses.register()
        owned_addresses.register()
        belongings.register()
        matching.register(ledger_matching)
        ledger_matching.register(transfer_matching)
        key_uses.register_under_way(queries.under_way)
        rooms.declare(
            rooms.Room(
                topics=topics.TOPICS,
                ticking=topics.MARKET,
                checks=health.CHECKS,
                replays={
                    "freeze": vote_replay.check_freezes,
                    **{each.subject: each.check for each in replay.REPLAYS},
                },
                guards={name: source.statements for name, source in guards.GUARDS.items()},
                rewrappers={"exchange keys": keys.rewrap_all},
                demo={"exchange account": demo.load},
                incidents=incidents.KINDS,
                actions=(approvals.SOURCE, policy_changes.SOURCE),
                open_words=open_words.of,
                open_work=open_words.work,
                scopes=_accounts,
                waiting=restores.SOURCES,
                outside=restores.outside,
                not_read_yet=restores.not_read_yet,
            )
        )
        post_migrate.connect(_publish_first_rules, sender=self, dispatch_uid="exchange_ops.first_rules")


def _accounts() -> Iterator[tuple[str, str]]:
    """The accounts that a role may be limited to."""
    from exchange_ops.shared.models import Account

    for number, name in Account.objects.order_by("pk").values_list("pk", "name"):
        yield str(number), name


def _publish_first_rules(*, plan: Any = (), **_: Any) -> None:
    """A fresh desk starts with rules, so that it can pay and never without an approval."""
    from desk import clock
    from exchange_ops.policy import quorum as policy

    policy.ensure_first(now=clock.now())
