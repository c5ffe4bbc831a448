"""How rules for payouts compare: which of them make no difference, and how two sets differ."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from exchange_ops.policy import payout_rules
from exchange_ops.policy.groups import needs as group_needs
from exchange_ops.policy.payout_rules import PayoutRule

_OF_RECIPIENT: Final = {
    payout_rules.RECIPIENT_TOTAL: payout_rules.TOTAL,
    payout_rules.RECIPIENT_COUNT: payout_rules.COUNT,
}


def implies(wide: PayoutRule, narrow: PayoutRule) -> bool:
    """Whether every payout that exceeds `narrow` exceeds `wide` as well, with an outcome at least as strict.

    A total over a wider scope or a longer window is never the smaller one.
    """
    is_as_strict = wide.strictness >= narrow.strictness and (
        not wide.approvals or group_needs.cover(wide.needs, narrow.needs)
    )
    if not is_as_strict or not _is_wider(wide, narrow):
        return False
    measures = {narrow.measure, _OF_RECIPIENT.get(narrow.measure, narrow.measure)}
    if wide.measure not in measures or wide.window_h < narrow.window_h:
        return False
    if narrow.measure == payout_rules.HOURS:
        return {*wide.open_hours} <= {*narrow.open_hours}
    if narrow.measure == payout_rules.NOT_APPROVED:
        return wide.group == narrow.group or not narrow.group
    return (wide.most or 0) <= (narrow.most or 0)


def _is_wider(wide: PayoutRule, narrow: PayoutRule) -> bool:
    same_requester = (wide.person, wide.role) == (narrow.person, narrow.role)
    return (
        wide.account in {None, narrow.account}
        and wide.currency in {"", narrow.currency}
        and (same_requester or (wide.person is None and not wide.role))
    )


def lint(rules: Sequence[PayoutRule], *, fewest: int, approvers: Mapping[int | None, int]) -> Iterator[str]:
    """Rules that make no difference, and rules whose approvals nobody can give, one sentence each. It forbids nothing.

    `fewest` is the smallest number of approvals that a tier requires. `approvers` is how many people can approve at
    each account; under None at the account with the fewest.
    """
    for number, rule in enumerate(rules, 1):
        others = ((place, other) for place, other in enumerate(rules, 1) if place != number)
        stricter = next(
            (place for place, other in others if implies(other, rule) and (not implies(rule, other) or place < number)),
            None,
        )
        if stricter is not None:
            yield f"Rule {number} makes no difference: rule {stricter} is at least as strict."
        elif 0 < rule.approvals <= fewest and not rule.needs:
            need = "1 approval" if fewest == 1 else f"{fewest} approvals"
            yield f"Rule {number} makes no difference: every tier requires {need} or more."
        count = approvers.get(rule.account, approvers.get(None, 0))
        if rule.approvals > count:
            people = "1 person" if count == 1 else f"{count} people"
            yield f"Rule {number} requires {rule.approvals} approvals, but only {people} can approve."


def differences(
    old: Sequence[PayoutRule], new: Sequence[PayoutRule], *, currency: str, names: Mapping[str, str]
) -> Iterator[tuple[str, bool]]:
    """How `new` differs from `old`: sentences, each with whether it is looser.

    A rule that went is looser unless a rule of `new` is at least as strict about all that it covered.
    """
    gone, added = [rule for rule in old if rule not in new], [rule for rule in new if rule not in old]
    for rule in gone:
        is_looser = not any(implies(other, rule) for other in new)
        changed = next((other for other in added if other.scope == rule.scope), None)
        if changed is None:
            yield f"Removed: {payout_rules.in_words(rule, currency=currency, names=names)}", is_looser
            continue
        added.remove(changed)
        words = payout_rules.in_words(changed, currency=currency, names=names).rstrip(".")
        yield f"{words} (was: {payout_rules.terms(rule, currency)}).", is_looser
    for rule in added:
        yield f"New: {payout_rules.in_words(rule, currency=currency, names=names)}", False
