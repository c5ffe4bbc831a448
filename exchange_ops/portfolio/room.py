"""What the accounts are worth and earn, as the desk knows it."""

from datetime import timedelta
from functools import partial
from typing import Final

from django.conf import settings
from django.db.models import Q

from desk import rooms
from desk.rows.retention import Retention
from exchange_ops.portfolio.models import Snapshot
from exchange_ops.shared.declarations import topics
from exchange_ops.shared.models import Account

ROOM: Final = rooms.Room(
    topics={"portfolio": topics.row(Account, account="pk")},
    idle_tables=dict.fromkeys(
        [
            f"exchange_ops.{name}"
            for name in ("snapshot", "snapshotline", "dailyflow", "profit", "profitday", "orderresult", "progress")
        ],
        "derived figures, from balances, the ledger, trades and public prices",
    ),
    retention=(
        Retention(
            Snapshot,
            "taken_at",
            lambda: timedelta(days=settings.SNAPSHOT_HOURS_KEPT_DAYS),
            partial(Q, kind=Snapshot.HOURLY),
        ),
    ),
    tasks="exchange_ops.portfolio.tasks",
)
