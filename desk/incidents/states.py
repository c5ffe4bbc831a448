"""The table of incidents: open, taken on by somebody, closed.

Only the desk clears an incident, when its cause is gone. A person closes one only with a reason. It is not opened again
while the cause goes on; the closed row then records that the cause ended (`gone`).
"""

from typing import Final

from desk.machines.table import Column, State, Table, Tone, Transition, Turn

OPEN: Final = "open"
ACKNOWLEDGED: Final = "acknowledged"
RESOLVED: Final = "resolved"

STATES: Final[dict[str, State]] = {
    OPEN: State(
        "Open",
        "Not assigned yet.",
        Turn.PERSON,
        Tone.BAD,
    ),
    ACKNOWLEDGED: State(
        "Acknowledged",
        "Assigned. The incident stays open until its cause is resolved or someone closes it with a reason.",
        Turn.PERSON,
        Tone.WARN,
        icon="hand",
    ),
    RESOLVED: State(
        "Resolved",
        "The cause was resolved, or someone closed the incident with a reason.",
        Turn.NOBODY,
        Tone.GOOD,
        terminal=True,
    ),
}

_PEOPLE: Final = ("operator", "treasury", "admin")
_T = Transition
TRANSITIONS: Final[tuple[Transition, ...]] = (
    _T(1, "", "opened", OPEN, ("desk",)),
    _T(2, OPEN, "acknowledged", ACKNOWLEDGED, _PEOPLE),
    _T(3, ACKNOWLEDGED, "handed_back", OPEN, _PEOPLE),
    _T(4, OPEN, "cleared", RESOLVED, ("desk",)),
    _T(5, ACKNOWLEDGED, "cleared", RESOLVED, ("desk",)),
    _T(6, OPEN, "closed", RESOLVED, _PEOPLE),
    _T(7, ACKNOWLEDGED, "closed", RESOLVED, _PEOPLE),
    _T(8, RESOLVED, "gone", RESOLVED, ("desk",)),
)
_CONTENT: Final = Column.RECORDED | Column.FIXED
TABLE: Final = Table(
    noun="an incident",
    states=STATES,
    moves=TRANSITIONS,
    columns={
        "kind": _CONTENT,
        "cause": _CONTENT,
        "scope": _CONTENT,
        "severity": _CONTENT,
        "page": _CONTENT,
        "page_key": _CONTENT,
        "created_at": Column.FIXED,
        "gone_at": Column.ONCE,
        "last_problem": Column.WORDS | Column.TOUCHED,
        "updated_at": Column.CLOCK,
    },
)
UNRESOLVED: Final = (OPEN, ACKNOWLEDGED)
