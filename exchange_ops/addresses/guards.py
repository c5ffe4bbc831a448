"""What the database itself refuses about requests for a new address: what every machine's rows are held to."""

from typing import Final

from desk.machines.guards import Guards
from exchange_ops.addresses.models import AddressRequestEvent
from exchange_ops.addresses.mover import MACHINE

GUARDS: Final = Guards(machine=MACHINE, history=(AddressRequestEvent,))
