"""The machine of requests for a new deposit address: how a row moves, and its guards. Its table is `states`."""

from typing import Final

from desk.machines.guards import Guards
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

GUARDS: Final = Guards(machine=MACHINE, history=(AddressRequestEvent,))
