"""Changing the rules: one person proposes, another agrees; the change is in force at once when nothing gets looser.

Both sign the whole content, the version it replaces and the reason; where other parts of the rules were published
meanwhile, the change is carried over to them (`carrying_over`). Everything here takes the audit trail's turn first,
so that people who act at the same moment act one after the other.
"""

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction

from desk import models
from desk.audit import trail
from desk.live import announcements
from desk.machines.decisions import Act, Acts, InTurn
from desk.people import roles, scopes, stepup
from exchange_ops.policy import comparison, payout_comparison, publishing, quorum, ruleset
from exchange_ops.policy.comparison import Difference
from exchange_ops.policy.groups import checking as group_rules
from exchange_ops.policy.models import PolicyVersion
from exchange_ops.policy.ruleset import Rules
from exchange_ops.policy_changes import carrying_over, machine, open_requests, rules, states
from exchange_ops.policy_changes.models import LONGEST_REASON, PolicyChange
from exchange_ops.shared.models import Account

if TYPE_CHECKING:
    from desk.models import Person

PROPOSE, AGREE = "propose-policy", "agree-policy"
NOBODY_MAY = "Only treasury and administrators can change the rules."
NOT_THERE = "No changes made: the rules also affect accounts you have no access to. Ask a colleague who has access."


class CannotChange(Exception):
    """The rules stay as they are; the text is the sentence for the person."""


def in_force() -> Rules:
    """The rules in force as a value."""
    return ruleset.rules_of(quorum.current())


def names() -> dict[str, str]:
    """The names of people and accounts by person:1 and account:1, for sentences about tiers and limits."""
    people = models.Person.objects.values_list("pk", "username")
    accounts = Account.objects.values_list("pk", "name")
    return {f"person:{pk}": name for pk, name in people} | {f"account:{pk}": name for pk, name in accounts}


def compared(new_rules: Rules) -> list[Difference]:
    """How these rules differ from those in force, in words."""
    return comparison.differences(in_force(), new_rules, names=names())


def problems(new_rules: Rules) -> list[str]:
    """What is wrong with these rules, one sentence each."""
    sentences = list(ruleset.problems(new_rules))
    all_names = names()
    if any(f"account:{number}" not in all_names for number in ruleset.accounts_apart(new_rules)):
        sentences.append("A tier refers to an unknown account.")
    for limit in new_rules.limits:
        scopes = {f"person:{limit.person}": limit.person, f"account:{limit.account}": limit.account}
        if any(number is not None and name not in all_names for name, number in scopes.items()):
            sentences.append("A limit refers to an unknown person or account.")
    for number, rule in enumerate(new_rules.payouts, 1):
        scopes = {f"person:{rule.person}": rule.person, f"account:{rule.account}": rule.account}
        if any(key is not None and name not in all_names for name, key in scopes.items()):
            sentences.append(f"Payout rule {number} refers to an unknown person or account.")
    if any(f"person:{member}" not in all_names for group in new_rules.groups for member in group.members):
        sentences.append("An approval group refers to an unknown person.")
    if not sentences and not compared(new_rules):
        sentences.append("Not proposed: these rules are already in force.")
    return sentences


def warnings(new_rules: Rules) -> list[str]:
    """Rules for payouts that make no difference, approvals that nobody can give, and approval groups without use; none
    of it forbids a proposal."""
    approvers, requesters = _holders(roles.TREASURY), _holders(roles.OPERATOR)
    counts: dict[int | None, int] = {pk: len(people) for pk, people in approvers.items()}
    counts[None] = min(counts.values(), default=0)
    fewest = min((tier.approvals for tier in new_rules.tiers), default=0)
    active = set(models.Person.objects.filter(is_active=True).values_list("pk", flat=True))
    return [
        *payout_comparison.lint(new_rules.payouts, fewest=fewest, approvers=counts),
        *group_rules.lint(
            new_rules.groups,
            ruleset.demands(new_rules),
            approvers=approvers,
            requesters=requesters,
            active=active,
            names=names(),
        ),
    ]


def _holders(role: str) -> dict[int, set[int]]:
    """The people who hold the role at each account."""
    return {
        pk: set(models.Person.objects.filter(scopes.holding(role, str(pk))).values_list("pk", flat=True))
        for pk in Account.objects.values_list("pk", flat=True)
    }


def as_of_now(row: PolicyChange) -> Rules | None:
    """What the rules would be with this change now; None where what it changes was changed after it was proposed."""
    content, now = ruleset.from_json(row.content), in_force()
    if row.base == _base():
        return content
    base = ruleset.rules_of(PolicyVersion.objects.filter(number=row.base).first())
    rules_then = carrying_over.carried_over(content, base=base, current=now)
    return None if rules_then is None or problems(rules_then) else rules_then


def digest_of(content: Mapping[str, Any], *, base: int, reason: str) -> str:
    """The digest that both people sign: of all the rules, the version that they replace, and the reason."""
    signed = ["countersign-policy-1", base, dict(content), reason]
    return hashlib.sha256(trail.canonical(signed).encode()).hexdigest()


def propose(
    *,
    new_rules: Rules,
    reason: str,
    actor: "Person",
    digest: str,
    answer: Mapping[str, Any],
    session_key: str,
    now: datetime,
) -> PolicyChange:
    """Propose new rules. Raises CannotChange, or `stepup.CannotConfirm`."""
    reason = reason.strip()
    act = Act(actor, now, session_key, reason, digest, answer)
    _refuse(act)
    if not 0 < len(reason) <= LONGEST_REASON:
        raise CannotChange(f"Enter a reason for the change, up to {LONGEST_REASON} characters.")
    with transaction.atomic():
        trail.take_turn()
        if sentences := problems(new_rules):
            raise CannotChange(" ".join(sentences))
        _refuse(act, new_rules)
        base, content = _base(), ruleset.as_json(new_rules)
        if digest != digest_of(content, base=base, reason=reason):
            raise CannotChange("Not proposed: the rules changed after you opened the page. Refresh, then decide.")
        row = PolicyChange(
            base=base,
            content=content,
            reason=reason,
            digest=digest,
            is_looser=any(each.is_looser for each in compared(new_rules)),
            proposed_by=actor,
            expires_at=now + states.OPEN_FOR,
        )
        row.proposed_with = PROPOSALS.confirm(act)
        machine.create(row, event="proposed", evidence=row.proposed_with.evidence(), **act.moved)
    return row


def agree(
    *, change_id: int, actor: "Person", digest: str, answer: Mapping[str, Any], session_key: str, now: datetime
) -> PolicyChange:
    """Agree to new rules: in force at once where nothing gets looser, else a day later. Raises like `propose`.

    Somebody whose factors are new can propose, and agree to what loosens nothing.
    """
    act = Act(actor, now, session_key, digest=digest, answer=answer)
    _refuse(act)
    with DECISIONS.transaction(change_id) as row:
        _refuse_unless_open(row, (states.PROPOSED,), actor)
        if row.proposed_by_id == actor.pk:
            raise CannotChange("You proposed this change; a second person must approve it.")
        new_rules = as_of_now(row)
        if row.expires_at <= now or new_rules is None:
            raise CannotChange(
                "Not approved: this proposal expired, or another rule change was published first. Propose it again."
            )
        _refuse(act, new_rules)
        if not rules.are_enough(row.proposed_by, actor, at=_concerned(row)):
            raise CannotChange("Not approved: the proposer or approver must be a treasurer, and both must be active.")
        if digest != row.digest or digest != digest_of(row.content, base=row.base, reason=row.reason):
            raise CannotChange("Not approved: the proposal changed after you opened it. Refresh, then decide.")
        # Compared again with the rules in force now: other parts of them may be newer than those it was proposed for.
        loosens = any(each.is_looser for each in compared(new_rules))
        if loosens:
            DECISIONS.refuse_while_cooling_off(act)
        confirmation = DECISIONS.confirm(act)
        words: dict[str, Any] = {"agreed_by": actor, "agreed_with": confirmation}
        words |= {"evidence": confirmation.evidence(), **act.moved}
        if loosens:
            due = now + states.LOOSENING_WAITS
            words |= {"in_force_at": due, "next_action_at": due}
            return machine.move(row, event="agreed", to=states.AGREED, **words)
        return _publish(row, new_rules, publisher=actor, **words)


def withdraw_or_reject(
    *, change_id: int, actor: "Person", comment: str, session_key: str, now: datetime
) -> PolicyChange:
    """Stop a change that waits: its author takes it back, anybody else who may change rules rejects it and says why."""
    comment = comment.strip()[:LONGEST_REASON]
    if not rules.may_keep(actor):
        raise CannotChange(NOBODY_MAY)
    act = Act(actor, now, session_key, comment)
    with DECISIONS.transaction(change_id) as row:
        _refuse_unless_open(row, (states.PROPOSED, states.AGREED), actor)
        is_own = row.proposed_by_id == actor.pk
        if not is_own and not rules.may_keep(actor, _concerned(row)):
            raise CannotChange(NOT_THERE)
        if not is_own and not comment:
            raise CannotChange("Enter a reason for the rejection; the proposer will see it.")
        event, to = ("withdrawn", states.WITHDRAWN) if is_own else ("rejected", states.REJECTED)
        columns: dict[str, Any] = {"ended_by": actor, "comment": comment, "next_action_at": None}
        return machine.move(row, event=event, to=to, **columns, **act.moved)


def review(*, now: datetime) -> int:
    """Publish the changes that are due, and end those that expired or were overtaken; returns how many moved."""
    waiting = PolicyChange.objects.filter(state__in=(states.PROPOSED, states.AGREED)).order_by("pk")
    return sum(_review_one(number, now) for number in waiting.values_list("pk", flat=True))


def _review_one(number: int, now: datetime) -> bool:
    with transaction.atomic():
        trail.take_turn()
        row = PolicyChange.objects.select_related("proposed_by", "agreed_by", "proposed_with", "agreed_with").get(
            pk=number
        )
        if row.state not in {states.PROPOSED, states.AGREED}:
            return False
        if (new_rules := as_of_now(row)) is None:
            _overtaken(row, "Another rule change was published first.", now)
        elif row.state == states.PROPOSED and row.expires_at <= now:
            machine.move(row, event="expired", to=states.EXPIRED, now=now)
        elif row.state == states.AGREED and row.in_force_at is not None and row.in_force_at <= now:
            if _is_signed_by_two(row):
                _publish(row, new_rules, publisher=row.agreed_by, now=now)
            else:
                _overtaken(row, "The proposer or approver no longer has the required role.", now)
        else:
            return False
    return True


def _publish(
    row: PolicyChange, new_rules: Rules, *, publisher: "Person | None", now: datetime, **words: Any
) -> PolicyChange:
    number = _base() + 1
    publishing.publish(new_rules, number=number, note=row.reason, publisher=publisher, now=now)
    columns = {**words, "version_number": number, "next_action_at": None}
    moved = machine.move(row, event="published", to=states.PUBLISHED, now=now, **columns)
    open_requests.wake(now=now)
    announcements.announce("approvals")
    return moved


def _overtaken(row: PolicyChange, why: str, now: datetime) -> None:
    machine.move(row, event="overtaken", to=states.OVERTAKEN, now=now, next_action_at=None, last_problem=why)


def _is_signed_by_two(row: PolicyChange) -> bool:
    """Whether both people still may change rules, and each signed exactly this content with a second factor."""
    if row.agreed_by is None or not rules.are_enough(row.proposed_by, row.agreed_by, at=_concerned(row)):
        return False
    if row.digest != digest_of(row.content, base=row.base, reason=row.reason):
        return False
    words = ((row.proposed_by, row.proposed_with, PROPOSE), (row.agreed_by, row.agreed_with, AGREE))
    for person, confirmation, purpose in words:
        if not stepup.proves(confirmation, person_id=person.pk, purpose=purpose, digests={row.digest}):
            return False
        if person.words_from is not None and confirmation is not None and confirmation.at < person.words_from:
            return False
    return True


def may_decide(person: "Person", row: PolicyChange) -> bool:
    """Whether this person may agree to a change or reject it, judged by the accounts that it concerns."""
    return rules.may_keep(person) and (not person.limits or rules.may_keep(person, _concerned(row)))


def _concerned(row: PolicyChange) -> set[str]:
    """The accounts that a change concerns, compared with the rules in force."""
    return ruleset.concerned(in_force(), as_of_now(row) or ruleset.from_json(row.content))


def _refuse(act: Act, new_rules: Rules | None = None) -> None:
    if not rules.may_keep(act.person):
        raise CannotChange(NOBODY_MAY)
    if new_rules is not None and not rules.may_keep(act.person, ruleset.concerned(in_force(), new_rules)):
        raise CannotChange(NOT_THERE)


def _base() -> int:
    policy = quorum.current()
    return 0 if policy is None else policy.number


def _refuse_unless_open(row: PolicyChange, open_states: tuple[str, ...], actor: "Person") -> None:
    if not models.Person.objects.filter(pk=actor.pk, is_active=True, groups__name__in=rules.WHO).exists():
        raise CannotChange(NOBODY_MAY)
    if row.state not in open_states:
        raise CannotChange(f"No changes made: this proposal is already closed ({row.label.lower()}).")


PROPOSALS: Final = Acts(PROPOSE, CannotChange)
DECISIONS: Final = InTurn(
    AGREE,
    CannotChange,
    machine.MACHINE,
    missing="Rule change not found.",
    why_over=lambda row: "No changes made: a colleague acted on this proposal first. Refresh.",
    read_with=("proposed_by", "agreed_by"),
)
