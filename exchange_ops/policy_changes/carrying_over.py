"""A change of the rules, carried over to rules that were published after it was proposed.

What people sign is the change from the rules in force then. It has a part for the whole desk (the tiers, limits and
payout rules of every other account, the ages, the bounds) and a part for each account with any of its own. As long as
nobody changed a part that it changes, other parts are taken as they are now: people of one account can't stop a change
of another one, or of the whole desk.
"""

from dataclasses import replace
from typing import Any

from exchange_ops.policy import ruleset
from exchange_ops.policy.payout_rules import PayoutRule
from exchange_ops.policy.ruleset import Limit, Rules, Tier

_DESK = None


def carried_over(content: Rules, *, base: Rules, current: Rules) -> Rules | None:
    """What `content`, proposed to replace `base`, makes of `current`; None where a part that it changes was changed."""
    # In one order: the numbers of rules for payouts are their places.
    parts = [_DESK, *sorted({account for rules in (base, content, current) for account in _accounts(rules)})]
    changed = {part for part in parts if _part(base, part) != _part(content, part)}
    if any(_part(base, part) != _part(current, part) for part in changed):
        return None
    sources = {part: content if part in changed else current for part in parts}
    return replace(
        sources[_DESK],
        tiers=ruleset.in_order(tier for part, rules in sources.items() for tier in _tiers(rules, part)),
        limits=tuple(limit for part, rules in sources.items() for limit in _limits(rules, part)),
        payouts=tuple(rule for part, rules in sources.items() for rule in _payouts(rules, part)),
    )


def _accounts(rules: Rules) -> set[int]:
    own = [*(tier.account for tier in rules.tiers), *(limit.account for limit in rules.limits)]
    own += [rule.account for rule in rules.payouts]
    return {account for account in own if account is not None}


def _part(rules: Rules, account: int | None) -> list[Any]:
    own: list[Any] = [_tiers(rules, account), {*_limits(rules, account)}, {*_payouts(rules, account)}]
    return own if account is not None else [*own, replace(rules, tiers=(), limits=(), payouts=())]


def _tiers(rules: Rules, account: int | None) -> tuple[Tier, ...]:
    return ruleset.in_order(tier for tier in rules.tiers if tier.account == account)


def _limits(rules: Rules, account: int | None) -> tuple[Limit, ...]:
    return tuple(limit for limit in rules.limits if limit.account == account)


def _payouts(rules: Rules, account: int | None) -> tuple[PayoutRule, ...]:
    return tuple(rule for rule in rules.payouts if rule.account == account)
