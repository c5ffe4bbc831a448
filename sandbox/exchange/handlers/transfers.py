"""Account management: movements that stay inside the exchange."""

from sandbox.exchange.funds import transfers
from sandbox.exchange.handlers import arguments
from sandbox.exchange.handlers.arguments import Arguments
from sandbox.exchange.state import Exchange
from sandbox.exchange.terms import Caller


def transfer_funds(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """Moves money between the bank and the trading account."""
    account = arguments.account(exchange, caller)
    currency, amount = arguments.currency(exchange, params), arguments.amount(params)
    kind = arguments.choice(params, "type", (transfers.BANK_TO_EXCHANGE, transfers.EXCHANGE_TO_BANK))
    return {"id": transfers.between_wallets(exchange, account, currency, amount, kind).id}


def transfer_to_user(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """Gives money to another user, found by e-mail or user name."""
    account = arguments.account(exchange, caller)
    currency, amount = arguments.currency(exchange, params), arguments.amount(params)
    by = arguments.choice(params, "by", ("email", "username"))
    receiver = exchange.accounts.identified(by, arguments.text(params, "identifier", required=True))
    if receiver is None:
        raise arguments.odd("identifier", "is not known")
    return {"result": transfers.to_user(exchange, account, receiver, currency, amount).id}


def convert_currency(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """Exchanges one network's variant of a currency for another's."""
    account = arguments.account(exchange, caller)
    source = arguments.currency(exchange, params, "fromCurrency")
    target = arguments.currency(exchange, params, "toCurrency")
    transactions = transfers.convert(exchange, account, source, target, arguments.amount(params))
    return {"result": [transaction.id for transaction in transactions]}
