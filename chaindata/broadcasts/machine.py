"""The machine of transactions to be sent: what moves them, what the database refuses, and how the trail is replayed."""

from typing import Final

from chaindata.broadcasts.models import ChainBroadcast, ChainBroadcastEvent
from desk.machines.guards import Guards, Rule
from desk.machines.mover import CannotMove, Machine
from desk.machines.replay import Replay

__all__ = ["GUARDS", "MACHINE", "REPLAY", "CannotMove", "create", "move", "touch"]

TOPIC = "chain-broadcasts"
SEND_TASK = "chaindata.send_broadcast"
MACHINE: Machine[ChainBroadcast] = Machine(
    model=ChainBroadcast,
    events=ChainBroadcastEvent,
    task=SEND_TASK,
    lists=(TOPIC,),
)
create, move, touch = MACHINE.create, MACHINE.move, MACHINE.touch

# The bytes that a second factor was given for are fixed columns, which are never edited; they leave once at most.
SENT_ONCE = "a transaction is sent once at most"
GUARDS: Final = Guards(
    machine=MACHINE,
    history=(ChainBroadcastEvent,),
    own=(
        Rule(
            "chaindata_chainbroadcast",
            "sent_once",
            "UPDATE",
            "NEW.sends < OLD.sends OR NEW.sends > 1 OR (NEW.state = 'requested' AND NEW.sends > 0)",
            SENT_ONCE,
        ),
    ),
)
REPLAY: Final = Replay(MACHINE)
