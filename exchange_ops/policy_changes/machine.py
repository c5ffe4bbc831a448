"""The machine of changes of the rules: how they move, what the database refuses, and their replay.

Whoever moves a change takes the audit trail's turn first (`trail.take_turn`).
"""

from typing import Final

from desk.machines.guards import Guards
from desk.machines.mover import CannotMove, Machine
from desk.machines.replay import Replay
from exchange_ops.policy_changes.models import PolicyChange, PolicyChangeEvent

__all__ = ["CannotMove", "create", "move"]

TOPIC = "policy"
MACHINE: Machine[PolicyChange] = Machine(
    model=PolicyChange, events=PolicyChangeEvent, task="", lists=(TOPIC,), locked_with=None
)
create, move = MACHINE.create, MACHINE.move

GUARDS: Final = Guards(machine=MACHINE, history=(PolicyChangeEvent,))
REPLAY: Final = Replay(MACHINE)
