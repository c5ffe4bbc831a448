"""The five steps of a payout as its requester sees them: requested, reserved, approved, sent, confirmed."""

from dataclasses import dataclass
from typing import Final

from exchange_ops.policy import modes
from exchange_ops.withdrawals import states
from exchange_ops.withdrawals.models import Withdrawal

DONE, NOW, AHEAD, STOPPED = "done", "now", "ahead", "stopped"
REQUESTED, RESERVED, APPROVED, SENT, CONFIRMED = STEPS = ("Requested", "Reserved", "Approved", "Sent", "Confirmed")
WORDS: Final = {DONE: "done", NOW: "in progress", AHEAD: "not yet", STOPPED: "ended here"}
# The step that a payout is at. What is before it is done.
AT: Final = {
    states.DRAFT: REQUESTED,
    states.REVIEW: APPROVED,
    states.QUEUED: RESERVED,
    states.HOLDING: RESERVED,
    states.HOLD_UNKNOWN: RESERVED,
    states.HELD: APPROVED,
    states.COMMITTING: SENT,
    states.COMMIT_UNKNOWN: SENT,
    states.COMMITTED: SENT,
    states.DISPUTED: SENT,
    states.INVESTIGATE: SENT,
    states.SENT: CONFIRMED,
}
ALL_DONE: Final = (states.SETTLED, states.VERIFIED, states.RESOLVED_PAID)


@dataclass(frozen=True, slots=True)
class Step:
    """One of the five steps and its state."""

    label: str
    state: str

    @property
    def word(self) -> str:
        """The state in words."""
        return WORDS[self.state]


def steps(row: Withdrawal) -> list[Step]:
    """The five, in the order in which this payout takes them: its rules may ask for approvals before the hold."""
    order = list(STEPS)
    if row.mode == modes.APPROVE_THEN_HOLD:
        order[1:3] = [APPROVED, RESERVED]
    if row.state in ALL_DONE:
        return [Step(label, DONE) for label in order]
    here = AT.get(row.state)
    at = order.index(_waits_for(row, here)) if here else _reached(row, order)
    mark = NOW if here else STOPPED
    return [Step(label, DONE if place < at else mark if place == at else AHEAD) for place, label in enumerate(order)]


def _waits_for(row: Withdrawal, here: str) -> str:
    """Where approvals come before the hold, a held payout stays at the reservation until its final release."""
    return RESERVED if row.state == states.HELD and row.mode == modes.APPROVE_THEN_HOLD else here


def _reached(row: Withdrawal, order: list[str]) -> int:
    """The step at which a closed payout stopped: the first one that left no trace."""
    traces = {
        REQUESTED: row.state != states.DRAFT,
        RESERVED: bool(row.exchange_id),
        APPROVED: row.decision == states.COMMIT,
        SENT: bool(row.hash),
        CONFIRMED: False,
    }
    return next(place for place, label in enumerate(order) if not traces[label])
