"""Account management: movements that stay inside the exchange."""

from typing import TYPE_CHECKING

from sandbox.exchange import transfers
from sandbox.exchange.terms import Caller
from sandbox.handlers import given
from sandbox.handlers.given import Arguments

if TYPE_CHECKING:
    from sandbox.world import World


def transfer_funds(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """Moves money between the bank and the trading account."""
    account = given.account(world, caller)
    currency, amount = given.currency(world, arguments), given.amount(arguments)
    kind = given.choice(arguments, "type", (transfers.BANK_TO_EXCHANGE, transfers.EXCHANGE_TO_BANK))
    return {"id": transfers.between_wallets(world.exchange, account, currency, amount, kind).id}


def transfer_to_user(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """Gives money to another user, found by e-mail or user name."""
    account = given.account(world, caller)
    currency, amount = given.currency(world, arguments), given.amount(arguments)
    by = given.choice(arguments, "by", ("email", "username"))
    receiver = world.exchange.accounts.identified(by, given.text(arguments, "identifier", required=True))
    if receiver is None:
        raise given.odd("identifier", "is not known")
    return {"result": transfers.to_user(world.exchange, account, receiver, currency, amount).id}


def convert_currency(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """Exchanges one network's variant of a currency for another's."""
    account = given.account(world, caller)
    source = given.currency(world, arguments, "fromCurrency")
    target = given.currency(world, arguments, "toCurrency")
    made = transfers.convert(world.exchange, account, source, target, given.amount(arguments))
    return {"result": [transaction.id for transaction in made]}
