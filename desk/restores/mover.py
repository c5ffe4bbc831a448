"""Moving restores: their machine. Its table is `machine`."""

from desk.machines.mover import CannotMove, Machine
from desk.restores.models import Restore, RestoreEvent

__all__ = ["CannotMove", "create", "lock", "move"]

TOPIC = "restores"
MACHINE: Machine[Restore] = Machine(model=Restore, events=RestoreEvent, task="", lists=(TOPIC,))
create, move, lock = MACHINE.create, MACHINE.move, MACHINE.lock
