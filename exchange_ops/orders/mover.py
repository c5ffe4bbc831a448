"""Moving orders: their machine. Its table is `machine`."""

from desk.machines.mover import CannotMove, Machine
from exchange_ops.orders.models import Order, OrderEvent

__all__ = ["CannotMove", "create", "lock", "move", "touch"]

ADVANCE_TASK = "exchange_ops.advance_order"
TOPIC = "orders"
MACHINE: Machine[Order] = Machine(
    model=Order,
    events=OrderEvent,
    task=ADVANCE_TASK,
    lists=(TOPIC,),
    locked_with=("account", "initiator"),
)
create, move, touch, lock = MACHINE.create, MACHINE.move, MACHINE.touch, MACHINE.lock
