"""What the database itself refuses about restores: what every machine's rows are held to, and words without proof.

One is settled only by the words of two people who agree on everything; that they do is counted above, here that there
are two.
"""

from typing import Final

from desk.machines.guards import NOT_PROVEN, Guards, Rule
from desk.restores.models import RestoreEvent, RestoreWord
from desk.restores.mover import MACHINE

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
