"""The machine of payees: how they move, what the database itself refuses, and their replay.

Beyond what holds for the rows of every machine, a payee is approved by as many people as it needs, none of whom added
it, each with a second factor for exactly this content.
"""

from typing import Final

from desk.machines.guards import NOT_PROVEN, NOT_YOURS, Guards, Rule
from desk.machines.mover import CannotMove, Machine
from exchange_ops.payees.models import Payee, PayeeApproval, PayeeEvent

__all__ = ["CannotMove", "create", "lock", "move", "touch"]

TOPIC: Final = "payees"
PURPOSE: Final = "approve-payee"
ADVANCE_TASK: Final = "exchange_ops.advance_payee"
MACHINE: Machine[Payee] = Machine(
    model=Payee, events=PayeeEvent, task=ADVANCE_TASK, lists=(TOPIC,), locked_with=("account", "initiator")
)
create, move, touch, lock = MACHINE.create, MACHINE.move, MACHINE.touch, MACHINE.lock

_APPROVAL: Final = "exchange_ops_payeeapproval"
NO_QUORUM: Final = "a payee needs every approval of exactly this content"

GUARDS: Final = Guards(
    machine=MACHINE,
    history=(PayeeEvent, PayeeApproval),
    own=(
        Rule(
            "exchange_ops_payee",
            "quorum",
            "UPDATE",
            "NEW.state = 'cooling' AND OLD.state <> 'cooling' AND (SELECT COUNT(DISTINCT a.person_id) "
            "FROM exchange_ops_payeeapproval a JOIN desk_stepup s ON s.id = a.confirmation_id "
            "AND s.person_id = a.person_id AND s.digest = a.digest AND s.purpose = 'approve-payee' "
            "WHERE a.payee_id = NEW.id AND a.digest = NEW.digest AND a.verdict = 'approve') < 2",
            NO_QUORUM,
        ),
        Rule(
            _APPROVAL,
            "not_yours",
            "INSERT",
            "NOT EXISTS (SELECT 1 FROM exchange_ops_payee p WHERE p.id = NEW.payee_id "
            "AND p.initiator_id = NEW.initiator_id AND p.initiator_id <> NEW.person_id)",
            NOT_YOURS,
        ),
        Rule(
            _APPROVAL,
            "second_factor",
            "INSERT",
            "NEW.verdict <> 'reject' AND NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id "
            "AND s.person_id = NEW.person_id AND s.at = NEW.at AND s.purpose = 'approve-payee' "
            "AND s.digest = NEW.digest)",
            NOT_PROVEN,
        ),
    ),
)
