"""The states of a change of the rules: one person proposes it, another agrees, and it is in force at once or later.

A change that only tightens is in force once the second person agrees. One that loosens anything waits for 24 hours, in
which treasury and administrators can stop it.
"""

from datetime import timedelta
from typing import Final

from desk.machines.table import Column, State, Table, Tone, Transition, Turn

OPEN_FOR: Final = timedelta(days=3)
LOOSENING_WAITS: Final = timedelta(hours=24)

PROPOSED: Final = "proposed"
AGREED: Final = "agreed"
PUBLISHED: Final = "published"
REJECTED: Final = "rejected"
WITHDRAWN: Final = "withdrawn"
EXPIRED: Final = "expired"
OVERTAKEN: Final = "overtaken"

STATES: Final[dict[str, State]] = {
    PROPOSED: State(
        "Needs a second person",
        "Nothing has changed yet. A second treasurer or an administrator must approve within three days.",
        Turn.PERSON,
        Tone.ACTIVE,
        icon="hourglass",
    ),
    AGREED: State(
        "Takes effect later",
        (
            "Nothing has changed yet. Approved by two people; the change loosens a limit, so it takes effect after "
            "24 hours."
        ),
        Turn.WORKER,
        Tone.ACTIVE,
        icon="clock",
    ),
    PUBLISHED: State("Published", "Published as a new policy version.", Turn.NOBODY, Tone.GOOD, terminal=True),
    REJECTED: State("Rejected", "No changes made.", Turn.NOBODY, Tone.QUIET, terminal=True, icon="ban"),
    WITHDRAWN: State(
        "Withdrawn",
        "No changes made: the proposer withdrew the proposal.",
        Turn.NOBODY,
        Tone.QUIET,
        terminal=True,
        icon="undo-2",
    ),
    EXPIRED: State(
        "Expired",
        "No changes made: no second approval within three days.",
        Turn.NOBODY,
        Tone.QUIET,
        terminal=True,
        icon="clock",
    ),
    OVERTAKEN: State(
        "Superseded",
        "No changes made: another rule change was published first, or the proposer or approver no "
        "longer has the required role.",
        Turn.NOBODY,
        Tone.QUIET,
        terminal=True,
        icon="circle-x",
    ),
}

_WHO: Final = ("treasury", "admin")
_T = Transition
TRANSITIONS: Final[tuple[Transition, ...]] = (
    _T(1, "", "proposed", PROPOSED, _WHO),
    _T(2, PROPOSED, "published", PUBLISHED, _WHO),
    _T(3, PROPOSED, "agreed", AGREED, _WHO),
    _T(4, PROPOSED, "rejected", REJECTED, _WHO),
    _T(5, PROPOSED, "withdrawn", WITHDRAWN, _WHO),
    _T(6, PROPOSED, "expired", EXPIRED, ("desk",)),
    _T(7, PROPOSED, "overtaken", OVERTAKEN, ("desk",)),
    _T(8, AGREED, "published", PUBLISHED, ("desk",)),
    _T(9, AGREED, "rejected", REJECTED, _WHO),
    _T(10, AGREED, "withdrawn", WITHDRAWN, _WHO),
    _T(11, AGREED, "overtaken", OVERTAKEN, ("desk",)),
)
_CONTENT: Final = Column.RECORDED | Column.FIXED
TABLE: Final = Table(
    noun="a change of the rules",
    states=STATES,
    moves=TRANSITIONS,
    columns={
        "base": _CONTENT,
        "content": _CONTENT,
        "reason": _CONTENT,
        "digest": _CONTENT,
        "is_looser": _CONTENT,
        "proposed_by_id": _CONTENT,
        "proposed_with_id": _CONTENT,
        "expires_at": _CONTENT,
        "created_at": Column.FIXED,
        "next_action_at": Column.TIMER | Column.TOUCHED,
        "last_problem": Column.WORDS | Column.TOUCHED,
        "updated_at": Column.CLOCK,
    },
)
