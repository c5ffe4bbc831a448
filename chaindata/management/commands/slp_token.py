import getpass
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from chaindata.client.keyed import Funding, KeyWouldTravel, TokenSender
from chaindata.shared.addresses import NotAnAddress
from chaindata.tools import keyed
from desk import clock
from wire.errors import CallFailed, OutcomeUnknown
from wire.operation import BadArgument
from wire.values import Secret

_CREATION = ("name", "symbol", "document_uri", "document_hash")


class Command(BaseCommand):
    help = (
        "Create, mint or send SLP tokens through the chain-data service, which receives the private key. "
        "Disabled unless CHAIN_KEYED_CALLS is set. The key is prompted for or read from standard input, never passed "
        "as an argument."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        kinds = parser.add_subparsers(dest="kind", required=True)
        for kind, help_text in (
            ("create", "create a token"),
            ("mint", "mint more of a token"),
            ("send", "send tokens"),
        ):
            one = kinds.add_parser(kind, help=help_text)
            one.add_argument("--funding-address", required=True, help="funding SLP address; its key is prompted for")
            one.add_argument("--change-address", required=True, help="change address (cash address)")
            one.add_argument("--receiver", required=True, help="recipient SLP address")
            one.add_argument("--quantity", required=True, help="number of tokens")
            one.add_argument("--key-from-stdin", action="store_true", help="read the key from standard input")
            if kind != "send":
                one.add_argument("--baton", required=True, help="SLP address that receives the minting baton")
            if kind != "create":
                one.add_argument("--token-id", required=True)
                continue
            one.add_argument("--decimals", type=int, required=True, help="0 to 9")
            for name in _CREATION:
                one.add_argument(f"--{name.replace('_', '-')}", required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            sender = keyed.open_sender()
        except KeyWouldTravel as problem:
            raise CommandError(str(problem)) from None
        funding = Funding(
            options["funding_address"], _key(from_stdin=options["key_from_stdin"]), options["change_address"]
        )
        try:
            txid = keyed.send(
                what=options["kind"],
                funding_address=funding.address,
                call=_call(sender, funding, options),
                now=clock.now(),
            )
        except OutcomeUnknown as failure:
            raise CommandError(
                f"It is unknown whether the transaction was sent: {failure}. "
                "Check the funding address before trying again."
            ) from None
        except (CallFailed, BadArgument, NotAnAddress) as failure:
            raise CommandError(f"Not sent: {failure}") from None
        finally:
            sender.close()
        self.stdout.write(f"Sent: {txid}")


def _call(sender: TokenSender, funding: Funding, options: dict[str, Any]) -> Callable[[], str]:
    """The call that the options ask for, ready to be made."""
    params = {"funding": funding, "receiver": options["receiver"]}
    quantity = _number(options["quantity"])
    match options["kind"]:
        case "create":
            about = {name: options[name] for name in (*_CREATION, "decimals", "baton")}
            return lambda: sender.create_slp_token(**params, **about, quantity=quantity)
        case "mint":
            about = {"baton": options["baton"], "token_id": options["token_id"]}
            return lambda: sender.mint_slp_token(**params, **about, quantity=quantity)
        case _:
            return lambda: sender.send_slp_token(**params, token_id=options["token_id"], amount=quantity)


def _number(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise CommandError("The quantity must be a number.") from None


def _key(*, from_stdin: bool) -> Secret:
    text = (
        sys.stdin.readline().rstrip("\r\n") if from_stdin else getpass.getpass("Private key of the funding address: ")
    )
    if not text.strip():
        raise CommandError("The private key is empty.")
    return Secret(text.strip())
