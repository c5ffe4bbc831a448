"""How two sets of rules differ, in words. A difference is looser when it allows something that was not allowed before.

Every other difference is tighter, or says only which tiers apply to an account.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from exchange_ops.policy import payout_comparison
from exchange_ops.policy.groups import checking as group_rules
from exchange_ops.policy.groups import needs as group_needs
from exchange_ops.policy.groups.needs import Needs
from exchange_ops.policy.models import ValueLimit
from exchange_ops.policy.modes import APPROVE_THEN_HOLD, BEYOND, HOLD_THEN_APPROVE, REFUSE, STRICTNESS
from exchange_ops.policy.ruleset import Rules, Tier, accounts_apart, tier_of, tiers_for

_ORDERS: Final = {
    HOLD_THEN_APPROVE: "funds are reserved before approval",
    APPROVE_THEN_HOLD: "approval comes before funds are reserved",
}

_BEFORE: Final = {"confirm": "explicit confirmation", "approve": "approval", "refuse": "rejected"}


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between two sets of rules, in words; `is_scope`: it only says which tiers apply to an account."""

    sentence: str
    is_looser: bool
    is_scope: bool = False


def differences(old: Rules, new: Rules, *, names: Mapping[str, str]) -> list[Difference]:
    """How `new` differs from `old`, in words. `names` maps person:1 and account:1 to what they are called."""
    changes = list(_tiers(old, new, names))
    if old.value_max_age_s != new.value_max_age_s:
        sentence = f"Maximum price age: {new.value_max_age_s} s (was {old.value_max_age_s} s)."
        changes.append(Difference(sentence, is_looser=new.value_max_age_s > old.value_max_age_s))
    changes += _bound("Order price off market", old.price_bound, new.price_bound, " %")
    changes += _fee(old, new)
    before, after = ({limit.scope: (limit.most, limit.beyond) for limit in rules.limits} for rules in (old, new))
    for scope in sorted({*before, *after}, key=str):
        unit = "" if scope[0] == ValueLimit.OPEN_ORDERS else f" {new.currency}"
        changes += _bound(_about(scope, names), before.get(scope), after.get(scope), unit)
    of_payouts = payout_comparison.differences(old.payouts, new.payouts, currency=new.currency, names=names)
    of_groups = group_rules.differences(old.groups, new.groups, names=names)
    return [*changes, *(Difference(sentence, is_looser) for sentence, is_looser in [*of_payouts, *of_groups])]


def _tiers(old: Rules, new: Rules, names: Mapping[str, str]) -> Iterator[Difference]:
    """What changes for accounts without tiers of their own, then for each account that has or had its own."""
    had, has = accounts_apart(old), accounts_apart(new)
    apart = sorted({*had, *has})
    yield from _tiers_of(old, new, None, "All other accounts" if apart else "")
    for account in apart:
        who = names.get(f"account:{account}", f"account {account}")
        if account not in had:
            yield Difference(
                f"{who} has its own tiers; the default tiers no longer apply to it.", is_looser=False, is_scope=True
            )
        if account not in has:
            sentence = f"{who} no longer has its own tiers; the default tiers apply to it."
            yield Difference(sentence, is_looser=False, is_scope=True)
        yield from _tiers_of(old, new, account, who)


def _tiers_of(old: Rules, new: Rules, account: int | None, who: str) -> Iterator[Difference]:
    judging = (*tiers_for(old, account), *tiers_for(new, account))
    ends = sorted({tier.up_to for tier in judging if tier.up_to is not None})
    above = (ends[-1] if ends else Decimal(0)) + 1
    begins: Decimal | None = None
    for end in [*ends, None]:
        at = above if end is None else end
        before, after = tier_of(old, at, account), tier_of(new, at, account)
        where = _range(begins, end, new.currency)
        if who:
            where = f"{who}, {where[0].lower()}{where[1:]}"
        begins = end
        if _terms(before) == _terms(after):
            continue
        if before is None or after is None:
            what = "no payouts allowed"
            if after is not None:
                need = group_needs.approvals_in_words(after.approvals, after.needs)
                what = f"{need} (was: no payouts allowed)"
            yield Difference(f"{where}: {what}.", is_looser=after is not None)
            continue
        if before.approvals != after.approvals:
            sentence = f"{where}: {_need(after)} (was {before.approvals})."
            yield Difference(sentence, is_looser=after.approvals < before.approvals)
        if before.needs != after.needs:
            had, has = (group_needs.in_words(tier.needs) or "no group" for tier in (before, after))
            sentence = f"{where}: approvals of groups: {has} (was {had})."
            yield Difference(sentence, is_looser=not group_needs.cover(after.needs, before.needs))
        if before.mode != after.mode:
            yield Difference(f"{where}: {_ORDERS[after.mode]}.", is_looser=after.mode == HOLD_THEN_APPROVE)


def _fee(old: Rules, new: Rules) -> Iterator[Difference]:
    """How the margin of network fees differs."""
    before, after = old.fee_margin, new.fee_margin
    if before.factor != after.factor:
        old_factor, factor = _figure(before.factor), _figure(after.factor)
        sentence = f"Network fee limit: {factor} times the estimate (was {old_factor} times)."
        yield Difference(sentence, is_looser=after.factor > before.factor)
    if before.floor != after.floor:
        sentence = (
            f"Fixed network fee margin: {_figure(after.floor)} {new.currency} above the estimate "
            f"(was {_figure(before.floor)} {new.currency})."
        )
        yield Difference(sentence, is_looser=after.floor > before.floor)


def _bound(
    what: str, old: tuple[Decimal, str] | None, new: tuple[Decimal, str] | None, unit: str
) -> Iterator[Difference]:
    """How the figure of a bound differs, and what happens beyond it."""
    if old == new:
        return
    if new is None:
        yield Difference(f"{what}: no limit (was {_most(old, unit)}).", is_looser=True)
        return
    if old is None:
        yield Difference(f"{what}: at most {_most(new, unit)} (was no limit).", is_looser=False)
        return
    if old[0] != new[0]:
        sentence = f"{what}: at most {_figure(new[0])}{unit} (was {_figure(old[0])}{unit})."
        yield Difference(sentence, is_looser=new[0] > old[0])
    if old[1] != new[1]:
        sentence = f"{what}: anything above {BEYOND[new[1]]} (was: {_BEFORE[old[1]]})."
        yield Difference(sentence, is_looser=STRICTNESS[new[1]] < STRICTNESS[old[1]])


def _most(bound: tuple[Decimal, str] | None, unit: str) -> str:
    """The figure, with what happens beyond it unless that is a refusal."""
    most, beyond = bound or (None, REFUSE)
    return f"{_figure(most)}{unit}" + ("" if beyond == REFUSE else f" (above: {BEYOND[beyond]})")


def _about(scope: tuple[str, int | None, int | None], names: Mapping[str, str]) -> str:
    kind, person, account = scope
    who = "any user" if person is None else names.get(f"person:{person}", f"person {person}")
    where = "" if account is None else f" in {names.get(f'account:{account}', f'account {account}')}"
    if kind == ValueLimit.OPEN_ORDERS:
        return f"Open orders by {who}{where}"
    return f"Each {kind} by {who}{where}"


def _range(begins: Decimal | None, end: Decimal | None, currency: str) -> str:
    if end is None:
        return f"Above {_figure(begins)} {currency}" if begins is not None else "Any value"
    if begins is None:
        return f"Up to {_figure(end)} {currency}"
    return f"Above {_figure(begins)} to {_figure(end)} {currency}"


def _need(tier: Tier) -> str:
    return "1 approval" if tier.approvals == 1 else f"{tier.approvals} approvals"


def _terms(tier: Tier | None) -> tuple[int, str, Needs] | None:
    return None if tier is None else (tier.approvals, tier.mode, tier.needs)


def _figure(amount: Decimal | None) -> str:
    return "" if amount is None else f"{amount.normalize():,f}"
