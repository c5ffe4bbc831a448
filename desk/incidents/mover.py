"""Moving incidents: their machine. Its table is `machine`.

Rows are locked by no mover. Whoever opens or closes an incident does it inside the transaction of a fact, which has the
trail's turn already; so the turn comes first here too (`trail.take_turn`), or two of them could wait for each other.
"""

from desk.incidents.models import Incident, IncidentEvent
from desk.machines.mover import CannotMove, Machine

__all__ = ["CannotMove", "create", "move", "touch"]

TOPIC = "incidents"
MACHINE: Machine[Incident] = Machine(model=Incident, events=IncidentEvent, task="", lists=(TOPIC,), locked_with=None)
create, move, touch = MACHINE.create, MACHINE.move, MACHINE.touch
