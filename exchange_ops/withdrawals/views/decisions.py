"""What this person can do to this withdrawal now, with buttons that say their effect, and otherwise why they can't."""

from dataclasses import dataclass
from datetime import datetime

from desk.machines.table import NONE
from desk.models import Person
from desk.people import factors
from desk.templatetags.desk import amount
from exchange_ops.policy import freezes
from exchange_ops.policy.groups import approvers as group_approvers
from exchange_ops.policy.groups.needs import Tally
from exchange_ops.shared import clocks
from exchange_ops.withdrawals import rules, states
from exchange_ops.withdrawals.decisions import approvals, open_holds, resolutions
from exchange_ops.withdrawals.models import Withdrawal

TREASURY_DECIDES = "Needs a treasury decision."
UNDECIDED = frozenset({states.REVIEW, states.HELD})


@dataclass(frozen=True, slots=True)
class Choices:
    """Which forms to show. `approve_label` and `reject_label` say what pressing them does to the money.

    `waits_for` says what is missing of approval groups and who can give it, `counts_for` of which group the person's
    own approval would be.
    """

    approve: bool = False
    reject: bool = False
    cancel: bool = False
    recall: bool = False
    resolve: bool = False
    release: bool = False
    progress: str = ""
    waits_for: str = ""
    counts_for: str = ""
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
    voters = approvals.voters(row) if undecided else {"reviewed": frozenset(), "released": frozenset()}
    tally = approvals.tally(row, **voters)
    may_decide = undecided and rules.may_decide(person, row)
    why_not = _why_not(row, person, tally, now) if undecided else ""
    return Choices(
        approve=may_decide and not why_not,
        reject=may_decide,
        cancel=row.is_cancellable and rules.may_cancel(person, row),
        recall=rules.may_recall(person, row),
        resolve=rules.may_resolve(person, row),
        release=open_holds.stands(row) and open_holds.may_order(person, row),
        progress=progress(row, tally, before=len(voters["reviewed"])) if undecided else "",
        waits_for=group_approvers.waits_for(row, tally) if undecided else "",
        counts_for=" or ".join(tally.for_groups(person.pk)) if may_decide and not why_not else "",
        finding=resolutions.finding_of(row, person) if rules.may_resolve(person, row) else "",
        approve_label=_approve_label(row, tally, person),
        reject_label="Reject and release funds" if row.state == states.HELD else "Reject payout",
        why_not=why_not,
    )


def progress(row: Withdrawal, tally: Tally, *, before: int) -> str:
    """How many approvals count; where those `before` the hold are enough, the final release is counted on top."""
    quorum = max(row.quorum_required, 1)
    if tally.is_final:
        return f"{before} of {quorum} approvals, final release approval {tally.counted} of 1"
    return f"{tally.counted} of {quorum} approvals"


def _approve_label(row: Withdrawal, tally: Tally, person: Person) -> str:
    figure = amount(row.amount, row.currency)
    if row.state == states.REVIEW:
        return f"Approve {figure} before the hold"
    is_last = tally.counted + 1 >= tally.needed
    return f"Approve and pay {figure}" if is_last else f"Approve {figure}, 1 more approval needed"


def _why_not(row: Withdrawal, person: Person, tally: Tally, now: datetime) -> str:
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
    if person.pk in tally.voters:
        return "You approved this payout. Another treasurer must also approve."
    return tally.refusal(person.pk) or factors.why_cooling_off(person, now=now)
