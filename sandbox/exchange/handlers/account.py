"""Account management: balances and addresses."""

from sandbox.engine.clock import DAY_MS
from sandbox.exchange.accounts.addresses import LISTED, NEW_PER_DAY
from sandbox.exchange.accounts.ledger import Wallet
from sandbox.exchange.handlers import arguments
from sandbox.exchange.handlers.arguments import Arguments
from sandbox.exchange.listing.currencies import Currency
from sandbox.exchange.state import Exchange
from sandbox.exchange.terms import ACTION_NOT_ALLOWED, LIMIT_EXCEEDED, Caller, Refusal


def get_balances(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The bank account: every currency, zeros included."""
    return exchange.balances(arguments.account(exchange, caller), Wallet.BANK, Wallet.BANK_RESERVED)


def get_trading_balances(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The trading account: every currency, zeros included."""
    return exchange.balances(arguments.account(exchange, caller), Wallet.TRADING, Wallet.TRADING_RESERVED)


def get_deposit_address(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The current deposit address of a currency."""
    account, currency = arguments.account(exchange, caller), _payable_in(exchange, params)
    addresses = exchange.addresses.deposit_addresses(account, currency.code)
    if not addresses:
        raise Refusal(ACTION_NOT_ALLOWED, f"There is no deposit address of {currency.code} yet")
    return addresses[-1].wire()


def create_deposit_address(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """A new deposit address of a currency; at most five in 24 hours. The older ones stay valid."""
    account, currency = arguments.account(exchange, caller), _payable_in(exchange, params)
    since_ms = exchange.moment_ms - DAY_MS
    addresses = exchange.addresses.deposit_addresses(account, currency.code)
    if sum(address.created_ms > since_ms for address in addresses) >= NEW_PER_DAY:
        raise Refusal(LIMIT_EXCEEDED, f"At most {NEW_PER_DAY} new {currency.code} addresses are given out in 24 hours")
    return exchange.addresses.create(account, currency, exchange.moment_ms).wire()


def get_deposit_addresses(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The last ten deposit addresses of a currency, newest first."""
    account, currency = arguments.account(exchange, caller), arguments.currency(exchange, params)
    addresses = exchange.addresses.deposit_addresses(account, currency.code)
    return [address.wire() for address in reversed(addresses[-LISTED:])]


def get_used_addresses(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The last ten different withdrawal addresses of a currency, latest first."""
    account, currency = arguments.account(exchange, caller), arguments.currency(exchange, params)
    used = exchange.addresses.used(account, currency.code)
    return [{"address": address} | ({"paymentId": tag} if tag else {}) for address, tag in used]


def is_own_address(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """Whether an address is a deposit address of the calling account, in any spelling."""
    address = arguments.text(params, "address", required=True)
    return {"result": exchange.addresses.is_mine(arguments.account(exchange, caller), address)}


def _payable_in(exchange: Exchange, params: Arguments) -> Currency:
    currency = arguments.currency(exchange, params)
    if not currency.crypto or not currency.payin_enabled:
        raise Refusal(ACTION_NOT_ALLOWED, f"Deposits of {currency.code} are not available")
    return currency
