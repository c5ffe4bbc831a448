"""What the database itself refuses about watched addresses and movements: what every machine's rows are held to."""

from typing import Final

from chaindata.watching.models import ChainMovementEvent, WatchedAddressEvent
from chaindata.watching.mover import ADDRESSES, MOVEMENTS
from desk.machines.guards import Guards

WATCHED: Final = Guards(machine=ADDRESSES, history=(WatchedAddressEvent,))
MOVED: Final = Guards(machine=MOVEMENTS, history=(ChainMovementEvent,))
