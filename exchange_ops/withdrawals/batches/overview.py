"""What the page of a batch shows: its payouts by line, their totals, and which of them a person can decide on."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from exchange_ops.policy.groups.needs import Tally
from exchange_ops.withdrawals import queries, rules, states
from exchange_ops.withdrawals.batches.models import PayoutBatch
from exchange_ops.withdrawals.decisions import approvals
from exchange_ops.withdrawals.models import Approval, Withdrawal

if TYPE_CHECKING:
    from desk.models import Person


@dataclass(slots=True)
class Total:
    """The payouts of one currency: how many, their amounts, and how many are in which state."""

    currency: str
    payouts: int = 0
    amount: Decimal = Decimal(0)
    labels: dict[str, int] = field(default_factory=dict)


def payouts(batch: PayoutBatch) -> list[Any]:
    """The payouts in the order of their lines, each with `line`, how it ended, and the `votes` that count now."""
    rows = queries.with_ends(Withdrawal.objects.filter(batch_line__batch=batch))
    ordered: list[Any] = list(rows.select_related("initiator", "account", "batch_line").order_by("batch_line__number"))
    open_rows = [row for row in ordered if row.state in {states.REVIEW, states.HELD}]
    by_stage = {stage: approvals.counting_by_row(open_rows, stage) for stage in (Approval.REVIEW, Approval.RELEASE)}
    for row in ordered:
        row.line = row.batch_line.number
        row.votes = by_stage[approvals.stage_of(row)].get(row.pk, []) if row in open_rows else []
        row.tally = approvals.tally_of(row, reviewed=by_stage[Approval.REVIEW], released=by_stage[Approval.RELEASE])
        row.progress = _progress(row.tally) if row in open_rows else ""
    return ordered


def totals(rows: Sequence[Withdrawal]) -> list[Total]:
    """The totals by currency."""
    by_currency: defaultdict[str, Total] = defaultdict(lambda: Total(""))
    for row in rows:
        total = by_currency[row.currency]
        total.currency = row.currency
        total.payouts += 1
        total.amount += row.amount
        total.labels[row.label] = total.labels.get(row.label, 0) + 1
    return [by_currency[code] for code in sorted(by_currency)]


def decidable(rows: Sequence[Any], person: "Person") -> list[Withdrawal]:
    """Those that wait for approvals and that this person may decide on and has not approved."""
    return [
        row
        for row in rows
        if rules.is_decidable(row)
        and rules.may_decide(person, row)
        and person.pk not in {vote.person_id for vote in row.votes}
        and row.tally.helps(person.pk)
    ]


def _progress(tally: Tally) -> str:
    return f"{tally.counted} of {tally.needed}{' final release' if tally.is_final else ''}"
