from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from desk import clock
from exchange_ops.keys import clients, store
from exchange_ops.shared.models import Account
from exchange_ops.wire.catalogue import Right
from exchange_ops.withdrawals.evidence import reconciliation
from wire.errors import CallFailed


class Command(BaseCommand):
    help = "Reconcile our ledger with the exchange. Exit status 0 if everything agrees, 1 if not."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--account", help="name of one account (default: all)")

    def handle(self, *args: Any, **options: Any) -> None:
        accounts = list(Account.objects.filter(**({"name": options["account"]} if options["account"] else {})))
        if not accounts:
            raise CommandError("Account not found.")
        differing = sum(self._differences(account) for account in accounts)
        if differing:
            raise CommandError(f"{differing} difference{'s' if differing > 1 else ''} found.")

    def _differences(self, account: Account) -> int:
        """Print the findings of one account; how many don't agree."""
        try:
            with clients.client(store.client_for, account=account, right=Right.PAYMENTS) as client:
                findings = reconciliation.reconcile(account=account, client=client, now=clock.now())
        except (CallFailed, store.NoUsableKey, reconciliation.CannotReconcile) as problem:
            raise CommandError(f"{account.name} could not be reconciled: {problem}") from None
        for finding in findings:
            mark = "agrees " if finding.agrees else "DIFFERS"
            self.stdout.write(f"{account.name}  {mark}  {finding.about}: {finding.sentence}")
        return sum(not finding.agrees for finding in findings)
