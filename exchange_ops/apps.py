from importlib import import_module
from typing import Any, Final

from django.apps import AppConfig
from django.db.models.signals import post_migrate

# What each declares stands in its `room`; the lowest floor first (`.importlinter`).
ROOMS: Final = (
    "shared",
    "market",
    "policy",
    "keys",
    "addresses",
    "ledger",
    "payees",
    "withdrawals",
    "subaccounts",
    "margin",
    "transfers",
    "orders",
    "positions",
    "policy_changes",
    "portfolio",
    "console",
    "reconciliation",
    "evidence",
    "statements",
    "going_live",
    "pages",
)


class ExchangeOpsConfig(AppConfig):
    name = "exchange_ops"

    def ready(self) -> None:
        from desk import rooms
        from exchange_ops import belongings, demo
        from exchange_ops.addresses import owners
        from exchange_ops.keys import probing, uses
        from exchange_ops.ledger import matching, walks
        from exchange_ops.orders import outcomes, trades
        from exchange_ops.orders.room import freezing as orders_freezing
        from exchange_ops.policy import freezes, outgoing
        from exchange_ops.portfolio import order_results, prices
        from exchange_ops.positions import freezing as positions_freezing
        from exchange_ops.positions import results
        from exchange_ops.statements.bookkeeping import accounts
        from exchange_ops.subaccounts import own_addresses
        from exchange_ops.transfers import ledger_matching as transfer_matching
        from exchange_ops.transfers.room import freezing as transfers_freezing
        from exchange_ops.transfers.room import outgoing as transfers_outgoing
        from exchange_ops.withdrawals import freezing as withdrawals_freezing
        from exchange_ops.withdrawals import outgoing as withdrawals_outgoing
        from exchange_ops.withdrawals import queries
        from exchange_ops.withdrawals.evidence import ledger_matching

        belongings.register()
        owners.register("sub-accounts", own_addresses.owners)
        matching.register(ledger_matching)
        ledger_matching.register(transfer_matching)
        uses.register_under_way(queries.under_way)
        probing.register_newest_transaction(walks.newest_transaction)
        outcomes.register(order_results.realised)
        trades.register_on_margin(results.is_on_margin)
        prices.register(accounts.currencies)
        for room in (withdrawals_freezing, transfers_freezing, orders_freezing, positions_freezing):
            freezes.register(room)
        outgoing.register("withdrawal", withdrawals_outgoing)
        outgoing.register("transfer", transfers_outgoing)
        for name in ROOMS:
            rooms.declare(import_module(f"exchange_ops.{name}.room").ROOM)
        rooms.declare(rooms.Room(demo={"exchange account": demo.load}))
        post_migrate.connect(_publish_first_rules, sender=self, dispatch_uid="exchange_ops.first_rules")


def _publish_first_rules(*, plan: Any = (), **_: Any) -> None:
    """A fresh desk starts with rules, so that it can pay and never without an approval."""
    from desk import clock
    from exchange_ops.policy import quorum

    quorum.ensure_first(now=clock.now())
