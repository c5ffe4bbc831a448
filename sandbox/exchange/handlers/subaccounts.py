"""Sub-accounts of the calling account (exchange REST, Sub-accounts; supplement 2.7, 2.11)."""

from typing import Final

from sandbox.exchange import subaccounts
from sandbox.exchange.accounts.ledger import Wallet
from sandbox.exchange.handlers import arguments
from sandbox.exchange.handlers.arguments import Arguments
from sandbox.exchange.state import Exchange
from sandbox.exchange.terms import ACTION_NOT_ALLOWED, Caller, Refusal

MOST_NAMED: Final = 1_000  # sub-accounts in one call
LONGEST_DESCRIPTION: Final = 255


def get_subaccounts(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The sub-accounts, by id."""
    listed = subaccounts.listed(exchange, arguments.account(exchange, caller))
    return {"result": [sub_account.wire() for sub_account in listed]}


def freeze_subaccounts(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """Freezes sub-accounts until they are activated: all of those named, or none."""
    account, numbers = arguments.account(exchange, caller), _numbers(params, "ids")
    return {"result": subaccounts.freeze(exchange, account, numbers)}


def activate_subaccounts(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """Takes the freeze off sub-accounts: of all of those named, or of none."""
    account, numbers = arguments.account(exchange, caller), _numbers(params, "ids")
    return {"result": subaccounts.activate(exchange, account, numbers)}


def transfer_subaccount_funds(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """Moves money between the bank accounts of the caller and of a sub-account."""
    account, number = arguments.account(exchange, caller), _number(params, "subAccountId")
    currency, amount = arguments.currency(exchange, params), arguments.amount(params)
    direction = arguments.choice(params, "type", subaccounts.DIRECTIONS)
    return {"result": subaccounts.transfer(exchange, account, number, currency, amount, direction=direction).id}


def get_subaccount_settings(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The withdrawal settings of the named sub-accounts; a frozen or disabled one has none."""
    account, numbers = arguments.account(exchange, caller), _numbers(params, "subAccountIds")
    return {"result": subaccounts.settings(exchange, account, numbers)}


def set_subaccount_settings(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """Changes the withdrawal setting of a sub-account; what is absent stays as it is."""
    account, number = arguments.account(exchange, caller), _number(params, "subAccountUserId")
    enabled = description = None
    if params.get("isPayoutEnabled") is not None:
        enabled = arguments.flag(params, "isPayoutEnabled", False)
    if params.get("description") is not None:
        description = arguments.text(params, "description", longest=LONGEST_DESCRIPTION)
    return {"result": [subaccounts.change_settings(exchange, account, number, enabled, description)]}


def get_subaccount_balances(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """Bank and trading account of a sub-account, whatever its status: every currency, zeros included."""
    email = subaccounts.find(exchange, arguments.account(exchange, caller), _number(params, "id")).email
    return {
        "result": {
            "main": exchange.balances(email, Wallet.BANK, Wallet.BANK_RESERVED),
            "trading": exchange.balances(email, Wallet.TRADING, Wallet.TRADING_RESERVED),
        }
    }


def get_subaccount_deposit_address(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The current deposit address of a sub-account, whatever its status."""
    sub_account = subaccounts.find(exchange, arguments.account(exchange, caller), _number(params, "id"))
    currency = arguments.currency(exchange, params)
    addresses = exchange.addresses.deposit_addresses(sub_account.email, currency.code)
    if not currency.payin_enabled or not addresses:
        raise Refusal(ACTION_NOT_ALLOWED, f"Deposits of {currency.code} are not available")
    return {"result": addresses[-1].wire()}


def _number(params: Arguments, name: str) -> int:
    number = arguments.index(params, name)
    if number is None:
        raise arguments.missing(name)
    return number


def _numbers(params: Arguments, name: str) -> list[int]:
    """Ids, given as a list or separated by commas, each taken once."""
    value = params.get(name)
    if value in (None, "", []):
        raise arguments.missing(name)
    items = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else [value]
    if len(items) > MOST_NAMED:
        raise arguments.odd(name, f"has more than {MOST_NAMED} ids")
    return list(dict.fromkeys(_number({name: item.strip() if isinstance(item, str) else item}, name) for item in items))
