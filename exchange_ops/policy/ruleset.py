"""One set of rules as a value: tiers, limits, rules for payouts and figures; what is wrong with it, and how two differ.

A published version and a draft become the same value, so the preview of a draft runs the code that will apply it. A
difference is looser when it allows something that was not allowed before; every other difference is tighter.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from exchange_ops.policy import fee_margins, payout_comparison, payout_rules
from exchange_ops.policy.fee_margins import FeeMargin
from exchange_ops.policy.models import PolicyVersion, QuorumTier, ValueLimit
from exchange_ops.policy.modes import (
    APPROVE_THEN_HOLD,
    BEYOND,
    CONFIRM,
    HOLD_THEN_APPROVE,
    MODES,
    REFUSE,
    STRICTNESS,
)
from exchange_ops.policy.payout_rules import PayoutRule
from exchange_ops.shared.amounts import storable

MOST_TIERS: Final = 8
MOST_LIMITS: Final = 50
MOST_APPROVALS: Final = 9
AGES_S: Final = (10, 3_600)
DISTANCES: Final = (Decimal("0.1"), Decimal(100))
USUAL_DISTANCE: Final = Decimal(5)  # percent, where the rules say none
_ORDERS: Final = {
    HOLD_THEN_APPROVE: "funds are reserved before approval",
    APPROVE_THEN_HOLD: "approval comes before funds are reserved",
}

_BEFORE: Final = {"confirm": "explicit confirmation", "approve": "approval", "refuse": "rejected"}


@dataclass(frozen=True, slots=True)
class Tier:
    """How many approvals a value up to and including `up_to` needs; without `up_to`, every value above the others.

    With an account it is one of that account's own tiers, without one it applies to every account that has none.
    """

    up_to: Decimal | None
    approvals: int
    mode: str
    account: int | None = None


@dataclass(frozen=True, slots=True)
class Limit:
    """The largest value of one order or transfer, or the largest number of open orders.

    It is about one person or everybody, on one account or on all. `beyond` is what happens to more.
    """

    kind: str
    most: Decimal
    person: int | None = None
    account: int | None = None
    beyond: str = REFUSE

    @property
    def scope(self) -> tuple[str, int | None, int | None]:
        """Kind, person and account that the limit is about."""
        return (self.kind, self.person, self.account)


@dataclass(frozen=True, slots=True)
class Rules:
    """The whole content of one version. Values are in `currency`, `price_distance` in percent (see `price_bound`)."""

    tiers: tuple[Tier, ...]
    value_max_age_s: int
    price_distance: Decimal | None = None
    limits: tuple[Limit, ...] = ()
    currency: str = "USD"
    price_beyond: str = REFUSE
    fee_margin: FeeMargin = fee_margins.USUAL
    payouts: tuple[PayoutRule, ...] = ()

    @property
    def price_bound(self) -> tuple[Decimal, str]:
        """How much worse than the market an order may be, in percent, and what happens to one beyond that."""
        if self.price_distance is None:
            return USUAL_DISTANCE, CONFIRM
        return self.price_distance, self.price_beyond

    @property
    def farther(self) -> str:
        """What happens to an order beyond the price bound, in words."""
        return BEYOND[self.price_bound[1]]


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between two sets of rules, in words; `is_scope`: it only says which tiers apply to an account."""

    sentence: str
    is_looser: bool
    is_scope: bool = False


NO_RULES: Final = Rules(tiers=(), value_max_age_s=AGES_S[0])


def rules_of(policy: PolicyVersion | None) -> Rules:
    """The rules of a published version; without a version nothing is paid."""
    if policy is None:
        return NO_RULES
    tiers: Sequence[QuorumTier] = list(policy.tiers.all())
    limits: Sequence[ValueLimit] = list(policy.limits.order_by("pk"))
    return Rules(
        tiers=in_order(Tier(tier.up_to, tier.approvals, tier.mode, tier.account_id) for tier in tiers),
        value_max_age_s=policy.value_max_age_s,
        price_distance=policy.price_distance,
        price_beyond=policy.price_beyond,
        limits=tuple(Limit(row.kind, row.most, row.person_id, row.account_id, row.beyond) for row in limits),
        currency=tiers[0].currency if tiers else NO_RULES.currency,
        fee_margin=fee_margins.margin_of(policy),
        payouts=tuple(row.rule for row in policy.payout_rules.order_by("place")),
    )


def as_json(rules: Rules) -> dict[str, Any]:
    """The rules as JSON with amounts as text, for a draft that waits and for its digest."""
    payouts = [payout_rules.as_json(rule) for rule in rules.payouts]
    return {
        "tiers": [[_text(tier.up_to), tier.approvals, tier.mode, tier.account] for tier in rules.tiers],
        "value_max_age_s": rules.value_max_age_s,
        "price_distance": _text(rules.price_distance),
        "price_beyond": rules.price_beyond,
        "limits": [
            [limit.kind, _text(limit.most), limit.person, limit.account, limit.beyond] for limit in rules.limits
        ],
        "currency": rules.currency,
        "fee_margin": fee_margins.as_json(rules.fee_margin),
        **({"payouts": payouts} if payouts else {}),
    }


def from_json(content: Mapping[str, Any]) -> Rules:
    """The rules that `as_json` wrote. Older drafts name no account in a tier, and refuse what is beyond a bound."""
    return Rules(
        tiers=tuple(
            Tier(_amount(up_to), approvals, mode, *account) for up_to, approvals, mode, *account in content["tiers"]
        ),
        value_max_age_s=content["value_max_age_s"],
        price_distance=_amount(content["price_distance"]),
        price_beyond=content.get("price_beyond", REFUSE),
        limits=tuple(
            Limit(kind, Decimal(most), person, account, *beyond)
            for kind, most, person, account, *beyond in content["limits"]
        ),
        currency=content["currency"],
        fee_margin=fee_margins.from_json(content.get("fee_margin")),
        payouts=tuple(payout_rules.from_json(rule) for rule in content.get("payouts", ())),
    )


def problems(rules: Rules) -> Iterator[str]:
    """What is wrong with the rules, one sentence each; nothing when they may be published."""
    of_each = [tiers_for(rules, account) for account in (None, *accounts_apart(rules))]
    if not of_each[0]:
        yield "Enter at least one tier. To stop payments, freeze the account instead."
    if any(len(tiers) > MOST_TIERS for tiers in of_each) or len(rules.limits) > MOST_LIMITS:
        yield f"Enter at most {MOST_TIERS} tiers and {MOST_LIMITS} limits."
    if any(len({tier.up_to for tier in tiers}) != len(tiers) for tiers in of_each):
        yield "Two tiers have the same upper limit. Change or remove one."
    ends = [tier.up_to for tier in rules.tiers if tier.up_to is not None]
    amounts = [*ends, *(limit.most for limit in rules.limits)]
    if any(not storable(amount) or amount <= 0 for amount in amounts):
        yield "Enter a limit greater than zero, with at most 36 digits before the decimal point and 24 after it."
    if any(not 1 <= tier.approvals <= MOST_APPROVALS for tier in rules.tiers):
        yield f"A tier must require 1 to {MOST_APPROVALS} approvals."
    if any(tier.mode not in MODES for tier in rules.tiers):
        yield "Choose whether approval comes before or after funds are reserved."
    if not AGES_S[0] <= rules.value_max_age_s <= AGES_S[1]:
        yield f"The maximum price age must be between {AGES_S[0]} and {AGES_S[1]} seconds."
    if rules.price_distance is not None and not DISTANCES[0] <= rules.price_distance <= DISTANCES[1]:
        yield f"Enter a distance from the market between {DISTANCES[0]} and {DISTANCES[1]} percent, or leave it blank."
    if len({limit.scope for limit in rules.limits}) != len(rules.limits):
        yield "Two limits of the same type cover the same person and account."
    yield from rules.fee_margin.problems()
    yield from _limit_problems(rules)
    yield from payout_rules.problems(rules.payouts)


def _limit_problems(rules: Rules) -> Iterator[str]:
    if any(limit.kind not in ValueLimit.KINDS for limit in rules.limits):
        yield "Choose what each limit covers: orders, transfers or open orders."
    if any(beyond not in BEYOND for beyond in (rules.price_beyond, *(limit.beyond for limit in rules.limits))):
        yield "Choose what happens above the limit: confirmation, approval or rejection."
    if any(limit.kind == ValueLimit.TRANSFER and limit.beyond != REFUSE for limit in rules.limits):
        yield "Choose rejection for transfer limits: transfers above a limit can only be rejected."
    counts = [limit.most for limit in rules.limits if limit.kind == ValueLimit.OPEN_ORDERS]
    if any(count != count.to_integral_value() for count in counts):
        yield "Enter a whole number of open orders."


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
    return [*changes, *(Difference(sentence, is_looser) for sentence, is_looser in of_payouts)]


def concerned(old: Rules, new: Rules) -> set[str]:
    """The accounts that the new rules judge differently, each by its number as text; the empty text stands for all."""
    numbers = {*accounts_apart(old), *accounts_apart(new)}
    accounts = {str(number) for number in numbers if tiers_for(old, number) != tiers_for(new, number)}
    limits = {*old.limits} ^ {*new.limits}
    payouts = {*old.payouts} ^ {*new.payouts}
    of_accounts = [*(limit.account for limit in limits), *(rule.account for rule in payouts)]
    accounts |= {"" if account is None else str(account) for account in of_accounts}
    figures = [(rules.value_max_age_s, rules.price_bound, rules.currency, rules.fee_margin) for rules in (old, new)]
    return accounts | ({""} if figures[0] != figures[1] or tiers_for(old, None) != tiers_for(new, None) else set())


def judging(rules: Rules, account: int) -> list[Any]:
    """What decides on payments from this account, as JSON: tiers, currency, the age of prices, the fee margin, and the
    rules for payouts where there are any.

    Two versions in which this is equal judge each payment of the account alike.
    """
    tiers = [[_text(tier.up_to), tier.approvals, tier.mode] for tier in tiers_for(rules, account)]
    payouts = payout_rules.for_account(rules.payouts, account)
    figures = [tiers, rules.currency, rules.value_max_age_s, fee_margins.as_json(rules.fee_margin)]
    return [*figures, payouts] if payouts else figures


def in_order(tiers: Iterable[Tier]) -> tuple[Tier, ...]:
    """The tiers from the lowest end to the one without an end."""
    return tuple(sorted(tiers, key=lambda tier: (tier.up_to is None, tier.up_to or Decimal(0))))


def accounts_apart(rules: Rules) -> list[int]:
    """The accounts with tiers of their own; no other tiers apply to them."""
    return sorted({tier.account for tier in rules.tiers if tier.account is not None})


def tiers_for(rules: Rules, account: int | None) -> tuple[Tier, ...]:
    """The tiers for payments from this account: its own where it has any, else those of every other account."""
    own = in_order(tier for tier in rules.tiers if tier.account == account)
    return own or in_order(tier for tier in rules.tiers if tier.account is None)


def tier_of(rules: Rules, value: Decimal | None, account: int | None = None) -> Tier | None:
    """The tier for this value on this account. None means that no tier covers the value, so it is not paid.

    A value that is not known (None) falls into the tier without an end.
    """
    tiers = tiers_for(rules, account)
    return next((tier for tier in tiers if tier.up_to is None or (value is not None and value <= tier.up_to)), None)


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
            what = "no payouts allowed" if after is None else f"{_need(after)} (was: no payouts allowed)"
            yield Difference(f"{where}: {what}.", is_looser=after is not None)
            continue
        if before.approvals != after.approvals:
            sentence = f"{where}: {_need(after)} (was {before.approvals})."
            yield Difference(sentence, is_looser=after.approvals < before.approvals)
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


def _terms(tier: Tier | None) -> tuple[int, str] | None:
    return None if tier is None else (tier.approvals, tier.mode)


def _figure(amount: Decimal | None) -> str:
    return "" if amount is None else f"{amount.normalize():,f}"


def _text(amount: Decimal | None) -> str | None:
    return None if amount is None else f"{amount.normalize():f}"


def _amount(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)
