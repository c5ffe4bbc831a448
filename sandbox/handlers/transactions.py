"""Account management: the list of transactions, and the two queries that the account stream has in its place."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from sandbox.exchange import network
from sandbox.exchange.terms import TRANSACTION_NOT_FOUND, Caller, Refusal
from sandbox.exchange.transactions import Transaction
from sandbox.handlers import given
from sandbox.handlers.given import Arguments

if TYPE_CHECKING:
    from sandbox.world import World

DEFAULT_LIMIT, MOST, FARTHEST = 100, 1_000, 100_000
ASC, DESC = "ASC", "DESC"


def get_transactions(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """The account's transactions by creation time (or by index), both ends of the interval included."""
    account = given.account(world, caller)
    if given.choice(arguments, "by", ("timestamp", "index"), "timestamp") == "index":
        return _listed(world, account, arguments, place=_by_index, bounds=_index_bounds(arguments), default_order=DESC)
    return _listed(world, account, arguments, place=_by_time, bounds=_time_bounds(arguments), default_order=DESC)


def get_transaction(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """One transaction of the account, also while listings don't show it yet."""
    account = given.account(world, caller)
    found = world.exchange.transactions.find(given.text(arguments, "id", required=True))
    if found is None or found.account != account:
        raise Refusal(TRANSACTION_NOT_FOUND)
    return network.shown(world.exchange, found)


def find_transactions(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """The stream's query by creation time, newest first unless asked otherwise."""
    account = given.account(world, caller)
    return _listed(world, account, arguments, place=_by_time, bounds=_time_bounds(arguments), default_order=DESC)


def load_transactions(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """The stream's query by index, oldest first unless asked otherwise; `till` is not included."""
    account = given.account(world, caller)
    first, last = _index_bounds(arguments)
    return _listed(
        world,
        account,
        arguments,
        place=_by_index,
        bounds=(first, None if last is None else last - 1),
        default_order=ASC,
    )


def get_stream_balance(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """The stream's getBalance: the bank account's currencies that are not zero."""
    return world.exchange.bank_balances(given.account(world, caller))


def _listed(
    world: "World",
    account: str,
    arguments: Arguments,
    *,
    place: Callable[[Transaction], tuple[int, int]],
    bounds: tuple[int | None, int | None],
    default_order: str,
) -> list[dict[str, object]]:
    currency = given.optional_currency(world, arguments)
    order = given.choice(arguments, "sort" if "sort" in arguments else "order", (ASC, DESC), default_order)
    limit = given.whole(arguments, "limit", DEFAULT_LIMIT, 0, MOST)
    offset = given.whole(arguments, "offset", 0, 0, FARTHEST)
    show_senders = given.flag(arguments, "showSenders", False)
    moment_ms = world.exchange.moment_ms
    found = [
        transaction
        for transaction in world.exchange.transactions.of_account(account)
        if transaction.listed_ms <= moment_ms
        and (not currency or transaction.currency == currency)
        and _is_within(place(transaction)[0], bounds)
    ]
    found.sort(key=place, reverse=order == DESC)
    wanted = found[offset : offset + limit]
    return [network.shown(world.exchange, each, show_senders=show_senders) for each in wanted]


def _is_within(position: int, bounds: tuple[int | None, int | None]) -> bool:
    first, last = bounds
    return (first is None or position >= first) and (last is None or position <= last)


def _by_time(transaction: Transaction) -> tuple[int, int]:
    return transaction.created_ms, transaction.index


def _by_index(transaction: Transaction) -> tuple[int, int]:
    return transaction.index, 0


def _index_bounds(arguments: Arguments) -> tuple[int | None, int | None]:
    return given.index(arguments, "from"), given.index(arguments, "till")


def _time_bounds(arguments: Arguments) -> tuple[int | None, int | None]:
    return given.instant_ms(arguments, "from"), given.instant_ms(arguments, "till")
