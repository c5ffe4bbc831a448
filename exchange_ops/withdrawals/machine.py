"""The machine of payouts: how a row moves, and what the database itself refuses. Its table is `states`.

Beyond what holds for the rows of every machine, a decision is made once. It falls with the content that it was about as
long as the exchange was told nothing. The exchange is told to pay a hold or to release it, never both; nobody decides
on their own request; and an approval counts only with the second factor given for it.
"""

from typing import Final

from desk.incidents.alarming import Alarming
from desk.machines.guards import NOT_PROVEN, NOT_YOURS, Guards, Rule
from desk.machines.mover import CannotMove
from exchange_ops.policy.groups import needs as group_needs
from exchange_ops.shared import alarms
from exchange_ops.withdrawals import states
from exchange_ops.withdrawals.batches.models import PayoutBatch, PayoutBatchLine
from exchange_ops.withdrawals.models import Approval, ExternalCall, HoldReleaseVote, Withdrawal, WithdrawalEvent

__all__ = ["CannotMove", "create", "lock", "move", "task_of", "touch"]

ADVANCE_TASK = "exchange_ops.advance"
RELEASE_TASK = "exchange_ops.release"  # the same step in a worker of its own, which no other call can fill
MACHINE: Alarming[Withdrawal] = Alarming(
    model=Withdrawal,
    events=WithdrawalEvent,
    task=ADVANCE_TASK,
    tasks={states.ROLLING_BACK: RELEASE_TASK},
    lists=("withdrawals",),
    locked_with=("account", "initiator"),
    alarms=dict.fromkeys((states.DISPUTED, states.INVESTIGATE), alarms.PAYOUT_DISPUTED),
)
create, move, touch, lock, task_of = MACHINE.create, MACHINE.move, MACHINE.touch, MACHINE.lock, MACHINE.task_of

_T: Final = "exchange_ops_withdrawal"
_APPROVAL: Final = "exchange_ops_approval"
_RELEASE: Final = "exchange_ops_holdreleasevote"
_LINE: Final = "exchange_ops_payoutbatchline"

LATCHED = "the decision on a withdrawal is made once"
ONE_VERB = "a hold is told to be paid or to be released, never both"
NOT_OF_BATCH = "a line of a batch is a payout of the same account and requester"
GROUPS_MISSING = "a payout is ordered only with the approvals of every group that it needs"
NOT_CONFIRMED = "a release is ordered with a second factor of the person for exactly this hold"

GUARDS: Final = Guards(
    machine=MACHINE,
    history=(WithdrawalEvent, Approval, HoldReleaseVote, PayoutBatch, PayoutBatchLine),
    records=(ExternalCall,),
    own=(
        Rule(
            _T,
            "decision_latched",
            "UPDATE",
            "OLD.decision <> 'none' AND NEW.decision {n} OLD.decision AND NOT ("
            "OLD.decision = 'commit' AND OLD.put_count = 0 AND NEW.put_count = 0 AND (NEW.decision = 'rollback' "
            "OR NEW.decision = 'none' AND NEW.state = 'held' AND NEW.digest <> OLD.digest))",
            LATCHED,
        ),
        Rule(
            _T,
            "one_verb",
            "UPDATE",
            "NEW.put_count < OLD.put_count OR NEW.delete_count < OLD.delete_count "
            "OR (NEW.put_count > 0 AND NEW.delete_count > 0) "
            "OR (NEW.put_count > OLD.put_count AND NEW.decision <> 'commit') "
            "OR (NEW.delete_count > OLD.delete_count AND NEW.decision <> 'rollback')",
            ONE_VERB,
        ),
        Rule(
            _T,
            "group_needs",
            "UPDATE",
            "NEW.decision = 'commit' AND (OLD.decision <> 'commit' OR NEW.put_count > OLD.put_count) AND "
            + group_needs.unmet(
                approvals=_APPROVAL,
                owner="withdrawal_id",
                counted="(s.purpose = 'approve-withdrawal' OR s.purpose = 'approve-held-withdrawal' "
                "AND a.stage = 'release') AND a.stage <> 'resolution'",
            ),
            GROUPS_MISSING,
        ),
        Rule(
            _APPROVAL,
            "not_by_the_initiator",
            "INSERT",
            "NOT EXISTS (SELECT 1 FROM exchange_ops_withdrawal w WHERE w.id = NEW.withdrawal_id "
            "AND w.initiator_id = NEW.initiator_id AND w.initiator_id <> NEW.person_id)",
            NOT_YOURS,
        ),
        Rule(
            _APPROVAL,
            "second_factor",
            "INSERT",
            "NEW.verdict <> 'reject' AND NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id "
            "AND s.person_id = NEW.person_id AND s.at = NEW.at AND (NEW.stage <> 'resolution' "
            "AND (s.purpose = 'approve-withdrawal' OR NEW.stage = 'release' AND s.purpose = 'approve-held-withdrawal') "
            "AND s.digest = NEW.digest "
            "OR NEW.stage = 'resolution' AND s.purpose = 'resolve-withdrawal'))",
            NOT_PROVEN,
        ),
        Rule(
            _RELEASE,
            "is_confirmed",
            "INSERT",
            "NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id AND s.person_id = NEW.person_id "
            "AND s.purpose = 'release-hold' AND s.digest = NEW.digest)",
            NOT_CONFIRMED,
        ),
        Rule(
            _RELEASE,
            "not_by_the_initiator",
            "INSERT",
            "EXISTS (SELECT 1 FROM exchange_ops_withdrawal w WHERE w.id = NEW.withdrawal_id "
            "AND w.initiator_id = NEW.person_id)",
            NOT_YOURS,
        ),
        Rule(
            _LINE,
            "of_its_batch",
            "INSERT",
            "NOT EXISTS (SELECT 1 FROM exchange_ops_withdrawal w JOIN exchange_ops_payoutbatch b "
            "ON b.account_id = w.account_id AND b.initiator_id = w.initiator_id "
            "WHERE w.id = NEW.withdrawal_id AND b.id = NEW.batch_id)",
            NOT_OF_BATCH,
        ),
    ),
)
