"""What the database itself refuses about changes of people: what every machine's rows are held to."""

from typing import Final

from desk.machines.guards import Guards
from desk.staff.models import Invitation, PersonChangeEvent
from desk.staff.mover import MACHINE

GUARDS: Final = Guards(machine=MACHINE, history=(PersonChangeEvent,), records=(Invitation,))
