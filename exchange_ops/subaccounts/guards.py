"""What the database itself refuses about actions on sub-accounts: what every machine's rows are held to."""

from typing import Final

from desk.machines.guards import Guards
from exchange_ops.subaccounts.models import SubAccountCall, SubAccountEvent
from exchange_ops.subaccounts.mover import MACHINE

GUARDS: Final = Guards(machine=MACHINE, history=(SubAccountEvent,), records=(SubAccountCall,))
