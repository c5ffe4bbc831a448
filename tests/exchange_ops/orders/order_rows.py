"""Orders for the tests of pages, made by the mover itself, without an exchange."""

import uuid
from datetime import datetime
from decimal import Decimal
from itertools import count
from typing import Any

from exchange_ops.orders import machine, request_checks
from exchange_ops.orders import records as order_records
from exchange_ops.orders.models import Order
from exchange_ops.policy import quorum as policy
from exchange_ops.policy.models import PolicyVersion, QuorumTier, ValueLimit
from exchange_ops.wire import records
from tests.exchange_ops import rows
from tests.exchange_ops.orders.dealings import placed_knowingly

SYMBOL = "BCHUSD"
_numbers = count(340_000_000_001)


def market(*, now: datetime) -> None:
    """A symbol with a price, and money in the trading wallet."""
    rows.account(now=now)
    rows.price(now=now)
    rows.balance("BCH", trading="10", now=now)
    rows.balance("USD", trading="10000", now=now)


def requested(person: Any, *, now: datetime, **changes: Any) -> Order:
    """An order that was only asked for."""
    wanted = {
        "symbol": SYMBOL,
        "side": "buy",
        "type": "limit",
        "time_in_force": "GTC",
        "quantity": Decimal("0.5"),
        "price": Decimal("400"),
    }
    return placed_knowingly(
        initiator=person,
        account=rows.account(now=now),
        requested=request_checks.OrderRequest(**(wanted | changes)),
        request_key=str(uuid.uuid4()),
        now=now,
    )


def limit_for_approval(*, most: Decimal, now: datetime) -> None:
    """The next rules: an order that is worth more needs an approval."""
    policy.ensure_first(now=now)
    version = PolicyVersion.objects.create(number=policy.current().number + 1, published_at=now)
    for up_to, approvals, mode in policy.FIRST_TIERS:
        QuorumTier.objects.create(policy=version, up_to=up_to, approvals=approvals, mode=mode)
    ValueLimit.objects.create(policy=version, kind="order", most=most, beyond="approve")


def waiting(person: Any, *, now: datetime, **changes: Any) -> Order:
    """An order beyond the person's limit, which waits for an approval."""
    limit_for_approval(most=Decimal(100), now=now)
    row = requested(person, now=now, **changes)
    assert row.state == "waiting"
    return row


def answer(row: Order, *, now: datetime, **changes: Any) -> records.Order:
    """What the exchange would say of it."""
    values = {
        "id": next(_numbers),
        "client_order_id": row.client_order_id,
        "symbol": row.symbol,
        "side": row.side,
        "status": "new",
        "type": row.type,
        "time_in_force": row.time_in_force,
        "quantity": row.quantity,
        "price": row.price,
        "cum_quantity": Decimal(0),
        "created_at": now,
        "updated_at": now,
    }
    return records.Order(**(values | changes))


def sent(person: Any, *, now: datetime, **changes: Any) -> Order:
    """An order that a worker has in its hands."""
    row = requested(person, now=now, **changes)
    return machine.move(row, event="claimed", to="sending", now=now, sends=1, sent_at=now, sent_from=now)


def placed(person: Any, *, now: datetime, status: str = "new", filled: str = "0", **changes: Any) -> Order:
    """An order that the exchange has."""
    row = sent(person, now=now, **changes)
    record = answer(row, now=now, status=status, cum_quantity=Decimal(filled))
    return machine.move(
        row,
        event="accepted",
        to="placed",
        now=now,
        exchange_id=record.id,
        **order_records.observed_columns(record, now=now),
    )


def elsewhere(*, now: datetime, number: int = 0, **changes: Any) -> Order:
    """An order that nobody placed here."""
    values = {
        "id": number or next(_numbers),
        "client_order_id": f"theirs-{uuid.uuid4().hex[:8]}",
        "symbol": SYMBOL,
        "side": "sell",
        "status": "new",
        "type": "limit",
        "time_in_force": "GTC",
        "quantity": Decimal(1),
        "price": Decimal(600),
        "cum_quantity": Decimal(0),
        "created_at": now,
        "updated_at": now,
    }
    record = records.Order(**(values | changes))
    order_records.store(account=rows.account(now=now), orders=[record], now=now)
    return Order.objects.get(exchange_id=record.id)
