"""The machine of incidents: how they move, what the database refuses about them, and their replay from the trail.

No mover locks the rows. Whoever opens or closes an incident does so inside the transaction of a fact, which already has
the trail's turn. So the turn comes first here too (`trail.take_turn`), or two of them could wait for each other.
"""

from typing import Final

from desk.incidents.models import Incident, IncidentEvent
from desk.machines.guards import Guards
from desk.machines.mover import CannotMove, Machine
from desk.machines.replay import Replay

__all__ = ["GUARDS", "MACHINE", "REPLAY", "TOPIC", "CannotMove", "create", "move", "touch"]

TOPIC: Final = "incidents"
MACHINE: Final[Machine[Incident]] = Machine(
    model=Incident, events=IncidentEvent, task="", lists=(TOPIC,), locked_with=None
)
create, move, touch = MACHINE.create, MACHINE.move, MACHINE.touch
GUARDS: Final = Guards(machine=MACHINE, history=(IncidentEvent,))
REPLAY: Final = Replay(MACHINE)
