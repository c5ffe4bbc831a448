"""Who may do what to a withdrawal: predicates over a person and the row. Everything else is denied."""

from typing import TYPE_CHECKING

from desk.machines.table import NONE
from desk.people import roles
from exchange_ops.shared.models import Account
from exchange_ops.shared.rules import may, may_request
from exchange_ops.withdrawals import states
from exchange_ops.withdrawals.models import Withdrawal

if TYPE_CHECKING:
    from desk.models import Person


def may_decide(person: "Person", withdrawal: Withdrawal) -> bool:
    """Treasury approves and rejects, but never what they requested themselves."""
    return may(person, roles.TREASURY, at=withdrawal.account_id) and person.pk != withdrawal.initiator_id


def may_repeat(person: "Person", row: Withdrawal) -> bool:
    """Whether this person may request the same once more: it ended unpaid, and they may request on its account."""
    return row.state in states.REPEATABLE and may_request(person, row.account_id)


def may_cancel(person: "Person", withdrawal: Withdrawal) -> bool:
    """The requester can take it back; so can treasury before the exchange was asked."""
    if person.pk == withdrawal.initiator_id:
        return may(person, roles.OPERATOR, roles.TREASURY, at=withdrawal.account_id)
    return may(person, roles.TREASURY, at=withdrawal.account_id) and withdrawal.state in {states.DRAFT, states.QUEUED}


def may_recall(person: "Person", withdrawal: Withdrawal) -> bool:
    """Treasury can recall an approval as long as the exchange was not told to pay."""
    is_unordered = withdrawal.state == states.COMMITTING and withdrawal.put_count == 0
    return is_unordered and may(person, roles.TREASURY, at=withdrawal.account_id)


def may_resolve(person: "Person", withdrawal: Withdrawal) -> bool:
    """Two people of treasury close an unclear case, never the requester."""
    return may_decide(person, withdrawal) and withdrawal.state in {states.INVESTIGATE, states.DISPUTED}


def may_release_hold(person: "Person", withdrawal: Withdrawal) -> bool:
    """Two people of treasury have the hold of a closed request released, never the requester."""
    return may_decide(person, withdrawal) and withdrawal.state in states.CLOSED_STATES


def may_export_evidence(person: "Person", withdrawal: Withdrawal) -> bool:
    """Whoever answers for payouts or reviews them takes their evidence along; who only requests them does not."""
    return may_export_evidence_at(person, withdrawal.account_id)


def may_export_evidence_at(person: "Person", account: Account | int) -> bool:
    """Whether they may take along the evidence of the payouts of this account."""
    return may(person, roles.AUDITOR, roles.TREASURY, roles.ADMIN, at=account)


def is_decidable(withdrawal: Withdrawal) -> bool:
    """Whether the row waits for approvals."""
    if withdrawal.decision != NONE:
        return False
    return withdrawal.state == states.REVIEW or (withdrawal.state == states.HELD and withdrawal.echo_ok is True)
