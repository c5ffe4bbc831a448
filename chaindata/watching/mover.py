"""Moving watched addresses and what was seen there: their two machines. Their tables are in `machine`."""

from typing import Final

from chaindata.watching.models import ChainMovement, ChainMovementEvent, WatchedAddress, WatchedAddressEvent
from desk.machines.mover import CannotMove, Machine

__all__ = ["ADDRESSES", "MOVEMENTS", "READ_TASK", "TOPIC", "CannotMove"]

TOPIC: Final = "watched-addresses"
READ_TASK: Final = "chaindata.read_watched"
ADDRESSES: Machine[WatchedAddress] = Machine(
    model=WatchedAddress, events=WatchedAddressEvent, task=READ_TASK, lists=(TOPIC,)
)
MOVEMENTS: Machine[ChainMovement] = Machine(
    model=ChainMovement,
    events=ChainMovementEvent,
    task="",
    lists=(TOPIC,),
    topic="watched-address:{0.watched_id}",
    locked_with=None,
)
