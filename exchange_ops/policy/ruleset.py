"""One set of rules as a value: tiers, limits, rules for payouts, groups and figures; and what is wrong with it.

A published version and a draft become the same value, so the preview of a draft runs the code that will apply it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from exchange_ops.policy import fee_margins, payout_rules
from exchange_ops.policy.fee_margins import FeeMargin
from exchange_ops.policy.groups import checking as group_rules
from exchange_ops.policy.groups import needs as group_needs
from exchange_ops.policy.groups.checking import Demand
from exchange_ops.policy.groups.needs import Group, Needs
from exchange_ops.policy.models import PolicyVersion, QuorumTier, ValueLimit
from exchange_ops.policy.modes import (
    BEYOND,
    CONFIRM,
    MODES,
    REFUSE,
)
from exchange_ops.policy.payout_rules import PayoutRule
from exchange_ops.shared.amounts import storable

MOST_TIERS: Final = 8
MOST_LIMITS: Final = 50
MOST_APPROVALS: Final = 9
AGES_S: Final = (10, 3_600)
DISTANCES: Final = (Decimal("0.1"), Decimal(100))
USUAL_DISTANCE: Final = Decimal(5)  # percent, where the rules say none


@dataclass(frozen=True, slots=True)
class Tier:
    """How many approvals a value up to and including `up_to` needs; without `up_to`, every value above the others.

    With an account it is one of that account's own tiers, without one it applies to every account that has none.
    `needs` are those of the approvals that groups have to give.
    """

    up_to: Decimal | None
    approvals: int
    mode: str
    account: int | None = None
    needs: Needs = ()

    @property
    def of_groups(self) -> str:
        """The needs in words; empty without any."""
        return group_needs.in_words(self.needs)


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
    groups: tuple[Group, ...] = ()

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


NO_RULES: Final = Rules(tiers=(), value_max_age_s=AGES_S[0])


def rules_of(policy: PolicyVersion | None) -> Rules:
    """The rules of a published version; without a version nothing is paid."""
    if policy is None:
        return NO_RULES
    tiers: Sequence[QuorumTier] = list(policy.tiers.all())
    limits: Sequence[ValueLimit] = list(policy.limits.order_by("pk"))
    return Rules(
        tiers=in_order(_tier_of_row(tier) for tier in tiers),
        value_max_age_s=policy.value_max_age_s,
        price_distance=policy.price_distance,
        price_beyond=policy.price_beyond,
        limits=tuple(Limit(row.kind, row.most, row.person_id, row.account_id, row.beyond) for row in limits),
        currency=tiers[0].currency if tiers else NO_RULES.currency,
        fee_margin=fee_margins.margin_of(policy),
        payouts=tuple(row.rule for row in policy.payout_rules.order_by("place")),
        groups=group_needs.groups_from_json(policy.groups),
    )


def _tier_of_row(row: QuorumTier) -> Tier:
    return Tier(row.up_to, row.approvals, row.mode, row.account_id, group_needs.needs_from_json(row.needs))


def as_json(rules: Rules) -> dict[str, Any]:
    """The rules as JSON with amounts as text, for a draft that waits and for its digest."""
    payouts = [payout_rules.as_json(rule) for rule in rules.payouts]
    return {
        "tiers": [[_text(tier.up_to), tier.approvals, tier.mode, tier.account, *_needs(tier)] for tier in rules.tiers],
        "value_max_age_s": rules.value_max_age_s,
        "price_distance": _text(rules.price_distance),
        "price_beyond": rules.price_beyond,
        "limits": [
            [limit.kind, _text(limit.most), limit.person, limit.account, limit.beyond] for limit in rules.limits
        ],
        "currency": rules.currency,
        "fee_margin": fee_margins.as_json(rules.fee_margin),
        **({"payouts": payouts} if payouts else {}),
        **({"groups": group_needs.groups_as_json(rules.groups)} if rules.groups else {}),
    }


def from_json(content: Mapping[str, Any]) -> Rules:
    """The rules that `as_json` wrote. Older drafts name no account in a tier, and refuse what is beyond a bound."""
    return Rules(
        tiers=tuple(
            _tier_of_json(_amount(up_to), approvals, mode, *others)
            for up_to, approvals, mode, *others in content["tiers"]
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
        groups=group_needs.groups_from_json(content.get("groups")),
    )


def _tier_of_json(
    up_to: Decimal | None, approvals: int, mode: str, account: int | None = None, needs: group_needs.Stored = None
) -> Tier:
    return Tier(up_to, approvals, mode, account, group_needs.needs_from_json(needs))


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
    yield from group_rules.problems(rules.groups, demands(rules))


def demands(rules: Rules) -> list[Demand]:
    """What every tier and every rule for payouts asks for, with its name in a sentence."""
    apart = frozenset(accounts_apart(rules))
    of_tiers = [
        Demand(_name_of(tier, rules.currency), tier.account, tier.approvals, tier.needs, others=apart)
        for tier in rules.tiers
    ]
    payouts = enumerate(rules.payouts, 1)
    return [*of_tiers, *(Demand(f"Payout rule {n}", rule.account, rule.approvals, rule.needs) for n, rule in payouts)]


def _name_of(tier: Tier, currency: str) -> str:
    return "The top tier" if tier.up_to is None else f"The tier up to {payout_rules.figure(tier.up_to)} {currency}"


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


def concerned(old: Rules, new: Rules) -> set[str]:
    """The accounts that the new rules judge differently, each by its number as text; the empty text stands for all."""
    numbers = {*accounts_apart(old), *accounts_apart(new)}
    accounts = {str(number) for number in numbers if tiers_for(old, number) != tiers_for(new, number)}
    limits = {*old.limits} ^ {*new.limits}
    payouts = {*old.payouts} ^ {*new.payouts}
    of_accounts = [*(limit.account for limit in limits), *(rule.account for rule in payouts)]
    accounts |= {"" if account is None else str(account) for account in of_accounts}
    figures = [_of_every_account(rules) for rules in (old, new)]
    return accounts | ({""} if figures[0] != figures[1] or tiers_for(old, None) != tiers_for(new, None) else set())


def _of_every_account(rules: Rules) -> tuple[Any, ...]:
    return (rules.value_max_age_s, rules.price_bound, rules.currency, rules.fee_margin, {*rules.groups})


def judging(rules: Rules, account: int) -> list[Any]:
    """What decides on payments from this account, as JSON: tiers, currency, the age of prices, the fee margin, and the
    rules for payouts and the groups with their members, where there are any.

    Two versions in which this is equal judge each payment of the account alike.
    """
    tiers = [[_text(tier.up_to), tier.approvals, tier.mode, *_needs(tier)] for tier in tiers_for(rules, account)]
    payouts = payout_rules.for_account(rules.payouts, account)
    figures = [tiers, rules.currency, rules.value_max_age_s, fee_margins.as_json(rules.fee_margin)]
    groups = group_needs.groups_as_json(groups_for(rules, account))
    return [*figures, *([payouts] if payouts or groups else []), *([{"groups": groups}] if groups else [])]


def groups_for(rules: Rules, account: int) -> list[Group]:
    """The groups that a tier or rule for payments from this account needs an approval of, by name."""
    of_account = [rule.needs for rule in rules.payouts if rule.account in {None, account}]
    named = dict(group_needs.strictest([*of_account, *(tier.needs for tier in tiers_for(rules, account))]))
    return sorted((group for group in rules.groups if group.name in named), key=lambda group: group.name)


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


def _needs(tier: Tier) -> list[Any]:
    """The needs as one more item of a tier in JSON; none for a tier without, which reads as it always did."""
    return [group_needs.needs_as_json(tier.needs)] if tier.needs else []


def _text(amount: Decimal | None) -> str | None:
    return None if amount is None else f"{amount.normalize():f}"


def _amount(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)
