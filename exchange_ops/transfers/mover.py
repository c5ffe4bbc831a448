"""Moving transfers: their machine. Its table is `machine`."""

from desk.incidents.alarming import Alarming
from desk.machines.mover import CannotMove
from exchange_ops.shared import alarms
from exchange_ops.transfers import machine
from exchange_ops.transfers.models import Transfer, TransferEvent

__all__ = ["CannotMove", "create", "lock", "move", "touch"]

ADVANCE_TASK = "exchange_ops.advance_transfer"
MACHINE: Alarming[Transfer] = Alarming(
    model=Transfer,
    events=TransferEvent,
    task=ADVANCE_TASK,
    lists=("transfers",),
    locked_with=("account", "initiator"),
    alarms={machine.INVESTIGATE: alarms.TRANSFER_UNCLEAR, machine.NOT_SEEN: alarms.TRANSFER_NOT_SEEN},
)
create, move, touch, lock = MACHINE.create, MACHINE.move, MACHINE.touch, MACHINE.lock
