"""Finding out whether an order whose answer was lost exists: by its id, among the active orders, then in the history.

“Order not found” also means finished or not yet visible, so it is looked for again and again; only after three looks
and a minute it counts as not seen. It is never sent again, and every later reading of the lists may still find it.
"""

from contextlib import ExitStack
from datetime import datetime, timedelta

from exchange_ops.client.sightings import Sight, Sighting, look_for_order
from exchange_ops.keys import clients
from exchange_ops.keys import store as keys
from exchange_ops.keys.clients import ClientFor
from exchange_ops.orders import machine, records, states
from exchange_ops.orders.models import Order
from exchange_ops.shared.backoff import READ_PAUSES_S, pause
from exchange_ops.wire.catalogue import Right
from wire.errors import CallFailed
from wire.operation import BadArgument


def step(row: Order, *, now: datetime, client_for: ClientFor) -> None:
    """Rows 9 and 10: one look."""
    try:
        sighting = _look(row, now, client_for)
    except (CallFailed, BadArgument, keys.NoUsableKey) as problem:
        reason = f"The exchange could not be asked for it: {problem}"[:500]
        machine.touch(row, next_action_at=now + pause(READ_PAUSES_S, row.looks + 1), last_problem=reason)
        return
    if sighting.order is not None and not records.unstorable(sighting.order):
        records.mark_found(row, sighting.order, now=now, looks=sighting.looks)
    elif sighting.sight is Sight.ABSENT:
        machine.move(
            row, event="not_seen", to=states.NOT_SEEN, now=now, looks=sighting.looks,
            evidence={"looks": sighting.looks, "sent_at": row.sent_at},
        )  # fmt: skip
    else:
        pauses = pause(READ_PAUSES_S, sighting.looks)
        machine.touch(row, looks=sighting.looks, next_action_at=now + pauses)


def _look(row: Order, now: datetime, client_for: ClientFor) -> Sighting:
    """How long ago it was sent is measured by our clock alone; when it was made, by the exchange's."""
    sent_at, sent_from = row.sent_at or row.created_at, row.sent_from or row.created_at
    with ExitStack() as open_clients:
        orders = open_clients.enter_context(clients.client(client_for, account=row.account, right=Right.ORDERS))
        history = open_clients.enter_context(clients.client(client_for, account=row.account, right=Right.HISTORY))
        return look_for_order(
            orders,
            history=history,
            client_order_id=row.client_order_id,
            sent_at=sent_from,
            now=sent_from + max(now - sent_at, timedelta(0)),
            looks_before=row.looks,
            margin=row.margin,
        )
