"""What the trading stream tells of orders, trades and margin, taken into the same rows as the reading over REST.

Only what is newer counts, however often and in whichever order it is told. Source: supplement 1.4 and 1.5.
"""

from collections.abc import Iterable
from datetime import datetime

import structlog

from exchange_ops.domain import margin, order_records, stream_states
from exchange_ops.models import Account, FollowerState
from exchange_ops.wire import records, trading_session
from exchange_ops.wire.conversation import BecameLive, Ended, Odd

TRADE = "trade"
_log = structlog.get_logger(__name__)


def name_of(account: Account) -> str:
    """The name of the account's trading stream among the followers."""
    return f"trading stream:{account.pk}"


def take(*, account: Account, event: trading_session.Event, now: datetime) -> None:
    """Store what an event of the session brought. Nothing that the exchange tells makes this fail."""
    name = name_of(account)
    match event:
        case trading_session.Reports():
            _take_reports(account, event, now)
        case trading_session.MarginAccounts():
            whole = event.whole and not event.unread
            problems = margin.take(account=account, found=event.records, now=now, whole=whole)
            _left_out(account, [*problems, *(f"A margin account: {one.reason}" for one in event.unread)])
        case trading_session.NoMargin():
            _log.info("trading_stream.no_margin", account=account.pk, reason=event.sentence)
        case BecameLive():
            stream_states.became_live(name, now=now, account=account)
        case Odd():
            _log.warning("trading_stream.odd", account=account.pk, reason=event.sentence)
        case Ended():
            stream_states.ended(name, sentence=event.sentence, now=now, account=account)


def _take_reports(account: Account, event: trading_session.Reports, now: datetime) -> None:
    problems = [f"A report could not be read: {one.reason}" for one in event.unread]
    orders, trades = [], []
    for report in event.records:
        number = _number(report.id)
        if number is None:
            problems.append(f"A report has the id {str(report.id)[:40]!r}, which is no number.")
            continue
        orders.append(_order(report, number))
        if report.report_type == TRADE:
            trade = _trade(report, number)
            if trade is None:
                problems.append(f"A report of a trade of order {number} does not tell the trade.")
            else:
                trades.append(trade)
    open_numbers = {order.id for order in orders} if event.whole else frozenset[int]()
    done = order_records.take(account=account, found=orders, open_numbers=open_numbers, margin=event.margin, now=now)
    problems += done.problems
    if trades:
        problems += order_records.take_trades(account=account, found=trades, now=now).problems
    if event.whole and _is_live(account):  # a list that says something new: a report was lost on its way
        stream_states.closed_gaps(name_of(account), count=done.changed, account=account)
    _left_out(account, problems)


def _is_live(account: Account) -> bool:
    return FollowerState.objects.filter(name=name_of(account), connected=True).exists()


def _number(told: int | str) -> int | None:
    """The exchange's number of an order, a text on the spot stream and a number on the margin stream."""
    if isinstance(told, int):
        return told
    return int(told) if told.isascii() and told.isdigit() and len(told) <= 19 else None


def _order(report: records.OrderReport, number: int) -> records.Order:
    return records.Order(
        id=number,
        client_order_id=report.client_order_id,
        symbol=report.symbol,
        side=report.side,
        status=report.status,
        type=report.type,
        time_in_force=report.time_in_force,
        quantity=report.quantity,
        created_at=report.created_at,
        updated_at=report.updated_at,
        cum_quantity=report.cum_quantity,
        price=report.price,
        stop_price=report.stop_price,
        expire_time=report.expire_time,
        post_only=report.post_only,
    )


def _trade(report: records.OrderReport, number: int) -> records.AccountTrade | None:
    """The trade of a report; None when it lacks a figure. Who took is not told on the stream."""
    if report.trade_id is None or report.trade_quantity is None:
        return None
    if report.trade_price is None or report.trade_fee is None:
        return None
    return records.AccountTrade(
        id=report.trade_id,
        order_id=number,
        client_order_id=report.client_order_id,
        symbol=report.symbol,
        side=report.side,
        quantity=report.trade_quantity,
        price=report.trade_price,
        fee=report.trade_fee,
        timestamp=report.updated_at,
    )


def _left_out(account: Account, problems: Iterable[str]) -> None:
    for problem in list(problems)[:5]:
        _log.warning("trading_stream.left_out", account=account.pk, reason=problem)
