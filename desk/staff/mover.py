"""Moving changes of people: their machine. Its table is `machine`.

Rows are locked by no mover: whoever changes who may do what takes the trail's turn first (`trail.take_turn`), so that
two administrators are one after the other, and what the second one reads is what the first one left.
"""

from desk.machines.mover import CannotMove, Machine
from desk.staff.models import PersonChange, PersonChangeEvent

__all__ = ["CannotMove", "create", "move"]

TOPIC = "people"
MACHINE: Machine[PersonChange] = Machine(
    model=PersonChange, events=PersonChangeEvent, task="", lists=(TOPIC,), locked_with=None
)
create, move = MACHINE.create, MACHINE.move
