"""Who takes on, hands back and closes an incident: one that a person may close, one that only its cause ends, and one
that not everybody is shown."""

from typing import Any

from desk import clock
from desk.incidents import closings, kinds, machine, states
from desk.incidents.models import Incident
from desk.people import roles
from exchange_ops.shared import alarms
from tests.exchange_ops.permissions.shared_form import Subject, colleague, signed, walk

T, A = roles.TREASURY, roles.ADMIN
ROUTES = ("incident-acknowledge", "incident-hand-back", "incident-close")


def _reach(kind: str) -> Any:
    def reach(state: str, person: Any) -> Incident:
        row = Incident(
            kind=kind,
            cause="withdrawal:987654",
            severity=kinds.by_name(kind).severity,
            page="system",
            last_problem="It happened.",
        )
        made = machine.create(row, event="opened", now=clock.now())
        return walk(machine.MACHINE, made, state, {"acknowledged": lambda row: {"taken_by": colleague(T)}})

    return reach


def _signed(row: Incident) -> dict[str, Any]:
    return signed(row, digest=closings.digest_of(row))


def _subject(kind: str, *, acts: set[str], sees: set[str], closable: bool) -> Subject:
    rows = {("open", ROUTES[0]): acts, ("acknowledged", ROUTES[1]): acts}
    if closable:
        rows |= {("open", ROUTES[2]): acts, ("acknowledged", ROUTES[2]): acts}
    return Subject(
        name=f"incident {kind}",
        states=states.STATES,
        reach=_reach(kind),
        routes=dict.fromkeys(ROUTES, _signed),
        goes_through=rows,
        reads={"incident": sees},
        topic=lambda row: f"incident:{row.pk}",
        follows=sees,
    )


INCIDENTS = (
    _subject(alarms.PAYOUT_ELSEWHERE, acts={T, A}, sees=set(roles.ALL), closable=True),
    _subject(alarms.PAYOUT_DISPUTED, acts={T}, sees=set(roles.ALL), closable=False),
    _subject(alarms.KEY_REFUSED, acts={A, T}, sees={A, T, roles.AUDITOR}, closable=True),
)
