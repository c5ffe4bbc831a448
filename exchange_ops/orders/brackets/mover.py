"""Moving brackets: their machine. Its table is `machine`."""

from desk.machines.mover import CannotMove, Machine
from exchange_ops.orders.brackets.models import Bracket, BracketEvent

__all__ = ["CannotMove", "create", "lock", "move", "touch"]

ADVANCE_TASK = "exchange_ops.advance_bracket"
TOPIC = "orders"
MACHINE: Machine[Bracket] = Machine(
    model=Bracket,
    events=BracketEvent,
    task=ADVANCE_TASK,
    lists=(TOPIC,),
    locked_with=("account", "initiator", "entry"),
)
create, move, touch, lock = MACHINE.create, MACHINE.move, MACHINE.touch, MACHINE.lock
