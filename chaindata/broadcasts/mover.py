"""Moving transactions that are to be sent: their machine. Its table is `machine`."""

from chaindata.broadcasts.models import ChainBroadcast, ChainBroadcastEvent
from desk.machines.mover import CannotMove, Machine

__all__ = ["CannotMove", "create", "move", "touch"]

TOPIC = "chain-broadcasts"
SEND_TASK = "chaindata.send_broadcast"
MACHINE: Machine[ChainBroadcast] = Machine(
    model=ChainBroadcast,
    events=ChainBroadcastEvent,
    task=SEND_TASK,
    lists=(TOPIC,),
)
create, move, touch = MACHINE.create, MACHINE.move, MACHINE.touch
