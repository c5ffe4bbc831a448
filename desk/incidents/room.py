"""What this room declares to the desk: its topics, guards and replay, and which of its columns decide something."""

from typing import TYPE_CHECKING, Final

from desk.incidents import kinds, machine
from desk.incidents.models import Incident, IncidentEvent
from desk.people import roles
from desk.rows import witnessed

if TYPE_CHECKING:
    from desk.models import Person

REPLAYS: Final = {machine.REPLAY.subject: machine.REPLAY.check}
GUARDS: Final = {"incidents": machine.GUARDS.statements}


def _may_follow(person: "Person", key: str) -> bool:
    return not key and person.has_role(*roles.ALL)


def _may_follow_one(person: "Person", key: str) -> bool:
    row = Incident.objects.filter(pk=int(key)).first() if key.isascii() and key.isdigit() and len(key) < 18 else None
    return row is not None and kinds.by_name(row.kind).may_see(person, row.scope)


TOPICS: Final = {machine.TOPIC: _may_follow, "incident": _may_follow_one}


def register() -> None:
    """Declare the tables; called once at the start."""
    loose = Incident.table.loose | dict.fromkeys(("lease_until", "next_action_at"), "unused: no worker acts on this")
    witnessed.register(Incident, loose=loose)
    witnessed.register(IncidentEvent)
