"""Transfers decided in a selection: each as its own page shows it, by the same rules as there."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from desk.actions.selection import Card, Selectable
from exchange_ops.shared import rules
from exchange_ops.subaccounts.models import SubAccount
from exchange_ops.transfers import approvals, states
from exchange_ops.transfers.models import Transfer
from exchange_ops.transfers.views import briefing, decisions

if TYPE_CHECKING:
    from desk.models import Person

_OUTCOMES: Final = {
    states.APPROVED: "Approved. The transfer is being sent now.",
    states.REVIEW: "Nothing has been sent yet. Approval recorded; another treasurer must also approve.",
    states.REJECTED: "Rejected. Nothing was sent.",
}


def cards(person: "Person", numbers: Collection[int], now: datetime) -> Mapping[int, Card]:
    """Those of these transfers that the person may see, by number."""
    rows = Transfer.objects.filter(pk__in=numbers).select_related("account", "initiator", "decided_by", "reissues")
    visible = list(rules.seen_by(person, rows))
    briefings = briefing.briefings(visible)
    return {row.pk: _card(row, person, briefings.get(row.pk)) for row in visible}


def _card(row: Transfer, person: "Person", row_briefing: briefing.Briefing | None) -> Card:
    choices = decisions.choices(row, person)
    may_approve = choices.approve and row.state == states.REVIEW
    number = row.subaccount_id
    subaccounts = SubAccount.objects.filter(account=row.account_id)
    facts: dict[str, Any] = {
        "briefing": row_briefing,
        "subaccount": None if number is None else subaccounts.filter(exchange_id=number).first(),
        "words": list(row.approvals.select_related("person", "confirmation__signed_with").order_by("at", "pk")),
        "progress": f"{choices.approved} of {choices.needed} approvals" if choices.needed else "",
        "missing": choices.waits_for,
    }
    return Card(
        row=row,
        template="exchange_ops/transfer/_card.html",
        digest=row.digest,
        purpose=approvals.PURPOSE,
        approve_label=choices.approve_label,
        reject_label="Reject transfer",
        why_not="" if may_approve else choices.why_not or f"No decision needed. {row.sentence}",
        may_reject=choices.reject,
        facts=facts,
    )


SELECTABLE: Final = Selectable(
    model=Transfer,
    owner="transfer_id",
    cards=cards,
    approve=approvals.approve,
    reject=approvals.reject,
    refusals=(approvals.CannotApprove,),
    outcomes=_OUTCOMES,
)
