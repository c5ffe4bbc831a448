"""What this person can do to this transfer now, with buttons that say their effect, and otherwise why they can't."""

from dataclasses import dataclass

from desk import clock
from desk.models import Person
from desk.people import factors
from desk.templatetags.desk import amount
from exchange_ops.policy import freezes
from exchange_ops.policy.groups import approvers as group_approvers
from exchange_ops.policy.groups.needs import Tally
from exchange_ops.transfers import approvals, endings, rules, states
from exchange_ops.transfers.models import Transfer

TREASURY_DECIDES = "Needs a treasury decision."
CANCELLABLE = frozenset({states.REVIEW, states.APPROVED})
PEOPLES = frozenset({states.REVIEW, states.NOT_SEEN, states.INVESTIGATE})


@dataclass(frozen=True, slots=True)
class Choices:
    """Which forms to show. `approve_label` says what pressing it does to the money.

    `waits_for` says what is missing of approval groups and who can give it, `counts_for` of which group the person's
    own approval would be.
    """

    approve: bool = False
    reject: bool = False
    cancel: bool = False
    close: bool = False
    resolve: bool = False
    approved: int = 0
    needed: int = 0
    waits_for: str = ""
    counts_for: str = ""
    approve_label: str = ""
    why_not: str = ""
    finding: str = ""

    @property
    def any(self) -> bool:
        """Whether there is anything to press."""
        return self.approve or self.reject or self.cancel or self.close or self.resolve


def choices(row: Transfer, person: Person) -> Choices:
    """The choices of `person` on `row`. The domain decides again when one of them is submitted."""
    in_review = row.state == states.REVIEW
    tally = approvals.tally(row) if in_review else approvals.tally_of(row, ())
    may_decide = in_review and rules.may_decide_transfer(person, row)
    why_not = _why_not(row, person, tally) if row.state in PEOPLES else ""
    return Choices(
        approve=may_decide and not why_not,
        reject=may_decide,
        cancel=row.state in CANCELLABLE and rules.may_cancel_transfer(person, row),
        close=rules.may_close_transfer(person, row),
        resolve=rules.may_resolve_transfer(person, row),
        approved=tally.counted,
        needed=row.quorum_required if in_review else 0,
        waits_for=group_approvers.waits_for(row, tally) if in_review else "",
        counts_for=" or ".join(tally.for_groups(person.pk)) if may_decide and not why_not else "",
        approve_label=_approve_label(row, is_last=tally.counted + 1 >= row.quorum_required),
        why_not=why_not,
        finding=endings.finding_of(row, person) if rules.may_resolve_transfer(person, row) else "",
    )


def _approve_label(row: Transfer, *, is_last: bool) -> str:
    figure = amount(row.amount, row.currency)
    return f"Approve and send {figure}" if is_last else f"Approve {figure}, 1 more approval needed"


def _why_not(row: Transfer, person: Person, tally: Tally) -> str:
    """The first reason why this person can't decide now; empty when they can."""
    if not rules.may_decide_transfer(person, row):
        is_own = person.pk == row.initiator_id
        return "You requested this transfer, so another treasurer must decide." if is_own else TREASURY_DECIDES
    if row.state != states.REVIEW:
        return ""
    if problem := freezes.no_approval(row.movement):
        return problem
    if person.pk in tally.voters:
        return "You approved this transfer. Another treasurer must also approve."
    return tally.refusal(person.pk) or factors.why_cooling_off(person, now=clock.now())
