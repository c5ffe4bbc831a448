"""The states of a payee: one person adds it, two of treasury approve it, and it counts a day later.

The day between the last approval and the first use is there for colleagues to notice what should not have been added.
Removing a payee takes one person and is immediate. A payee ends after half a year. In its last month the same recipient
can be added once more, with the same approvals and the same day after them; the earlier row counts until then.
"""

from datetime import timedelta
from typing import Final

from desk.machines.table import WORK, Column, State, Table, Tone, Transition, Turn

APPROVALS: Final = 2
OPEN_FOR: Final = timedelta(days=7)
COOLING: Final = timedelta(hours=24)
LASTS: Final = timedelta(days=183)
RENEWABLE: Final = timedelta(days=30)  # before it expires
REPORTED: Final = timedelta(days=14)  # before it expires, where no renewal is under way

REVIEW: Final = "review"
COOLING_OFF: Final = "cooling"
ACTIVE: Final = "active"
EXPIRED: Final = "expired"
RENEWED: Final = "renewed"
LAPSED: Final = "lapsed"
REJECTED: Final = "rejected"
WITHDRAWN: Final = "withdrawn"
REMOVED: Final = "removed"

STATES: Final[dict[str, State]] = {
    REVIEW: State(
        "Waiting for approvals",
        "This payee can't be used yet. Two treasurers must approve it within seven days; neither can be the person "
        "who added it.",
        Turn.PERSON,
        Tone.WARN,
        icon="users-round",
    ),
    COOLING_OFF: State(
        "Cooling-off period",
        "Approved by two people. It counts as an approved payee 24 hours after the last approval; until then, any "
        "treasurer can remove it.",
        Turn.WORKER,
        Tone.ACTIVE,
        icon="clock",
    ),
    ACTIVE: State(
        "Approved",
        "Payouts to this address and payment ID count as payouts to an approved payee, until the expiry date.",
        Turn.WORKER,
        Tone.GOOD,
        icon="circle-check",
    ),
    EXPIRED: State(
        "Expired",
        "This payee no longer counts as approved. Add it again to have it approved again.",
        Turn.NOBODY,
        Tone.QUIET,
        terminal=True,
        icon="clock",
    ),
    RENEWED: State(
        "Renewed",
        "The same recipient was approved once more: the renewal counts instead of this payee.",
        Turn.NOBODY,
        Tone.QUIET,
        terminal=True,
        icon="refresh-cw",
    ),
    LAPSED: State(
        "Not approved in time",
        "This payee was not approved within seven days. Add it again if it is still needed.",
        Turn.NOBODY,
        Tone.QUIET,
        terminal=True,
        icon="clock",
    ),
    REJECTED: State("Rejected", "A treasurer rejected this payee.", Turn.NOBODY, Tone.QUIET, terminal=True, icon="ban"),
    WITHDRAWN: State(
        "Withdrawn",
        "The person who added this payee withdrew it.",
        Turn.NOBODY,
        Tone.QUIET,
        terminal=True,
        icon="undo-2",
    ),
    REMOVED: State(
        "Removed",
        "This payee no longer counts as approved: a colleague removed it.",
        Turn.NOBODY,
        Tone.QUIET,
        terminal=True,
        icon="circle-x",
    ),
}

_ADDS: Final = ("operator", "treasury")
_T = Transition
TRANSITIONS: Final[tuple[Transition, ...]] = (
    _T(1, "", "added", REVIEW, _ADDS),
    _T(2, REVIEW, "approval_recorded", REVIEW, ("treasury",)),
    _T(3, REVIEW, "quorum_reached", COOLING_OFF, ("treasury",)),
    _T(4, REVIEW, "rejected", REJECTED, ("treasury",)),
    _T(5, REVIEW, "withdrawn", WITHDRAWN, _ADDS),
    _T(6, REVIEW, "lapsed", LAPSED, ("desk",)),
    _T(7, COOLING_OFF, "activated", ACTIVE, ("desk",)),
    _T(8, COOLING_OFF, "removed", REMOVED, ("treasury",)),
    _T(9, ACTIVE, "removed", REMOVED, ("treasury",)),
    _T(10, ACTIVE, "expired", EXPIRED, ("desk",)),
    _T(11, ACTIVE, "renewed", RENEWED, ("desk",)),
)
_CONTENT: Final = Column.RECORDED | Column.FIXED
_SIGNED: Final = _CONTENT | Column.SIGNED
TABLE: Final = Table(
    noun="a payee",
    states=STATES,
    moves=TRANSITIONS,
    columns={
        **WORK,
        "account_id": _SIGNED,
        "initiator_id": _SIGNED,
        "title": _SIGNED,
        "owner": _SIGNED,
        "group": _SIGNED,
        "currency": _SIGNED,
        "address": _SIGNED,
        "payment_id": _SIGNED,
        "supplier": _SIGNED,
        "evidence": _SIGNED,
        "digest": _CONTENT,
        "created_at": Column.FIXED,
    },
)
