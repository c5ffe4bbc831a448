"""What a person can do about an order that waits for an approval, and why not when they can't."""

from typing import Any

from desk import clock
from desk.models import Person
from desk.people import factors
from exchange_ops.orders import states
from exchange_ops.orders.decisions import approvals
from exchange_ops.orders.forms import TokensField
from exchange_ops.orders.models import Order
from exchange_ops.orders.ticket import confirmations
from exchange_ops.policy import freezes
from exchange_ops.shared.forms import DecisionForm, ReasonForm

TREASURY_DECIDES = "Treasury must decide."
OWN = "You requested this order, so another treasurer must decide."


class ApproveForm(DecisionForm):
    """An approval, with confirmations by name of how the market moved since the request."""

    confirmed = TokensField(required=False)


def decision_context(row: Order, person: Person, *, confirmed: Any = ()) -> dict[str, Any]:
    """What this person can do about an order that waits, and why not; nothing for any other order."""
    if row.state != states.WAITING:
        return {}
    now = clock.now()
    may_decide, oversteps = approvals.may_decide(person, row), approvals.find_oversteps(row, now=now)
    return {
        "waits": True,
        "may_approve": may_decide and not _why_not(row, person),
        "may_decline": may_decide,
        "may_withdraw": approvals.may_withdraw(person, row),
        "why_not": _why_not(row, person),
        "oversteps": confirmations.ticks(approvals.to_confirm(row, oversteps), confirmed),
        "purpose": approvals.PURPOSE,
        "digest": row.digest,
        "approve_form": ApproveForm(),
        "decline_form": ReasonForm(prefix="decline"),
        "withdraw_form": ReasonForm(prefix="withdraw"),
    }


def _why_not(row: Order, person: Person) -> str:
    """The first reason why this person can't approve it now; empty when they can."""
    if not approvals.may_decide(person, row):
        return OWN if person.pk == row.initiator_id else TREASURY_DECIDES
    if problem := freezes.no_approval(row.movement):
        return problem
    if approvals.is_of_older_form(row):
        return approvals.OLDER_FORM
    return factors.why_cooling_off(person, now=clock.now())
