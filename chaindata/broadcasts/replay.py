"""How the audit trail tells of transactions to be sent; called by `verify_audit --replay`."""

from typing import Final

from chaindata.broadcasts.mover import MACHINE
from desk.machines.replay import Replay

REPLAY: Final = Replay(MACHINE)
