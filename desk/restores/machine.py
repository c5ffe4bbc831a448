"""The machine of restores: how they move, what the database refuses about them, and their replay from the trail.

The database lets a restore be settled only where two people have given their word, each with a second factor. That the
two agree on everything is checked in `settling`.
"""

from typing import Final

from desk.machines.guards import NOT_PROVEN, Guards, Rule
from desk.machines.mover import CannotMove, Machine
from desk.machines.replay import Replay
from desk.restores.models import Restore, RestoreEvent, RestoreWord

__all__ = ["GUARDS", "MACHINE", "REPLAY", "TOPIC", "CannotMove", "create", "lock", "move"]

TOPIC: Final = "restores"
MACHINE: Final[Machine[Restore]] = Machine(model=Restore, events=RestoreEvent, task="", lists=(TOPIC,))
create, move, lock = MACHINE.create, MACHINE.move, MACHINE.lock
REPLAY: Final = Replay(MACHINE)

_RESTORE: Final = "desk_restore"
_WORD: Final = "desk_restoreword"
TWO_PEOPLE: Final = "a restore is settled by the words of two people"

GUARDS: Final = Guards(
    machine=MACHINE,
    history=(RestoreEvent, RestoreWord),
    own=(
        Rule(
            _RESTORE,
            "by_two",
            "UPDATE",
            "NEW.state = 'settled' AND (SELECT COUNT(DISTINCT w.person_id) FROM desk_restoreword w "
            "JOIN desk_stepup s ON s.id = w.confirmation_id AND s.person_id = w.person_id AND s.digest = w.digest "
            "AND s.purpose = 'settle-restore' WHERE w.restore_id = NEW.id) < 2",
            TWO_PEOPLE,
        ),
        Rule(
            _WORD,
            "second_factor",
            "INSERT",
            "NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id AND s.person_id = NEW.person_id "
            "AND s.at = NEW.at AND s.purpose = 'settle-restore' AND s.digest = NEW.digest)",
            NOT_PROVEN,
        ),
    ),
)
