"""Stores what the trading stream reports of orders, trades and margin, in the same rows as the reading over REST.

Only newer reports count, however often and in whichever order they arrive. Source: supplement 1.4 and 1.5.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

import structlog

from desk import clock
from exchange_ops.margin import refresh
from exchange_ops.orders import records as order_records
from exchange_ops.orders import states, trades, workflow
from exchange_ops.orders.models import Order
from exchange_ops.shared import stream_states
from exchange_ops.shared.models import Account, FollowerState
from exchange_ops.wire import records, trading_session
from exchange_ops.wire.conversation import BecameLive, Ended, Odd

TRADE, STATUS = "trade", "status"  # of the types of a report (supplement 1.4)
LONGEST_WORD = 64
_log = structlog.get_logger(__name__)


def name_of(account: Account) -> str:
    """The name of the account's trading stream among the followers."""
    return stream_states.trading_name(account)


def store(*, account: Account, event: trading_session.Event, now: datetime) -> trading_session.Reports | None:
    """Store what an event of the session brought. No message of the exchange makes this fail.

    Gives the reports that came too early: those of our orders whose worker is about to hear the answer. The caller
    passes them in again a moment later.
    """
    name = name_of(account)
    match event:
        case trading_session.Reports():
            return _store_reports(account, event, now)
        case trading_session.MarginAccounts():
            is_complete = event.is_complete and not event.unread
            problems = refresh.apply(
                account=account, accounts=event.records, now=_as_of(event, now), complete=is_complete
            )
            _log_problems(account, [*problems, *(f"A margin account: {one.reason}" for one in event.unread)])
        case trading_session.NoMargin():
            _log.info("trading_stream.no_margin", account=account.pk, reason=event.sentence)
        case BecameLive():
            stream_states.became_live(name, now=now, account=account)
        case Odd():
            _log.warning("trading_stream.odd", account=account.pk, reason=event.sentence)
        case Ended():
            stream_states.ended(name, sentence=event.sentence, now=now, account=account)
    return None


def _as_of(event: trading_session.Reports | trading_session.MarginAccounts, now: datetime) -> datetime:
    """The moment for which the event certainly holds: a list says nothing of what happened after it was requested."""
    return now - timedelta(milliseconds=event.age_ms)


def _store_reports(account: Account, event: trading_session.Reports, now: datetime) -> trading_session.Reports | None:
    as_of = _as_of(event, now)
    problems = [f"An order report could not be processed: {one.reason}" for one in event.unread]
    reports: list[tuple[records.Order, records.OrderReport]] = []
    for report in event.records:
        order = order_records.from_report(report)
        if order is None:
            problems.append(f"An order report has a non-numeric ID: {str(report.id)[:40]!r}.")
        else:
            reports.append((order, report))
    listed = {order.id for order, _ in reports}
    intake = order_records.store(
        account=account,
        orders=[order for order, _ in reports],
        open_numbers=listed if event.is_complete else frozenset(),
        margin=event.margin,
        now=as_of,
        details={order: _details(report) for order, report in reports},
    )
    in_time = [(order, report) for order, report in reports if order.id not in intake.early]
    problems += intake.problems + _store_trades(account, in_time, now)
    for order, report in in_time:
        if replaced_id := report.original_request_client_order_id:
            order_records.end_replaced(account=account, client_order_id=replaced_id, by=order, now=now)
    if event.is_complete:
        _compare(account, event, listed=listed, changed=intake.changed, as_of=as_of, now=now)
    _log_problems(account, problems)
    early = tuple(report for order, report in reports if order.id in intake.early)
    return trading_session.Reports(event.margin, early, is_complete=False) if early else None


def _store_trades(
    account: Account, reports: Iterable[tuple[records.Order, records.OrderReport]], now: datetime
) -> list[str]:
    problems, fills = [], []
    for order, report in reports:
        if report.report_type == TRADE:
            trade = _trade(report, order.id)
            if trade is None:
                problems.append(f"A trade report for order {order.id} is missing the trade's details.")
            else:
                fills.append(trade)
    if fills:
        problems += trades.store(account=account, trades=fills, now=now).problems
    return problems


def _compare(
    account: Account, event: trading_session.Reports, *, listed: set[int], changed: int, as_of: datetime, now: datetime
) -> None:
    """What a list reveals beyond its records: how many reports were lost on the way, and what is no longer active.

    Only the history says how an order ended that is no longer listed, so a reading is requested.
    """
    older = clock.older("read_at", as_of, now=clock.now())
    rows = Order.objects.filter(older, account=account, margin=event.margin, active=True)
    rows = rows.exclude(exchange_id__in=listed).exclude(state=states.CANCELLING)
    missing = 0 if event.unread else rows.count()
    if missing:
        workflow.ask_to_read(account=account, person=None, now=now)
    if _is_live(account):
        stream_states.closed_gaps(name_of(account), count=changed + missing, account=account)


def _is_live(account: Account) -> bool:
    return FollowerState.objects.filter(name=name_of(account), connected=True).exists()


def _details(report: records.OrderReport) -> dict[str, object]:
    """What a report says that no column of the order stores."""
    members = {
        "report": None if report.report_type == STATUS else report.report_type,
        "replaces": report.original_request_client_order_id,
        "position": report.trade_position_id,
    }
    texts = {name: value[:LONGEST_WORD] if isinstance(value, str) else value for name, value in members.items()}
    return {name: value for name, value in texts.items() if value is not None}


def _trade(report: records.OrderReport, number: int) -> records.AccountTrade | None:
    """The trade of a report; None when it lacks a figure. The stream does not say who took."""
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


def _log_problems(account: Account, problems: Iterable[str]) -> None:
    for problem in list(problems)[:5]:
        _log.warning("trading_stream.left_out", account=account.pk, reason=problem)
