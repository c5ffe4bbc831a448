"""What this person can do to this transfer now, with buttons that say their effect, and otherwise why they can't."""

from dataclasses import dataclass

from desk import clock
from desk.models import Person
from desk.people import factors
from desk.templatetags.desk import amount
from exchange_ops.policy import freezes
from exchange_ops.transfers import approvals, endings, rules, states
from exchange_ops.transfers.models import Transfer

TREASURY_DECIDES = "Needs a treasury decision."
CANCELLABLE = frozenset({states.REVIEW, states.APPROVED})
PEOPLES = frozenset({states.REVIEW, states.NOT_SEEN, states.INVESTIGATE})


@dataclass(frozen=True, slots=True)
class Choices:
    """Which forms to show. `approve_label` says what pressing it does to the money."""

    approve: bool = False
    reject: bool = False
    cancel: bool = False
    close: bool = False
    resolve: bool = False
    approved: int = 0
    needed: int = 0
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
    approved = approvals.current(row).values("person").distinct().count() if in_review else 0
    may_decide = in_review and rules.may_decide_transfer(person, row)
    why_not = _why_not(row, person) if row.state in PEOPLES else ""
    return Choices(
        approve=may_decide and not why_not,
        reject=may_decide,
        cancel=row.state in CANCELLABLE and rules.may_cancel_transfer(person, row),
        close=rules.may_close_transfer(person, row),
        resolve=rules.may_resolve_transfer(person, row),
        approved=approved,
        needed=row.quorum_required if in_review else 0,
        approve_label=_approve_label(row, is_last=approved + 1 >= row.quorum_required),
        why_not=why_not,
        finding=endings.finding_of(row, person) if rules.may_resolve_transfer(person, row) else "",
    )


def _approve_label(row: Transfer, *, is_last: bool) -> str:
    figure = amount(row.amount, row.currency)
    return f"Approve and send {figure}" if is_last else f"Approve {figure}, 1 more approval needed"


def _why_not(row: Transfer, person: Person) -> str:
    """The first reason why this person can't decide now; empty when they can."""
    if not rules.may_decide_transfer(person, row):
        is_own = person.pk == row.initiator_id
        return "You requested this transfer, so another treasurer must decide." if is_own else TREASURY_DECIDES
    if row.state != states.REVIEW:
        return ""
    if problem := freezes.no_approval(row.movement):
        return problem
    if approvals.current(row).filter(person=person).exists():
        return "You approved this transfer. Another treasurer must also approve."
    return factors.why_cooling_off(person, now=clock.now())
