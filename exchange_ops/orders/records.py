"""The exchange's records of orders, stored in our rows: only newer ones count, whoever brings them and however often.

A record is newer when the exchange changed it later; of two from one millisecond, the one further in the order's life
is. An order ends once: a listing that was read before its end never reopens it. Unknown statuses, sides and types are
stored as they came. Source: exchange REST, Order; supplement 1.4 and 2.8.
"""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q

from desk import clock
from desk.live import announcements
from desk.machines.mover import texts
from desk.models import DatabaseMark
from desk.restores import signs
from desk.restores import states as restores
from exchange_ops.orders import client_order_ids, machine, states
from exchange_ops.orders.models import Order, OrderEvent
from exchange_ops.shared.amounts import storable
from exchange_ops.shared.models import Account
from exchange_ops.wire import records
from exchange_ops.wire.new_orders import terms_of

ACTIVE_STATUSES = frozenset({"new", "suspended", "partiallyFilled"})
LONGEST_ID = 64
# How far in its life an order is by its status; unknown statuses are not among them.
_PROGRESS = {"suspended": 0, "new": 1, "partiallyFilled": 2, "filled": 3, "canceled": 3, "expired": 3}
_LAST_STEP = max(_PROGRESS.values())
ZERO = Decimal(0)
FIRST, LAST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)
_NOT_SENT_YET = (states.REQUESTED, states.WAITING, states.DECLINED, states.WITHDRAWN, states.LAPSED)
_WITHOUT_NUMBER = (states.UNKNOWN, states.NOT_SEEN, states.REFUSED, states.NOT_SENT, *_NOT_SENT_YET)
_LENGTHS = (("client_order_id", LONGEST_ID), ("symbol", 40), ("side", 10), ("type", 20), ("time_in_force", 10))


@dataclass(frozen=True, slots=True)
class _Reading:
    """One listing: its account, the orders in the list of active ones, whether they are on margin, when it was read."""

    account: Account
    open_numbers: AbstractSet[int]
    margin: bool
    now: datetime
    details: Mapping[records.Order, Mapping[str, Any]]


@dataclass(slots=True)
class Intake:
    """The result of storing a listing: how many rows changed, what could not be stored, which orders came too early.

    The orders in `early` are ours and being sent: their worker is about to hear the exchange's answer.
    """

    changed: int = 0
    problems: list[str] = field(default_factory=list)
    early: set[int] = field(default_factory=set)


def store(
    *,
    account: Account,
    orders: Iterable[records.Order],
    now: datetime,
    open_numbers: AbstractSet[int] = frozenset(),
    margin: bool = False,
    details: Mapping[records.Order, Mapping[str, Any]] | None = None,
) -> Intake:
    """Store the orders of a listing that was read at `now`; `open_numbers` are those in the list of active orders.

    `details` is what else came with a record; the order's timeline shows it beside the change.
    """
    intake, reading = Intake(), _Reading(account, open_numbers, margin, now, details or {})
    newest: dict[int, records.Order] = {}
    for record in orders:
        if reason := unstorable(record):
            intake.problems.append(f"Order {record.id} could not be recorded: {reason}.")
        elif record.id not in newest or _place(record) >= _place(newest[record.id]):
            newest[record.id] = record
    listed = Order.objects.filter(account=account, exchange_id__in=list(newest))
    rows = {row.exchange_id: row for row in listed}
    for record in newest.values():
        _store_one(rows.get(record.id), record, reading, intake)
    if rows:
        earlier = Q(read_at=None) | clock.older("read_at", now, now=clock.now())
        listed.filter(earlier).update(read_at=now, missing_since=None)
    return intake


def observed_columns(record: records.Order, *, now: datetime) -> dict[str, Any]:
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


def from_report(report: records.OrderReport) -> records.Order | None:
    """The order in a socket's report; None where its id, a text on the spot stream, is no number."""
    number = report.id
    if not isinstance(number, int):
        if not (number.isascii() and number.isdigit() and len(number) <= 19):
            return None
        number = int(number)
    return records.Order(
        id=number,
        client_order_id=report.client_order_id,
        status=report.status,
        created_at=report.created_at,
        updated_at=report.updated_at,
        cum_quantity=report.cum_quantity,
        post_only=report.post_only,
        **terms_of(report),
    )


def differences(order: Order, record: records.Order) -> str:
    """A sentence where the exchange lists our order with other terms than requested, else an empty text."""
    pairs = [(name, getattr(order, name), getattr(record, name)) for name in ("symbol", "side", "type")]
    if record.quantity:  # samples of cancelled orders carry zero there
        pairs.append(("quantity", order.quantity, record.quantity))
    if order.price is not None and record.price is not None:
        pairs.append(("price", order.price, record.price))
    odd = [f"{name} {theirs} instead of {ours}" for name, ours, theirs in pairs if ours != theirs]
    return f"The order on the exchange differs from the request: {', '.join(odd)}."[:500] if odd else ""


def unstorable(record: records.Order) -> str:
    """Why this record does not fit our columns, or an empty text."""
    amounts = (record.quantity, record.cum_quantity, record.price, record.stop_price, record.avg_price)
    times = (record.created_at, record.updated_at, record.expire_time)
    reasons = [
        (0 < record.id < 2**63, "its ID is out of range"),
        (all(len(getattr(record, name)) <= most for name, most in _LENGTHS), "a text field is too long"),
        (all(amount is None or storable(amount) for amount in amounts), "a number has too many digits"),
        (all(time is None or FIRST <= time < LAST for time in times), "its times are out of range"),
        ("\0" not in record.client_order_id + record.symbol + record.status, "it contains invalid characters"),
    ]
    return next((reason for holds, reason in reasons if not holds), "")


def _store_one(row: Order | None, record: records.Order, reading: _Reading, intake: Intake) -> None:
    if row is None and (ours := _without_number(record, reading)) is not None:
        if ours.state not in _WITHOUT_NUMBER:
            intake.early.add(record.id)
            return
        is_lost = not ours.sends  # it was sent, and not by these rows
        if mark_found(ours, record, now=reading.now):
            intake.changed += 1
            if is_lost:
                _notice_own(record, reading.now)
            return
        row = _by_number(record, reading)  # another reader found it in this moment, and its record may be older
    elif row is None:
        row = _insert(record, reading)
        if row is None:
            intake.changed += 1
            return
    if row is not None:
        intake.changed += _renew(row, record, reading)


def _by_number(record: records.Order, reading: _Reading) -> Order | None:
    return Order.objects.filter(account=reading.account, exchange_id=record.id).first()


def _without_number(record: records.Order, reading: _Reading) -> Order | None:
    """Our order with this id, while the exchange's number of it is not known."""
    rows = Order.objects.filter(account=reading.account, client_order_id=record.client_order_id, exchange_id=None)
    return rows.filter(initiator__isnull=False).first()


def end_replaced(*, account: Account, client_order_id: str, by: records.Order, now: datetime) -> bool:
    """End the order that `by` replaced: it is cancelled, and what it had filled was carried over to the new one.

    The new one has the old one's creation time as well. False when no open order of that id is as old (supplement 1.4).
    """
    rows = Order.objects.filter(account=account, client_order_id=client_order_id, active=True, exchange_id__lt=by.id)
    row = rows.exclude(exchange_created_at__gt=by.created_at).first()
    if row is None:
        return False
    columns = {"status": "canceled", "active": False}
    facts = {**columns, "replaced_by": by.client_order_id}
    with transaction.atomic():
        row = machine.lock(row.pk)
        if not row.active:
            return False
        if row.state == states.CANCELLING:
            return _confirm_cancel(row, columns, facts, now=now)
        if Order.objects.filter(pk=row.pk, version=row.version).update(**columns):
            note(row, facts, now=now)
    return True


def mark_found(row: Order, record: records.Order, *, now: datetime, looks: int | None = None) -> bool:
    """Our order whose outcome was unknown or wrong exists: move it. False when somebody else moved it meanwhile."""
    try:
        machine.move(
            row,
            event="found",
            to=states.FOUND,
            now=now,
            exchange_id=record.id,
            last_problem=differences(row, record),
            evidence=texts({"exchange_id": record.id, "status": record.status, "filled": record.cum_quantity}),
            **(observed_columns(record, now=now) | ({} if looks is None else {"looks": looks})),
        )
    except machine.CannotMove:
        return False
    return True


def _insert(record: records.Order, reading: _Reading) -> Order | None:
    """Store an order that was placed elsewhere; gives its row when another reader was first."""
    row = Order(
        account=reading.account,
        initiator=None,
        initiated_via="elsewhere",
        client_order_id=record.client_order_id,
        exchange_id=record.id,
        post_only=bool(record.post_only),
        **terms_of(record),
        **_columns(record, reading),
    )
    try:
        with transaction.atomic():
            evidence = {"status": record.status} | dict(reading.details.get(record, {}))
            machine.MACHINE.create_unrecorded(
                row, event="seen_elsewhere", to=states.PLACED, evidence=evidence, now=reading.now
            )
    except IntegrityError:
        return _by_number(record, reading)
    _notice_own(record, reading.now)
    return None


def _notice_own(record: records.Order, now: datetime) -> None:
    """This desk placed an order of which its rows know nothing: then they are those of an earlier moment."""
    began = DatabaseMark.objects.values_list("made_at", flat=True).first()
    if began is not None and record.created_at >= began and client_order_ids.is_ours(record.client_order_id):
        facts = {"client_order_id": record.client_order_id, "created_at": record.created_at.isoformat()}
        signs.notice(signs.Sign(restores.EXCHANGE, facts, before=record.created_at), now=now)


def _columns(record: records.Order, reading: _Reading) -> dict[str, Any]:
    """The observed columns; an order in the list of active ones is open, whatever its status."""
    columns = observed_columns(record, now=reading.now)
    if record.id in reading.open_numbers and record.status not in states.ENDED:
        columns["active"] = True
    if reading.margin:  # the history does not say so and may have been read first
        columns["margin"] = True
    return columns


def _columns_of(row: Order, record: records.Order, reading: _Reading) -> dict[str, Any]:
    """The observed columns for this row; whether our own order is on margin stays as requested."""
    columns = _columns(record, reading)
    if row.initiator_id is not None:
        columns.pop("margin", None)
    return columns


def _renew(row: Order, record: records.Order, reading: _Reading) -> bool:
    """Update the row from a newer record, and note what changed."""
    if not _changes(row, record, reading):
        return False
    with transaction.atomic():
        row = machine.lock(row.pk)  # the copy read before may be old by now: the locked row decides
        changes = _changes(row, record, reading)
        if not changes:
            return False
        evidence = {name: value for name, value in changes.items() if name != "exchange_updated_at"}
        facts = evidence | dict(reading.details.get(record, {}))
        if row.state == states.CANCELLING and record.status in states.ENDED:
            return _confirm_cancel(row, _columns_of(row, record, reading), facts, now=reading.now)
        written = Order.objects.filter(pk=row.pk, version=row.version).update(**_columns_of(row, record, reading))
        if written and evidence:
            note(row, facts, now=reading.now)
    return bool(written and evidence)


def _confirm_cancel(row: Order, columns: dict[str, Any], evidence: dict[str, Any], *, now: datetime) -> bool:
    """Row 16: the order being cancelled is over; the worker that cancels it notices by its version."""
    try:
        machine.move(
            row, event="cancel_confirmed", to=states.PLACED, now=now,
            evidence=evidence, **(columns | {"last_problem": ""}),
        )  # fmt: skip
    except machine.CannotMove:
        return False
    return True


def _changes(row: Order, record: records.Order, reading: _Reading) -> dict[str, Any]:
    """The columns that this record changes; none when the row is as new or newer."""
    columns = _columns_of(row, record, reading)
    names = ("status", "cum_quantity", "average_price", "active", "margin", "exchange_updated_at")
    changes = {name: columns[name] for name in names if name in columns and getattr(row, name) != columns[name]}
    if row.exchange_updated_at is not None and record.updated_at < row.exchange_updated_at:
        return {}
    if row.status in states.ENDED and record.status not in states.ENDED:
        return {}
    if record.updated_at == row.exchange_updated_at and _is_further(row, record):
        return {}
    return changes


def _place(record: records.Order) -> tuple[bool, datetime, Decimal, int]:
    """Sorts the records of one order: an end comes last, then the later change, then the larger fill and progress."""
    is_over = record.status in states.ENDED
    return is_over, record.updated_at, record.cum_quantity or ZERO, _PROGRESS.get(record.status, _LAST_STEP)


def _is_further(row: Order, record: records.Order) -> bool:
    """Whether the row is further in the order's life than a record of the same millisecond."""
    filled: Decimal = row.cum_quantity
    if record.cum_quantity is not None and record.cum_quantity != filled:
        return record.cum_quantity < filled
    return _PROGRESS.get(row.status, 0) > _PROGRESS.get(record.status, _LAST_STEP)


def note(row: Order, evidence: dict[str, Any], *, now: datetime) -> None:
    """Write a line of the order's timeline about a record of the exchange, and hint at it to open pages."""
    OrderEvent.objects.create(
        order_id=row.pk, event="observed", from_state=row.state, to_state=row.state, evidence=texts(evidence), at=now
    )
    announcements.announce(row.subject)
    announcements.announce(machine.TOPIC, id=row.pk)
