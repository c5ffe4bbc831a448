"""What this person can do to this withdrawal now, with buttons that say their effect, and otherwise why they can't."""

from dataclasses import dataclass
from datetime import datetime

from desk.machines.table import NONE
from desk.models import Person
from desk.people import factors
from desk.templatetags.desk import amount
from exchange_ops.policy import freezes, modes
from exchange_ops.shared import clocks
from exchange_ops.withdrawals import rules, states
from exchange_ops.withdrawals.decisions import approvals, open_holds, resolutions
from exchange_ops.withdrawals.models import Approval, Withdrawal

TREASURY_DECIDES = "Needs a treasury decision."
UNDECIDED = frozenset({states.REVIEW, states.HELD})


@dataclass(frozen=True, slots=True)
class Choices:
    """Which forms to show. `approve_label` and `reject_label` say what pressing them does to the money."""

    approve: bool = False
    reject: bool = False
    cancel: bool = False
    recall: bool = False
    resolve: bool = False
    release: bool = False
    progress: str = ""
    finding: str = ""
    approve_label: str = ""
    reject_label: str = ""
    why_not: str = ""

    @property
    def any(self) -> bool:
        """Whether there is anything to press."""
        return self.approve or self.reject or self.cancel or self.recall or self.resolve or self.release


def choices(row: Withdrawal, person: Person, *, now: datetime) -> Choices:
    """The choices of `person` on `row`. The domain decides again when one of them is submitted."""
    undecided = row.state in UNDECIDED and row.decision == NONE
    approved = approvals.people(row, approvals.stage_of(row)) if undecided else 0
    needed = approvals.needed(row) if undecided else 0
    may_decide = undecided and rules.may_decide(person, row)
    why_not = _why_not(row, person, now) if undecided else ""
    return Choices(
        approve=may_decide and not why_not,
        reject=may_decide,
        cancel=row.is_cancellable and rules.may_cancel(person, row),
        recall=rules.may_recall(person, row),
        resolve=rules.may_resolve(person, row),
        release=open_holds.stands(row) and open_holds.may_order(person, row),
        progress=_progress(row, approved) if undecided else "",
        finding=resolutions.finding_of(row, person) if rules.may_resolve(person, row) else "",
        approve_label=_approve_label(row, is_last=approved + 1 >= needed),
        reject_label="Reject and release funds" if row.state == states.HELD else "Reject payout",
        why_not=why_not,
    )


def _progress(row: Withdrawal, approved: int) -> str:
    if row.state == states.REVIEW or row.mode != modes.APPROVE_THEN_HOLD:
        return progress(row, reviewed=approved, released=approved)
    return progress(row, reviewed=approvals.people(row, Approval.REVIEW), released=approved)


def progress(row: Withdrawal, *, reviewed: int, released: int) -> str:
    """How many approvals there are; where those before the hold count, the final release is counted on top."""
    needed = max(row.quorum_required, 1)
    if row.state == states.REVIEW or row.mode != modes.APPROVE_THEN_HOLD or reviewed < needed:
        return f"{reviewed if row.state == states.REVIEW else released} of {needed} approvals"
    return f"{reviewed} of {needed} approvals, final release approval {released} of 1"


def _approve_label(row: Withdrawal, *, is_last: bool) -> str:
    figure = amount(row.amount, row.currency)
    if row.state == states.REVIEW:
        return f"Approve {figure} before the hold"
    return f"Approve and pay {figure}" if is_last else f"Approve {figure}, 1 more approval needed"


def _why_not(row: Withdrawal, person: Person, now: datetime) -> str:
    """The first reason why this person can't approve now; empty when they can."""
    if not rules.may_decide(person, row):
        is_own = person.pk == row.initiator_id
        return "You requested this payout, so another treasurer must decide." if is_own else TREASURY_DECIDES
    if row.state == states.HELD and row.echo_ok is not True:
        return "The exchange's record is being compared with the request. This takes a few seconds."
    if problem := freezes.no_approval(row.movement):
        return problem
    closes = row.approve_until if row.state == states.HELD else None
    if closes is not None and clocks.exchange_now(account=row.account, now=now) >= closes:
        return f"Approvals closed at {closes:%H:%M:%S} UTC; the funds are being released."
    if approvals.current(row).filter(person=person).exists():
        return "You approved this payout. Another treasurer must also approve."
    return factors.why_cooling_off(person, now=now)
