"""Moving transfers: their machine. Its table is `machine`."""

from desk.machines.mover import CannotMove, Machine
from exchange_ops.transfers.models import Transfer, TransferEvent

__all__ = ["CannotMove", "create", "lock", "move", "touch"]

ADVANCE_TASK = "exchange_ops.advance_transfer"
MACHINE: Machine[Transfer] = Machine(
    model=Transfer,
    events=TransferEvent,
    task=ADVANCE_TASK,
    lists=("transfers",),
    locked_with=("account", "initiator"),
)
create, move, touch, lock = MACHINE.create, MACHINE.move, MACHINE.touch, MACHINE.lock
