"""Payouts decided in a selection: each as its own page shows it, by the same rules as there."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from desk.actions import attachments
from desk.actions.models import Attachment
from desk.actions.selection import Card, Selectable
from exchange_ops.shared import clocks, rules
from exchange_ops.withdrawals import states
from exchange_ops.withdrawals.decisions import approvals
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.proofs import payouts
from exchange_ops.withdrawals.recipients import briefing
from exchange_ops.withdrawals.recipients.briefing import Recipient
from exchange_ops.withdrawals.views import decisions, detail

if TYPE_CHECKING:
    from desk.models import Person

_OUTCOMES: Final = {
    states.COMMITTING: "Approved. The payment order is being sent to the exchange.",
    states.QUEUED: "Approved. The funds are being reserved.",
    states.HELD: "Nothing has been paid yet. Approval recorded; another treasurer must also approve.",
    states.REVIEW: "Nothing has been sent yet. Approval recorded; another treasurer must also approve.",
    states.ROLLING_BACK: "Rejected. Nothing was paid; the funds are being released.",
    states.CANCELLED: "Rejected. Nothing was sent.",
}


def cards(person: "Person", numbers: Collection[int], now: datetime) -> Mapping[int, Card]:
    """Those of these payouts that the person may see, by number."""
    rows = Withdrawal.objects.filter(pk__in=numbers).select_related("account", "initiator", "decided_by")
    visible = list(rules.seen_by(person, rows))
    recipients, files = briefing.of_rows(visible, now=now), attachments.of_each([row.subject for row in visible])
    return {row.pk: _card(row, person, recipients[row.pk], files.get(row.subject, []), now) for row in visible}


def _card(row: Withdrawal, person: "Person", recipient: Recipient, files: list[Attachment], now: datetime) -> Card:
    choices = decisions.choices(row, person, now=now)
    facts: dict[str, Any] = {
        "choices": choices,
        "recipient": recipient,
        "files": files,
        "destination": detail.destination_of(row),
        "exchange_now": clocks.exchange_now(account=row.account, now=now),
        "on_chain": row.currency == payouts.COIN,
        "words": list(row.approvals.select_related("person", "confirmation__signed_with").order_by("at", "pk")),
        "progress": choices.progress,
        "missing": choices.waits_for,
    }
    return Card(
        row=row,
        template="exchange_ops/withdrawal/_card.html",
        digest=row.digest,
        purpose=approvals.purpose_of(row),
        approve_label=choices.approve_label,
        reject_label=choices.reject_label,
        why_not="" if choices.approve else choices.why_not or f"No decision needed. {row.sentence}",
        may_reject=choices.reject,
        facts=facts,
    )


SELECTABLE: Final = Selectable(
    model=Withdrawal,
    owner="withdrawal_id",
    cards=cards,
    approve=approvals.approve,
    reject=approvals.reject,
    refusals=(approvals.CannotApprove,),
    outcomes=_OUTCOMES,
)
