"""The machines of watched addresses and of movements: what moves them, their guards, the replay of the trail."""

from typing import Final

from chaindata.watching.models import ChainMovement, ChainMovementEvent, WatchedAddress, WatchedAddressEvent
from desk.machines.guards import Guards
from desk.machines.mover import CannotMove, Machine
from desk.machines.replay import Replay

__all__ = ["ADDRESSES", "GUARDS", "MOVEMENTS", "READ_TASK", "REPLAYS", "TOPIC", "CannotMove"]

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
GUARDS: Final = {
    "watched": Guards(machine=ADDRESSES, history=(WatchedAddressEvent,)),
    "movements": Guards(machine=MOVEMENTS, history=(ChainMovementEvent,)),
}
REPLAYS: Final = (Replay(ADDRESSES), Replay(MOVEMENTS))
