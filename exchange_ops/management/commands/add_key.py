import getpass
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from desk import clock
from exchange_ops.keys import store
from exchange_ops.shared import places
from exchange_ops.shared.models import Account
from exchange_ops.wire.catalogue import Right
from wire.values import Secret

RIGHTS = {"orders": Right.ORDERS, "history": Right.HISTORY, "payments": Right.PAYMENTS, "withdraw": Right.WITHDRAW}


class Command(BaseCommand):
    help = "Add an API key to an exchange account. The secret is prompted for or read from standard input."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--account", required=True, help="name of the account")
        parser.add_argument("--new-account", action="store_true", help="create the account if it does not exist")
        parser.add_argument(
            "--place", help="exchange of a new account, by its name in EXCHANGE_PLACES (default: default)"
        )
        parser.add_argument("--label", required=True, help="name of the key")
        parser.add_argument("--login", required=True, help="API key (the public part)")
        parser.add_argument(
            "--right",
            action="append",
            required=True,
            choices=sorted(RIGHTS),
            help="permission of the key; repeat for several",
        )
        parser.add_argument("--secret-from-stdin", action="store_true", help="read the secret from standard input")

    def handle(self, *args: Any, **options: Any) -> None:
        key = self._added(options, _secret(from_stdin=options["secret_from_stdin"]))
        self.stdout.write(
            f"Key {key.pk} for {key.account.name} saved (encrypted). Fingerprint: {key.fingerprint}. "
            f"It is used on the exchange “{key.account.place}” only."
        )

    def _added(self, options: dict[str, Any], secret: Secret) -> Any:
        try:
            with transaction.atomic():
                return store.add(
                    account=_account(options["account"], make=options["new_account"], place=options["place"]),
                    label=options["label"],
                    login=options["login"],
                    secret=secret,
                    rights=[RIGHTS[name] for name in dict.fromkeys(options["right"])],
                    actor=None,
                    now=clock.now(),
                )
        except store.CannotAddKey as problem:
            raise CommandError(str(problem)) from None


def _account(name: str, *, make: bool, place: str | None) -> Account:
    """The account of this name, made where it is wanted. A place is chosen once and never changed."""
    if place is not None and place not in places.names():
        place_names = ", ".join(places.names())
        raise CommandError(f"Exchange {place!r} is not in the settings (EXCHANGE_PLACES). Configured: {place_names}.")
    account = Account.objects.filter(name=name).first()
    if account is None and make:
        columns = {"quote_currency": settings.QUOTE_CURRENCY, "place": place or places.DEFAULT}
        account = Account.objects.create(name=name, **columns)
    if account is None:
        raise CommandError(f"Account {name!r} not found. Use --new-account to create it.")
    if place is not None and account.place != place:
        raise CommandError(f"{name} belongs to the exchange {account.place!r}. Create another account for {place!r}.")
    return account


def _secret(*, from_stdin: bool) -> Secret:
    text = sys.stdin.readline().rstrip("\r\n") if from_stdin else getpass.getpass("Secret:  ")
    if not text.strip():
        raise CommandError("Key not saved: the secret is empty.")
    return Secret(text.strip())
