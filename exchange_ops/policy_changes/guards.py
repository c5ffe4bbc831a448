"""What the database itself refuses about changes of the rules: what every machine's rows are held to."""

from typing import Final

from desk.machines.guards import Guards
from exchange_ops.policy_changes.models import PolicyChangeEvent
from exchange_ops.policy_changes.mover import MACHINE

GUARDS: Final = Guards(machine=MACHINE, history=(PolicyChangeEvent,))
