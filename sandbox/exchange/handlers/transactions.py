"""Account management: the list of transactions, and the two queries that the account stream has in its place."""

from collections.abc import Callable

from sandbox.exchange.accounts.transactions import Transaction
from sandbox.exchange.funds import network
from sandbox.exchange.handlers import arguments
from sandbox.exchange.handlers.arguments import Arguments
from sandbox.exchange.state import Exchange
from sandbox.exchange.terms import TRANSACTION_NOT_FOUND, Caller, Refusal

DEFAULT_LIMIT, MOST, FARTHEST = 100, 1_000, 100_000
ASC, DESC = "ASC", "DESC"


def get_transactions(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The account's transactions by creation time (or by index), both ends of the interval included."""
    account = arguments.account(exchange, caller)
    if arguments.choice(params, "by", ("timestamp", "index"), "timestamp") == "index":
        return _listed(exchange, account, params, place=_by_index, bounds=_index_bounds(params), default_order=DESC)
    return _listed(exchange, account, params, place=_by_time, bounds=_time_bounds(params), default_order=DESC)


def get_transaction(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """One transaction of the account, also while listings don't show it yet."""
    account = arguments.account(exchange, caller)
    transaction = exchange.transactions.find(arguments.text(params, "id", required=True))
    if transaction is None or transaction.account != account:
        raise Refusal(TRANSACTION_NOT_FOUND)
    return network.record_of(exchange, transaction)


def find_transactions(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The stream's query by creation time, newest first unless asked otherwise."""
    account = arguments.account(exchange, caller)
    return _listed(exchange, account, params, place=_by_time, bounds=_time_bounds(params), default_order=DESC)


def load_transactions(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The stream's query by index, oldest first unless asked otherwise; `till` is not included."""
    account = arguments.account(exchange, caller)
    first, last = _index_bounds(params)
    return _listed(
        exchange,
        account,
        params,
        place=_by_index,
        bounds=(first, None if last is None else last - 1),
        default_order=ASC,
    )


def get_stream_balance(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The stream's getBalance: the bank account's currencies that are not zero."""
    return exchange.bank_balances(arguments.account(exchange, caller))


def _listed(
    exchange: Exchange,
    account: str,
    params: Arguments,
    *,
    place: Callable[[Transaction], tuple[int, int]],
    bounds: tuple[int | None, int | None],
    default_order: str,
) -> list[dict[str, object]]:
    currency = arguments.optional_currency(exchange, params)
    order = arguments.choice(params, "sort" if "sort" in params else "order", (ASC, DESC), default_order)
    limit = arguments.whole_number(params, "limit", DEFAULT_LIMIT, 0, MOST)
    offset = arguments.whole_number(params, "offset", 0, 0, FARTHEST)
    show_senders = arguments.flag(params, "showSenders", False)
    moment_ms = exchange.moment_ms
    transactions = [
        transaction
        for transaction in exchange.transactions.of_account(account)
        if transaction.listed_ms <= moment_ms
        and (not currency or transaction.currency == currency)
        and _is_within(place(transaction)[0], bounds)
    ]
    transactions.sort(key=place, reverse=order == DESC)
    page = transactions[offset : offset + limit]
    return [network.record_of(exchange, each, show_senders=show_senders) for each in page]


def _is_within(position: int, bounds: tuple[int | None, int | None]) -> bool:
    first, last = bounds
    return (first is None or position >= first) and (last is None or position <= last)


def _by_time(transaction: Transaction) -> tuple[int, int]:
    return transaction.created_ms, transaction.index


def _by_index(transaction: Transaction) -> tuple[int, int]:
    return transaction.index, 0


def _index_bounds(params: Arguments) -> tuple[int | None, int | None]:
    return arguments.index(params, "from"), arguments.index(params, "till")


def _time_bounds(params: Arguments) -> tuple[int | None, int | None]:
    return arguments.instant_ms(params, "from"), arguments.instant_ms(params, "till")
