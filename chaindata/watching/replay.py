"""How the audit trail tells of watched addresses and of their movements; called by `verify_audit --replay`."""

from typing import Final

from chaindata.watching.mover import ADDRESSES, MOVEMENTS
from desk.machines.replay import Replay

REPLAYS: Final = (Replay(ADDRESSES), Replay(MOVEMENTS))
