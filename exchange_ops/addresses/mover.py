"""Moving requests for a new deposit address: their machine. Its table is `machine`."""

from desk.machines.mover import CannotMove, Machine
from exchange_ops.addresses.models import AddressRequest, AddressRequestEvent

__all__ = ["CannotMove", "create", "move", "touch"]

ADVANCE_TASK = "exchange_ops.make_address"
MACHINE: Machine[AddressRequest] = Machine(
    model=AddressRequest,
    events=AddressRequestEvent,
    task=ADVANCE_TASK,
    topic="addresses:{0.account_id}",
)
create, move, touch = MACHINE.create, MACHINE.move, MACHINE.touch
