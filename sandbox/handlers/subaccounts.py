"""Sub-accounts of the calling account (REST "Sub-accounts"; supplement 2.7, 2.11)."""

from typing import TYPE_CHECKING, Final

from sandbox.exchange import subaccounts
from sandbox.exchange.ledger import Wallet
from sandbox.exchange.terms import ACTION_NOT_ALLOWED, Caller, Refusal
from sandbox.handlers import given
from sandbox.handlers.given import Arguments

if TYPE_CHECKING:
    from sandbox.world import World

MOST_NAMED: Final = 1_000  # sub-accounts in one call
LONGEST_DESCRIPTION: Final = 255


def get_subaccounts(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """The sub-accounts, by id."""
    listed = subaccounts.listed(world.exchange, given.account(world, caller))
    return {"result": [sub_account.wire() for sub_account in listed]}


def freeze_subaccounts(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """Freezes sub-accounts until they are activated: all of those named, or none."""
    account, numbers = given.account(world, caller), _numbers(arguments, "ids")
    return {"result": subaccounts.freeze(world.exchange, account, numbers)}


def activate_subaccounts(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """Takes the freeze off sub-accounts: of all of those named, or of none."""
    account, numbers = given.account(world, caller), _numbers(arguments, "ids")
    return {"result": subaccounts.activate(world.exchange, account, numbers)}


def transfer_subaccount_funds(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """Moves money between the bank accounts of the caller and of a sub-account."""
    account, number = given.account(world, caller), _number(arguments, "subAccountId")
    currency, amount = given.currency(world, arguments), given.amount(arguments)
    direction = given.choice(arguments, "type", subaccounts.DIRECTIONS)
    return {"result": subaccounts.transfer(world.exchange, account, number, currency, amount, direction=direction).id}


def get_subaccount_settings(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """The withdrawal settings of the named sub-accounts; a frozen or disabled one has none."""
    account, numbers = given.account(world, caller), _numbers(arguments, "subAccountIds")
    return {"result": subaccounts.settings(world.exchange, account, numbers)}


def set_subaccount_settings(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """Changes the withdrawal setting of a sub-account; what is absent stays as it is."""
    account, number = given.account(world, caller), _number(arguments, "subAccountUserId")
    enabled = description = None
    if arguments.get("isPayoutEnabled") is not None:
        enabled = given.flag(arguments, "isPayoutEnabled", False)
    if arguments.get("description") is not None:
        description = given.text(arguments, "description", longest=LONGEST_DESCRIPTION)
    return {"result": [subaccounts.change_settings(world.exchange, account, number, enabled, description)]}


def get_subaccount_balances(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """Bank and trading account of a sub-account, whatever its status: every currency, zeros included."""
    exchange = world.exchange
    email = subaccounts.find(exchange, given.account(world, caller), _number(arguments, "id")).email
    return {
        "result": {
            "main": exchange.balances(email, Wallet.BANK, Wallet.BANK_RESERVED),
            "trading": exchange.balances(email, Wallet.TRADING, Wallet.TRADING_RESERVED),
        }
    }


def get_subaccount_deposit_address(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """The current deposit address of a sub-account, whatever its status."""
    exchange = world.exchange
    sub_account = subaccounts.find(exchange, given.account(world, caller), _number(arguments, "id"))
    currency = given.currency(world, arguments)
    made = exchange.addresses.of(sub_account.email, currency.code)
    if not currency.payin_enabled or not made:
        raise Refusal(ACTION_NOT_ALLOWED, f"Deposits of {currency.code} are not available")
    return {"result": made[-1].wire()}


def _number(arguments: Arguments, name: str) -> int:
    number = given.index(arguments, name)
    if number is None:
        raise given.missing(name)
    return number


def _numbers(arguments: Arguments, name: str) -> list[int]:
    """Ids, given as a list or separated by commas, each taken once."""
    value = arguments.get(name)
    if value in (None, "", []):
        raise given.missing(name)
    items = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else [value]
    if len(items) > MOST_NAMED:
        raise given.odd(name, f"has more than {MOST_NAMED} ids")
    return list(dict.fromkeys(_number({name: item.strip() if isinstance(item, str) else item}, name) for item in items))
