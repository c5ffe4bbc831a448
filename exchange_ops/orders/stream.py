"""What the trading stream tells of orders, trades and margin, taken into the same rows as the reading over REST.

Only what is newer counts, however often and in whichever order it is told. Source: supplement 1.4 and 1.5.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

import structlog

from exchange_ops.margin import refresh as margin
from exchange_ops.orders import machine, workflow
from exchange_ops.orders import records as order_records
from exchange_ops.orders import trades as order_trades
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


def take(*, account: Account, event: trading_session.Event, now: datetime) -> trading_session.Reports | None:
    """Store what an event of the session brought. Nothing that the exchange tells makes this fail.

    Gives the reports that came too early: of orders of ours whose worker is about to hear the answer. They are to be
    taken once more a moment later.
    """
    name = name_of(account)
    match event:
        case trading_session.Reports():
            return _take_reports(account, event, now)
        case trading_session.MarginAccounts():
            whole = event.whole and not event.unread
            problems = margin.apply(account=account, accounts=event.records, now=_as_of(event, now), complete=whole)
            _left_out(account, [*problems, *(f"A margin account: {one.reason}" for one in event.unread)])
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
    """Since when what is told is certainly so: a list says nothing of what happened after it was asked for."""
    return now - timedelta(milliseconds=event.age_ms)


def _take_reports(account: Account, event: trading_session.Reports, now: datetime) -> trading_session.Reports | None:
    as_of, problems = _as_of(event, now), [f"A report could not be read: {one.reason}" for one in event.unread]
    reports: list[tuple[records.Order, records.OrderReport]] = []
    for report in event.records:
        order = order_records.from_report(report)
        if order is None:
            problems.append(f"A report has the id {str(report.id)[:40]!r}, which is no number.")
        else:
            reports.append((order, report))
    listed = {order.id for order, _ in reports}
    taken = order_records.take(
        account=account,
        found=[order for order, _ in reports],
        open_numbers=listed if event.whole else frozenset(),
        margin=event.margin,
        now=as_of,
        details={order: _said(report) for order, report in reports},
    )
    in_time = [(order, report) for order, report in reports if order.id not in taken.early]
    problems += taken.problems + _take_trades(account, in_time, now)
    for order, report in in_time:
        if of := report.original_request_client_order_id:
            order_records.replaced(account=account, client_order_id=of, by=order, now=now)
    if event.whole:
        _compare(account, event, listed=listed, changed=taken.changed, as_of=as_of, now=now)
    _left_out(account, problems)
    early = tuple(report for order, report in reports if order.id in taken.early)
    return trading_session.Reports(event.margin, early, whole=False) if early else None


def _take_trades(
    account: Account, reports: Iterable[tuple[records.Order, records.OrderReport]], now: datetime
) -> list[str]:
    problems, trades = [], []
    for order, report in reports:
        if report.report_type == TRADE:
            trade = _trade(report, order.id)
            if trade is None:
                problems.append(f"A report of a trade of order {order.id} does not tell the trade.")
            else:
                trades.append(trade)
    if trades:
        problems += order_trades.take(account=account, found=trades, now=now).problems
    return problems


def _compare(
    account: Account, event: trading_session.Reports, *, listed: set[int], changed: int, as_of: datetime, now: datetime
) -> None:
    """What a list shows beside its records: how many reports were lost on their way, and what is no longer active.

    How an order ended that is not listed any more stands in the history alone, so a reading is asked for.
    """
    rows = Order.objects.filter(account=account, margin=event.margin, active=True, read_at__lt=as_of)
    rows = rows.exclude(exchange_id__in=listed).exclude(state=machine.CANCELLING)
    missing = 0 if event.unread else rows.count()
    if missing:
        workflow.ask_to_read(account=account, person=None, now=now)
    if _is_live(account):
        stream_states.closed_gaps(name_of(account), count=changed + missing, account=account)


def _is_live(account: Account) -> bool:
    return FollowerState.objects.filter(name=name_of(account), connected=True).exists()


def _said(report: records.OrderReport) -> dict[str, object]:
    """What a report tells that no column of the order keeps."""
    said = {
        "report": None if report.report_type == STATUS else report.report_type,
        "replaces": report.original_request_client_order_id,
        "position": report.trade_position_id,
    }
    texts = {name: value[:LONGEST_WORD] if isinstance(value, str) else value for name, value in said.items()}
    return {name: value for name, value in texts.items() if value is not None}


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
