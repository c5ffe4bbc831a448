"""What the exchange says of orders and trades, taken into our rows: only what is newer, however often it is told.

An order ends once: a listing that was read before its end never opens it again. Statuses, sides and types that nobody
knows are kept as they came. Source: exchange REST, Order; supplement 2.8.
"""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q

from desk import live
from desk.fields import plain
from exchange_ops.domain import order_moves
from exchange_ops.domain.balances import storable
from exchange_ops.domain.lifecycle import texts
from exchange_ops.models import Account, AccountTrade, Order, OrderEvent, order_states
from exchange_ops.wire import records

ACTIVE_STATUSES = frozenset({"new", "suspended", "partiallyFilled"})
LONGEST_ID = 64
PRICE_PLACES = Decimal(1).scaleb(-12)
_FIRST, _LAST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)
_WITHOUT_NUMBER = (order_states.UNKNOWN, order_states.NOT_SEEN, order_states.REFUSED, order_states.NOT_SENT)
_LENGTHS = (("client_order_id", LONGEST_ID), ("symbol", 40), ("side", 10), ("type", 20), ("time_in_force", 10))


@dataclass(frozen=True, slots=True)
class _Reading:
    """One listing: whose, which orders the list of active ones had, whether they are on margin, when it was read."""

    account: Account
    open_numbers: AbstractSet[int]
    margin: bool
    now: datetime


@dataclass(slots=True)
class Taken:
    """What came of a listing: how many rows changed, and what could not be kept."""

    changed: int = 0
    problems: list[str] = field(default_factory=list)


def take(
    *,
    account: Account,
    found: Iterable[records.Order],
    now: datetime,
    open_numbers: AbstractSet[int] = frozenset(),
    margin: bool = False,
) -> Taken:
    """Keep orders of one listing, read at `now`; `open_numbers` are those that the list of active orders has."""
    done, reading = Taken(), _Reading(account, open_numbers, margin, now)
    sound = []
    for record in found:
        if reason := unstorable(record):
            done.problems.append(f"Order {record.id} could not be kept: {reason}.")
        else:
            sound.append(record)
    listed = Order.objects.filter(account=account, exchange_id__in=[record.id for record in sound])
    known = {row.exchange_id: row for row in listed}
    for record in sound:
        done.changed += _take_one(known.get(record.id), record, reading)
    listed.all().exclude(read_at__gte=now).update(read_at=now, missing_since=None)
    return done


def take_trades(*, account: Account, found: Sequence[records.AccountTrade], now: datetime) -> Taken:
    """Keep trades that are new. A trade never changes, so one that is known stays as it is."""
    done, sound = Taken(), []
    for trade in found:
        if reason := _unstorable_trade(trade):
            done.problems.append(f"Trade {trade.id} could not be kept: {reason}.")
        else:
            sound.append(_trade(account, trade, now))
    known = set(
        AccountTrade.objects.filter(
            account=account, exchange_id__in=[trade.exchange_id for trade in sound]
        ).values_list("exchange_id", flat=True)
    )
    new = [trade for trade in sound if trade.exchange_id not in known]
    AccountTrade.objects.bulk_create(new, ignore_conflicts=True)
    done.changed = len(new)
    _tell_averages(account, {trade.exchange_order_id for trade in new})
    return done


def take_report(*, account: Account, order: records.Order, now: datetime) -> None:
    """Keep the trades that the answer to a new order tells of: it met them at once, so it took (supplement 2.8)."""
    told = [
        records.AccountTrade(
            id=trade.id,
            order_id=order.id,
            client_order_id=order.client_order_id,
            symbol=order.symbol,
            side=order.side,
            quantity=trade.quantity,
            price=trade.price,
            fee=trade.fee,
            timestamp=trade.timestamp,
            taker=True,
        )
        for trade in order.trades_report or ()
    ]
    if told:
        take_trades(account=account, found=told, now=now)


def observed(record: records.Order, *, now: datetime) -> dict[str, Any]:
    """The columns that the exchange's record of an order fills."""
    columns: dict[str, Any] = {
        "status": record.status[:40],
        "exchange_created_at": record.created_at,
        "exchange_updated_at": record.updated_at,
        "active": record.status in ACTIVE_STATUSES,
        "missing_since": None,
        "read_at": now,
    }
    if record.cum_quantity is not None:
        columns["cum_quantity"] = record.cum_quantity
    if record.avg_price:  # zero says that nothing was filled
        columns["average_price"] = record.avg_price
    return columns


def differences(order: Order, record: records.Order) -> str:
    """A sentence when the exchange lists our order otherwise than it was asked for, else an empty text."""
    pairs = [(name, getattr(order, name), getattr(record, name)) for name in ("symbol", "side", "type")]
    if record.quantity:  # samples of cancelled orders carry zero there
        pairs.append(("quantity", order.quantity, record.quantity))
    if order.price is not None and record.price is not None:
        pairs.append(("price", order.price, record.price))
    odd = [f"{name} {theirs} instead of {ours}" for name, ours, theirs in pairs if ours != theirs]
    return f"The exchange lists it otherwise than it was asked for: {', '.join(odd)}."[:500] if odd else ""


def unstorable(record: records.Order) -> str:
    """Why the columns would not take this record, or an empty text."""
    amounts = (record.quantity, record.cum_quantity, record.price, record.stop_price, record.avg_price)
    times = (record.created_at, record.updated_at, record.expire_time)
    reasons = [
        (0 < record.id < 2**63, "its number is out of bounds"),
        (all(len(getattr(record, name)) <= most for name, most in _LENGTHS), "a word in it is too long"),
        (all(amount is None or storable(amount) for amount in amounts), "a figure has more digits than any currency"),
        (all(time is None or _FIRST <= time < _LAST for time in times), "its times are out of bounds"),
        ("\0" not in record.client_order_id + record.symbol + record.status, "it has characters that no text has"),
    ]
    return next((reason for holds, reason in reasons if not holds), "")


def _take_one(row: Order | None, record: records.Order, reading: _Reading) -> bool:
    if row is None:
        row = Order.objects.filter(
            account=reading.account, client_order_id=record.client_order_id, exchange_id=None, initiator__isnull=False
        ).first()
        if row is not None and row.state in _WITHOUT_NUMBER:
            return found_again(row, record, now=reading.now)
        if row is not None:
            return False  # its worker is about to hear of it
        return _enter(record, reading)
    return _renew(row, record, reading)


def found_again(row: Order, record: records.Order, *, now: datetime, looks: int | None = None) -> bool:
    """An order of ours whose outcome we didn't know, or knew wrongly, is there. False when somebody else moved it."""
    try:
        order_moves.move(
            row,
            event="found",
            to=order_states.FOUND,
            now=now,
            exchange_id=record.id,
            last_problem=differences(row, record),
            evidence=texts({"exchange_id": record.id, "status": record.status, "filled": record.cum_quantity}),
            **(observed(record, now=now) | ({} if looks is None else {"looks": looks})),
        )
    except order_moves.CannotMove:
        return False
    return True


def _enter(record: records.Order, reading: _Reading) -> bool:
    """An order that was placed elsewhere."""
    row = Order(
        account=reading.account,
        initiator=None,
        initiated_via="elsewhere",
        client_order_id=record.client_order_id,
        exchange_id=record.id,
        symbol=record.symbol,
        side=record.side,
        type=record.type,
        time_in_force=record.time_in_force,
        quantity=record.quantity,
        price=record.price,
        stop_price=record.stop_price,
        expire_time=record.expire_time,
        post_only=bool(record.post_only),
        **_read(record, reading),
    )
    try:
        with transaction.atomic():
            order_moves.create_seen(order=row, evidence={"status": record.status}, now=reading.now)
    except IntegrityError:
        return False  # another reader was first
    return True


def _read(record: records.Order, reading: _Reading) -> dict[str, Any]:
    """What was observed; an order in the list of active ones is open, whatever its status is called."""
    columns = observed(record, now=reading.now)
    if record.id in reading.open_numbers and record.status not in order_states.ENDED:
        columns["active"] = True
    if reading.margin:  # the history does not say so, and may have been first to tell of it
        columns["margin"] = True
    return columns


def _renew(row: Order, record: records.Order, reading: _Reading) -> bool:
    """Bring the row up to this record when it is newer, and note what changed."""
    columns = _read(record, reading)
    told = ("status", "cum_quantity", "average_price", "active", "margin")
    changes = {name: columns[name] for name in told if name in columns and getattr(row, name) != columns[name]}
    if row.exchange_updated_at == record.updated_at and (not changes or _fell(row, record)):
        return False
    newer = Q(exchange_updated_at=None) | Q(exchange_updated_at__lt=record.updated_at)
    same = Q(exchange_updated_at=record.updated_at) & (Q(active=True) | Q(average_price=None))
    if row.status in order_states.ENDED:
        columns["active"] = False
        if record.status not in order_states.ENDED:
            return False
    with transaction.atomic():
        if not Order.objects.filter(newer | same, pk=row.pk).update(**columns):
            return False
        if changes:
            note(row, {name: columns[name] for name in changes}, now=reading.now)
    return bool(changes)


def _fell(row: Order, record: records.Order) -> bool:
    """Whether the record has less filled than the row: then it is the older of two of the same millisecond."""
    return row.cum_quantity is not None and record.cum_quantity is not None and record.cum_quantity < row.cum_quantity


def note(row: Order, told: dict[str, Any], *, now: datetime) -> None:
    """A line of the order's timeline for what the exchange told, and a hint to who looks at it."""
    OrderEvent.objects.create(
        order_id=row.pk, event="observed", from_state=row.state, to_state=row.state, evidence=texts(told), at=now
    )
    live.announce(row.subject)
    live.announce(order_moves.TOPIC, id=row.pk)


def _trade(account: Account, trade: records.AccountTrade, now: datetime) -> AccountTrade:
    return AccountTrade(
        account=account,
        exchange_id=trade.id,
        exchange_order_id=trade.order_id,
        client_order_id=trade.client_order_id,
        symbol=trade.symbol,
        side=trade.side,
        quantity=trade.quantity,
        price=trade.price,
        fee=trade.fee,
        taker=trade.taker,
        liquidation=trade.liquidation,
        timestamp=trade.timestamp,
        read_at=now,
    )


def _unstorable_trade(trade: records.AccountTrade) -> str:
    lengths = len(trade.client_order_id) <= LONGEST_ID and len(trade.symbol) <= 40 and len(trade.side) <= 10
    amounts = all(storable(amount) for amount in (trade.quantity, trade.price, trade.fee))
    reasons = [
        (0 < trade.id < 2**63 and 0 < trade.order_id < 2**63, "its number is out of bounds"),
        (lengths and "\0" not in trade.client_order_id + trade.symbol, "a word in it is too long"),
        (amounts, "a figure has more digits than any currency"),
        (_FIRST <= trade.timestamp < _LAST, "its time is out of bounds"),
    ]
    return next((reason for holds, reason in reasons if not holds), "")


def _tell_averages(account: Account, numbers: set[int]) -> None:
    """The average price of what was filled, reckoned from the trades themselves where the exchange told none."""
    trades: dict[int, list[AccountTrade]] = {}
    for trade in AccountTrade.objects.filter(account=account, exchange_order_id__in=numbers):
        trades.setdefault(trade.exchange_order_id, []).append(trade)
    for row in Order.objects.filter(account=account, exchange_id__in=numbers):
        met = trades.get(row.exchange_id or 0, [])
        quantity = sum((trade.quantity for trade in met), Decimal(0))
        if quantity and (row.average_price is None or row.active):
            value = sum((trade.quantity * trade.price for trade in met), Decimal(0))
            average = plain((value / quantity).quantize(PRICE_PLACES))
            Order.objects.filter(pk=row.pk).update(average_price=average)
        live.announce(row.subject)
        live.announce(order_moves.TOPIC, id=row.pk)
