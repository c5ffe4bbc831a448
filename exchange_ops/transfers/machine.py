"""The machine of transfers: how a row moves, and what the database itself refuses. Its table is `states`.

Beyond what holds for the rows of every machine, an attempt is spent once and needs its call's row; money leaves for
others only with as many approvals of exactly this content as the rules asked for; nobody decides on their own request;
and what was known before a call stays as it was.
"""

from typing import Final

from desk.incidents.alarming import Alarming
from desk.machines.guards import NOT_PROVEN, NOT_YOURS, Guards, Rule, edited
from desk.machines.mover import CannotMove
from exchange_ops.policy.groups import needs as group_needs
from exchange_ops.shared import alarms
from exchange_ops.transfers import states
from exchange_ops.transfers.models import Transfer, TransferApproval, TransferCall, TransferEvent

__all__ = ["CannotMove", "create", "lock", "move", "touch"]

ADVANCE_TASK = "exchange_ops.advance_transfer"
MACHINE: Alarming[Transfer] = Alarming(
    model=Transfer,
    events=TransferEvent,
    task=ADVANCE_TASK,
    lists=("transfers",),
    locked_with=("account", "initiator"),
    alarms={states.INVESTIGATE: alarms.TRANSFER_UNCLEAR, states.NOT_SEEN: alarms.TRANSFER_NOT_SEEN},
)
create, move, touch, lock = MACHINE.create, MACHINE.move, MACHINE.touch, MACHINE.lock

_T: Final = "exchange_ops_transfer"
_APPROVAL: Final = "exchange_ops_transferapproval"
_CALL: Final = "exchange_ops_transfercall"
_KNOWN_BEFORE = ("transfer_id", "attempt", "fingerprint", "watermark", "created_from", "created_until", "send_by")

ATTEMPTS = "an attempt of a transfer is spent once, when it begins to be sent"
NO_QUORUM = "money leaves for others only with every approval of exactly this content"
CALL_FIXED = "what was known before a call is never edited"

GUARDS: Final = Guards(
    machine=MACHINE,
    history=(TransferEvent, TransferApproval),
    records=(TransferCall,),
    own=(
        Rule(
            _T,
            "attempts",
            "UPDATE",
            "NEW.attempt <> OLD.attempt AND NOT (NEW.attempt = OLD.attempt + 1 AND NEW.state = 'sending') "
            "OR (NEW.state = 'sending' AND OLD.state <> 'sending' AND NEW.attempt <> OLD.attempt + 1)",
            ATTEMPTS,
        ),
        Rule(
            _T,
            "quorum",
            "UPDATE",
            "NEW.state = 'sending' AND NEW.kind = 'to_user' AND ((SELECT COUNT(DISTINCT a.person_id) "
            "FROM exchange_ops_transferapproval a JOIN desk_stepup s ON s.id = a.confirmation_id "
            "AND s.person_id = a.person_id AND s.digest = a.digest AND s.purpose = 'approve-transfer' "
            "WHERE a.transfer_id = NEW.id AND a.digest = NEW.digest "
            "AND a.stage = 'review' AND a.verdict = 'approve') < NEW.quorum_required OR "
            + group_needs.unmet(
                approvals=_APPROVAL,
                owner="transfer_id",
                counted="s.purpose = 'approve-transfer' AND a.stage = 'review'",
            )
            + ")",
            NO_QUORUM,
        ),
        Rule(
            _APPROVAL,
            "not_yours",
            "INSERT",
            "NOT EXISTS (SELECT 1 FROM exchange_ops_transfer t WHERE t.id = NEW.transfer_id "
            "AND t.initiator_id = NEW.initiator_id AND t.initiator_id <> NEW.person_id)",
            NOT_YOURS,
        ),
        Rule(
            _APPROVAL,
            "second_factor",
            "INSERT",
            "NEW.verdict <> 'reject' AND NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id "
            "AND s.person_id = NEW.person_id AND s.at = NEW.at AND (NEW.stage <> 'resolution' "
            "AND s.purpose = 'approve-transfer' AND s.digest = NEW.digest "
            "OR NEW.stage = 'resolution' AND s.purpose = 'resolve-transfer'))",
            NOT_PROVEN,
        ),
        Rule(_CALL, "content_fixed", "UPDATE", edited(_KNOWN_BEFORE), CALL_FIXED),
    ),
)
