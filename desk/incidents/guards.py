"""What the database itself refuses about incidents: what every machine's rows are held to."""

from typing import Final

from desk.incidents.models import IncidentEvent
from desk.incidents.mover import MACHINE
from desk.machines.guards import Guards

GUARDS: Final = Guards(machine=MACHINE, history=(IncidentEvent,))
