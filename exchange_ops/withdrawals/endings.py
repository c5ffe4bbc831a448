"""How a withdrawal ended that was not paid: the word for it, from the event that ended it.

One state can be the end of several stories (a hold that was released may have been rejected, withdrawn, expired or
frozen). The state stays what the machine knows; people read the end. Nothing here is stored: it follows from the
events, which nobody can change.
"""

from dataclasses import dataclass
from typing import Final

from exchange_ops.withdrawals import states

WITHDRAWN: Final = "withdrawn"
CALLED_OFF: Final = "called_off"
_CANCELLED: Final = "cancelled"


@dataclass(frozen=True, slots=True)
class End:
    """One end: its `name` in the API and in filters, the word for it, its icon, and the event that caused it."""

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
        End("checks_failed", "Failed the checks", "circle-x", "checks_failed"),
        End("not_carried_out", "Not carried out", "circle-x", "commit_not_carried_out"),
    )
}
EVENTS: Final = tuple({end.event for end in ENDS.values()})
# States that are the end of more than one story, or whose own word is another end's, and what they are as a group.
SHARED: Final = {
    states.ROLLED_BACK: "Released, for any reason",
    states.CANCELLED: "Ended before the exchange was asked",
    states.EXPIRED: "Approved, not carried out",
}
_BY_EVENT: Final = {end.event: end for end in ENDS.values() if end.event != _CANCELLED}


def by_event(event: str, *, by_requester: bool) -> End | None:
    """The end that this event is; a cancelling is told apart by who did it. None for an event that ends nothing."""
    if event == _CANCELLED:
        return ENDS[WITHDRAWN if by_requester else CALLED_OFF]
    return _BY_EVENT.get(event)
