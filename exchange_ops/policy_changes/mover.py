"""Moving changes of the rules: their machine. Whoever moves one takes the trail's turn first (`trail.take_turn`)."""

from desk.machines.mover import CannotMove, Machine
from exchange_ops.policy_changes.models import PolicyChange, PolicyChangeEvent

__all__ = ["CannotMove", "create", "move"]

TOPIC = "policy"
MACHINE: Machine[PolicyChange] = Machine(
    model=PolicyChange, events=PolicyChangeEvent, task="", lists=(TOPIC,), locked_with=None
)
create, move = MACHINE.create, MACHINE.move
