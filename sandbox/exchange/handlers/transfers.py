"""Account management: movements that stay inside the exchange."""

from typing import TYPE_CHECKING

from sandbox.exchange.funds import transfers
from sandbox.exchange.handlers import arguments
from sandbox.exchange.handlers.arguments import Arguments
from sandbox.exchange.terms import Caller

if TYPE_CHECKING:
    from sandbox.world.world import World


def transfer_funds(world: "World", caller: Caller | None, params: Arguments) -> object:
    """Moves money between the bank and the trading account."""
    account = arguments.account(world, caller)
    currency, amount = arguments.currency(world, params), arguments.amount(params)
    kind = arguments.choice(params, "type", (transfers.BANK_TO_EXCHANGE, transfers.EXCHANGE_TO_BANK))
    return {"id": transfers.between_wallets(world.exchange, account, currency, amount, kind).id}


def transfer_to_user(world: "World", caller: Caller | None, params: Arguments) -> object:
    """Gives money to another user, found by e-mail or user name."""
    account = arguments.account(world, caller)
    currency, amount = arguments.currency(world, params), arguments.amount(params)
    by = arguments.choice(params, "by", ("email", "username"))
    receiver = world.exchange.accounts.identified(by, arguments.text(params, "identifier", required=True))
    if receiver is None:
        raise arguments.odd("identifier", "is not known")
    return {"result": transfers.to_user(world.exchange, account, receiver, currency, amount).id}


def convert_currency(world: "World", caller: Caller | None, params: Arguments) -> object:
    """Exchanges one network's variant of a currency for another's."""
    account = arguments.account(world, caller)
    source = arguments.currency(world, params, "fromCurrency")
    target = arguments.currency(world, params, "toCurrency")
    made = transfers.convert(world.exchange, account, source, target, arguments.amount(params))
    return {"result": [transaction.id for transaction in made]}
