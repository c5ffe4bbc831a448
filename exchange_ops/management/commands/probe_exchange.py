import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from desk import clock
from exchange_ops.domain import asking, keys, probing
from exchange_ops.models import Account, Currency
from exchange_ops.wire.catalogue import Right
from wire.errors import CallFailed


class Command(BaseCommand):
    help = (
        "Asks the exchange what its specification leaves open, with one hold of the smallest amount to an address of "
        "our own that is released at once. Stores the answers as dated facts. Exit 0 when all may be relied on."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--account", required=True, help="name of the account")
        parser.add_argument(
            "--currency", required=True, help="code of a currency of which a little is in the bank wallet"
        )
        parser.add_argument("--leave-hold", action="store_true", help="leave one hold open to see how its hour ends")

    def handle(self, *args: Any, **options: Any) -> None:
        answers = self._asked(_account(options["account"]), _currency(options["currency"]), options["leave_hold"])
        for answer in answers:
            self.stdout.write(f"{'holds  ' if answer.holds else 'DIFFERS'}  {answer.name}: {answer.sentence}")
        differing = [answer.name for answer in answers if not answer.holds]
        if differing:
            raise CommandError(f"The desk can't rely on: {', '.join(differing)}.")

    def _asked(self, account: Account, currency: Currency, leave_hold: bool) -> list[probing.Answer]:
        try:
            with (
                asking.client(keys.client_for, account=account, right=Right.WITHDRAW) as payer,
                asking.client(keys.client_for, account=account, right=Right.PAYMENTS) as reader,
            ):
                means = probing.Means(payer, reader, clock.now, lambda ms: time.sleep(ms / 1000))
                return probing.probe(account=account, currency=currency, means=means, leave_hold=leave_hold)
        except (CallFailed, keys.NoUsableKey, probing.CannotProbe) as problem:
            raise CommandError(str(problem)) from None


def _account(name: str) -> Account:
    account = Account.objects.filter(name=name).first()
    if account is None:
        raise CommandError(f"There is no account {name!r}.")
    return account


def _currency(code: str) -> Currency:
    currency = Currency.objects.filter(code=code.upper()).first()
    if currency is None or not currency.payout_enabled:
        raise CommandError(f"{code.upper()} is not a currency that can be paid out; has the market been read yet?")
    return currency
