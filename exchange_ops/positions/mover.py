"""Moving margin actions: their machine. Its table is `machine`."""

from desk.machines.mover import CannotMove, Machine
from exchange_ops.positions.models import MarginAction, MarginActionEvent

__all__ = ["CannotMove", "create", "lock", "move", "touch"]

ADVANCE_TASK = "exchange_ops.advance_margin_action"
TOPIC = "margin"
MACHINE: Machine[MarginAction] = Machine(
    model=MarginAction,
    events=MarginActionEvent,
    task=ADVANCE_TASK,
    lists=(TOPIC,),
    locked_with=("account", "initiator"),
)
create, move, touch, lock = MACHINE.create, MACHINE.move, MACHINE.touch, MACHINE.lock
