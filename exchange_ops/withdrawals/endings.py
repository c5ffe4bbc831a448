"""How an unpaid withdrawal ended, by the event that ended it.

One state can have several endings: a hold that was released may have been rejected, withdrawn, expired or frozen. The
machine keeps the state, people read the ending. Nothing here is stored: it follows from the events, which nobody can
change.
"""

from dataclasses import dataclass
from typing import Final

from exchange_ops.withdrawals import states

WITHDRAWN: Final = "withdrawn"
CALLED_OFF: Final = "called_off"
_CANCELLED: Final = "cancelled"


@dataclass(frozen=True, slots=True)
class End:
    """One ending: its `name` in the API and in filters, its label, its icon, and the event that caused it."""

    name: str
    label: str
    sign: str
    event: str


ENDS: Final[dict[str, End]] = {
    end.name: end
    for end in (
        End("rejected", "Rejected", "circle-x", "rejected"),
        End(WITHDRAWN, "Withdrawn by requester", "undo-2", _CANCELLED),
        End(CALLED_OFF, "Cancelled by treasury", "ban", _CANCELLED),
        End("time_over", "Expired", "clock", "time_over"),
        End("frozen", "Released by freeze", "snowflake", "frozen"),
        End("recalled", "Approval recalled", "undo-2", "recalled"),
        End("policy_changed", "Released by new policy", "undo-2", "policy_changed"),
        End("fee_drifted", "Released, fee changed", "undo-2", "fee_drifted"),
        End("echo_differs", "Released, records differ", "triangle-alert", "echo_differs"),
        End("ended_at_exchange", "Released by the exchange", "undo-2", "ended_at_exchange"),
        End("checks_failed", "Failed checks", "circle-x", "checks_failed"),
        End("not_carried_out", "Not executed", "circle-x", "commit_not_carried_out"),
    )
}
EVENTS: Final = tuple({end.event for end in ENDS.values()})
# States that have several endings, or the name of one, and what they are called as a group.
SHARED: Final = {
    states.ROLLED_BACK: "Released, for any reason",
    states.CANCELLED: "Closed before reaching the exchange",
    states.EXPIRED: "Approved, not executed",
}
_BY_EVENT: Final = {end.event: end for end in ENDS.values() if end.event != _CANCELLED}


def by_event(event: str, *, by_requester: bool) -> End | None:
    """The ending that this event causes, or None if it causes none. A cancellation has two, depending on who did it."""
    if event == _CANCELLED:
        return ENDS[WITHDRAWN if by_requester else CALLED_OFF]
    return _BY_EVENT.get(event)
