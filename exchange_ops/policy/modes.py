"""In which order a payment is reserved and approved."""

from typing import Final

HOLD_THEN_APPROVE: Final = "hold_then_approve"
APPROVE_THEN_HOLD: Final = "approve_then_hold"
MODES: Final = (HOLD_THEN_APPROVE, APPROVE_THEN_HOLD)
