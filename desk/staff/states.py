"""The table of changes that need a second administrator: roles, second factors, access, deactivation, reactivation.

One administrator requests a change with a second factor, and another one confirms exactly that content within a day. In
the demo, and for a reactivation within a day, one administrator is enough, and the row says so (`alone`). A
deactivation is a row where two are needed (`rules.why_two`).
"""

from datetime import timedelta
from typing import Final

from desk.machines.table import Column, State, Table, Tone, Transition, Turn

ROLES: Final = "roles"
FACTORS: Final = "factors"
ACCESS: Final = "access"
REACTIVATE: Final = "reactivate"
DEACTIVATE: Final = "deactivate"
KINDS: Final = {
    ROLES: "Change roles",
    FACTORS: "Reset second factors",
    ACCESS: "Reset password and second factors",
    REACTIVATE: "Reactivate",
    DEACTIVATE: "Deactivate",
}
OPEN_FOR: Final = timedelta(hours=24)
LONGEST_FOR_SOME_TIME: Final = timedelta(days=92)

REQUESTED: Final = "requested"
DONE: Final = "done"
REJECTED: Final = "rejected"
WITHDRAWN: Final = "withdrawn"
EXPIRED: Final = "expired"

STATES: Final[dict[str, State]] = {
    REQUESTED: State(
        "Needs a second admin",
        "Nothing has changed yet. Another administrator must confirm this change within a day.",
        Turn.PERSON,
        Tone.ACTIVE,
        icon="hourglass",
    ),
    DONE: State("Done", "Change applied. The person was signed out everywhere.", Turn.NOBODY, Tone.GOOD, terminal=True),
    REJECTED: State("Rejected", "No changes made.", Turn.NOBODY, Tone.QUIET, terminal=True, icon="ban"),
    WITHDRAWN: State(
        "Withdrawn",
        "No changes made: the request was withdrawn.",
        Turn.NOBODY,
        Tone.QUIET,
        terminal=True,
        icon="ban",
    ),
    EXPIRED: State(
        "Expired",
        "No changes made: the request expired after a day without confirmation.",
        Turn.NOBODY,
        Tone.QUIET,
        terminal=True,
        icon="clock",
    ),
}

_T = Transition
TRANSITIONS: Final[tuple[Transition, ...]] = (
    _T(1, "", "requested", REQUESTED, ("admin",)),
    _T(2, REQUESTED, "confirmed", DONE, ("admin",)),
    _T(3, REQUESTED, "applied_alone", DONE, ("admin",)),
    _T(4, REQUESTED, "rejected", REJECTED, ("admin",)),
    _T(5, REQUESTED, "withdrawn", WITHDRAWN, ("admin", "desk")),
    _T(6, REQUESTED, "expired", EXPIRED, ("desk",)),
)
_CONTENT: Final = Column.RECORDED | Column.FIXED
TABLE: Final = Table(
    noun="a change of a person",
    states=STATES,
    moves=TRANSITIONS,
    columns={
        "person_id": _CONTENT,
        "kind": _CONTENT,
        "wanted": _CONTENT,
        "before": _CONTENT,
        "until": _CONTENT,
        "reason": _CONTENT,
        "digest": _CONTENT,
        "requested_by_id": _CONTENT,
        "requested_with_id": _CONTENT,
        "alone": _CONTENT,
        "expires_at": _CONTENT,
        "created_at": Column.FIXED,
        "last_problem": Column.WORDS | Column.TOUCHED,
        "updated_at": Column.CLOCK,
    },
)
