import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from desk import clock
from exchange_ops.keys import clients, store
from exchange_ops.market.models import Currency
from exchange_ops.shared.models import Account
from exchange_ops.wire.catalogue import Right
from exchange_ops.withdrawals.evidence import probe_readings, probing
from wire.errors import CallFailed
from wire.values import decimal_text


class Command(BaseCommand):
    help = (
        "Verify behaviour that the exchange's documentation leaves open. Places one hold of the smallest amount to one "
        "of your own addresses and releases it immediately. Results are stored with their date. Exit status 0 if "
        "all are as expected."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--account", help="name of one account (default: all)")
        parser.add_argument(
            "--currency",
            help="code of a currency with a small balance in the bank account (default: the cheapest to pay out)",
        )
        parser.add_argument(
            "--leave-hold", action="store_true", help="leave one hold open to see what happens when it expires"
        )
        parser.add_argument(
            "--pay-own-address",
            action="store_true",
            help="pay the minimum to one of your own addresses, then try to release it; costs the network fee",
        )
        parser.add_argument("--pace", action="store_true", help="test the documented rate limit for one second")

    def handle(self, *args: Any, **options: Any) -> None:
        extras = probing.Extras(
            leave_hold=options["leave_hold"], pay_own=options["pay_own_address"], pace=options["pace"]
        )
        complaints = [
            complaint
            for account in _accounts(options["account"])
            if (complaint := self._probed(account, options["currency"], extras))
        ]
        if complaints:
            raise CommandError("\n".join(complaints))

    def _probed(self, account: Account, code: str | None, extras: probing.Extras) -> str:
        """Print the answers about one account; what the exchange differs in there."""
        try:
            currency = _currency(code) if code else _cheapest(account)
            answers = self._answers(account, currency, extras)
        except (CallFailed, store.NoUsableKey, probing.CannotProbe) as problem:
            return f"{account.name} could not be verified: {problem}"
        self.stdout.write(f"{account.name}, with {decimal_text(probing.smallest(currency))} {currency.code}:")
        for answer in answers:
            self.stdout.write(f"{'ok     ' if answer.holds else 'DIFFERS'}  {answer.name}: {answer.sentence}")
        differing = [answer.name for answer in answers if not answer.holds]
        return f"{account.name}: not as expected: {', '.join(differing)}." if differing else ""

    def _answers(self, account: Account, currency: Currency, extras: probing.Extras) -> list[probe_readings.Answer]:
        with (
            clients.client(store.client_for, account=account, right=Right.WITHDRAW) as payer,
            clients.client(store.client_for, account=account, right=Right.PAYMENTS) as reader,
        ):
            means = probe_readings.Means(payer, reader, clock.now, lambda ms: time.sleep(ms / 1000))
            return probing.probe(account=account, currency=currency, means=means, extras=extras)


def _accounts(name: str | None) -> list[Account]:
    accounts = list(Account.objects.filter(**({"name": name} if name else {})).order_by("pk"))
    if not accounts:
        raise CommandError(
            f"Account {name!r} not found." if name else "No accounts yet. Add one with manage.py add_key."
        )
    return accounts


def _cheapest(account: Account) -> Currency:
    return probing.cheapest(account=account, quote=account.quote_currency, now=clock.now())


def _currency(code: str) -> Currency:
    currency = Currency.objects.filter(code=code.upper()).first()
    if currency is None or not currency.payout_enabled:
        raise CommandError(f"{code.upper()} can't be withdrawn, or the exchange's currencies are not loaded yet.")
    return currency
