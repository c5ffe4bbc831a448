"""What this room declares to the desk: its topic, guards, replay and source, and what decides something in its rows."""

from typing import TYPE_CHECKING, Final

from desk.machines.replay import Replay
from desk.rows import witnessed
from desk.staff import guards, mover, rules, source
from desk.staff.models import Invitation, PersonChange, PersonChangeEvent

if TYPE_CHECKING:
    from desk.models import Person

REPLAY: Final = Replay(mover.MACHINE)
REPLAYS: Final = {REPLAY.subject: REPLAY.check}
GUARDS: Final = {"staff": guards.GUARDS.statements}
SOURCES: Final = (source.SOURCE,)


def _may_follow(person: "Person", key: str) -> bool:
    return not key and rules.may_read(person)


def _may_follow_one(person: "Person", key: str) -> bool:
    return rules.may_read(person)


TOPICS: Final = {mover.TOPIC: _may_follow, PersonChange.name: _may_follow_one}


def register() -> None:
    """Declare the tables; called once at the start."""
    unused = dict.fromkeys(("lease_until", "next_action_at"), "unused: no worker acts on it")
    witnessed.register(PersonChange, loose=PersonChange.table.loose | unused)
    witnessed.register(PersonChangeEvent)
    counted = {"wrong_addresses": "ends a link early; a lower one lets somebody try five addresses more"}
    witnessed.register(Invitation, loose=counted)
