from typing import Any

from django.core.management.base import BaseCommand

from desk import clock
from exchange_ops.keys import store
from exchange_ops.transfers import workflow as transfers
from exchange_ops.withdrawals import workflow as withdrawals


class Command(BaseCommand):
    help = "Run all due steps of payouts and transfers once. Safe to run at any time, even while workers are running."

    def handle(self, *args: Any, **options: Any) -> None:
        steps = withdrawals.sweep(now=clock.now(), client_for=store.client_for)
        steps += transfers.sweep(now=clock.now(), client_for=store.client_for)
        self.stdout.write(f"Due steps completed: {steps}.")
