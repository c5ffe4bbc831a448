"""Whether money is reserved before or after the approvals, and what happens beyond a bound of the rules."""

from typing import Final

HOLD_THEN_APPROVE: Final = "hold_then_approve"
APPROVE_THEN_HOLD: Final = "approve_then_hold"
MODES: Final = (HOLD_THEN_APPROVE, APPROVE_THEN_HOLD)

CONFIRM: Final = "confirm"
APPROVE: Final = "approve"
REFUSE: Final = "refuse"
BEYOND: Final = {
    CONFIRM: "needs explicit confirmation",
    APPROVE: "needs approval",
    REFUSE: "is rejected",
}
"""What happens beyond a bound, the mildest first."""
STRICTNESS: Final = {name: rank for rank, name in enumerate(BEYOND)}
