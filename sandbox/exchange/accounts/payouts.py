"""What the exchange remembers of a payout beside its transaction: the two phases."""

from dataclasses import dataclass
from decimal import Decimal
from enum import Enum

from sandbox.amounts import EXACT


class Phase(Enum):
    """Whether a payout waits for its owner, was decided to go out, or was called off."""

    HELD = "held"
    COMMITTED = "committed"
    ROLLED_BACK = "rolled back"


@dataclass(slots=True)
class Payout:
    """A payout: `net` arrives, `fee` comes on top, both are reserved until it ends.

    `step` grows at each move; a timer set for an earlier step does nothing.
    """

    id: str
    account: str
    currency: str
    net: Decimal
    fee: Decimal
    phase: Phase = Phase.HELD
    step: int = 0
    ended: bool = False

    @property
    def total(self) -> Decimal:
        """What leaves the account."""
        return EXACT.add(self.net, self.fee)
