"""The machine of changes of people: how they move, what the database refuses about them, and their replay.

No mover locks the rows. Whoever changes what somebody may do takes the trail's turn first (`trail.take_turn`), so two
administrators act one after the other, and the second one reads what the first one has written.
"""

from typing import Final

from desk.machines.guards import Guards
from desk.machines.mover import CannotMove, Machine
from desk.machines.replay import Replay
from desk.staff.models import Invitation, PersonChange, PersonChangeEvent

__all__ = ["GUARDS", "MACHINE", "REPLAY", "TOPIC", "CannotMove", "create", "move"]

TOPIC: Final = "people"
MACHINE: Final[Machine[PersonChange]] = Machine(
    model=PersonChange, events=PersonChangeEvent, task="", lists=(TOPIC,), locked_with=None
)
create, move = MACHINE.create, MACHINE.move
GUARDS: Final = Guards(machine=MACHINE, history=(PersonChangeEvent,), records=(Invitation,))
REPLAY: Final = Replay(MACHINE)
