"""How many people have to approve a payment, and whether its money is reserved before or after; `judge` decides.

The value in the quote currency chooses a tier: one of the account's own where it has any, else one of those for every
other account. Rules for payouts (`payout_rules`) can require more than the tier, or reject; the strictest decides. An
unknown or stale value falls into the last tier, and a currency that the exchange does not describe is not paid at all.
The verdict carries the sentences that led to it and the number of the rules. What people sign of the rules is what
decides on their account (`judging`), so that a change for other accounts leaves their approvals valid.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction

from desk.audit import witness_chain
from exchange_ops.market.models import Currency
from exchange_ops.policy import payout_judging, payout_rules, ruleset
from exchange_ops.policy.groups import needs as group_needs
from exchange_ops.policy.groups.needs import Need
from exchange_ops.policy.models import PolicyPayoutRule, PolicyVersion, QuorumTier
from exchange_ops.policy.modes import APPROVE_THEN_HOLD, HOLD_THEN_APPROVE
from exchange_ops.policy.payout_judging import Payout
from exchange_ops.policy.ruleset import Rules, Tier
from exchange_ops.shared import facts
from exchange_ops.shared.models import Account

FIRST_TIERS = (
    (Decimal(10_000), 1, HOLD_THEN_APPROVE),
    (Decimal(250_000), 2, HOLD_THEN_APPROVE),
    (None, 3, APPROVE_THEN_HOLD),
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the rules require. `blocked` is a sentence that forbids the payment; `trace` holds the reasons in order.

    `needs` are those of the approvals that groups have to give. `by_rule` says that a rule for payouts forbids it.
    """

    approvals: int
    mode: str
    version: int
    trace: list[str] = field(default_factory=list)
    blocked: str | None = None
    by_rule: bool = False
    needs: tuple[Need, ...] = ()


@dataclass(frozen=True, slots=True)
class Weighed:
    """How many approvals a set of rules requires, with the sentences that led to it, the decisive one first.

    `needs` are those of the approvals that groups have to give, the strictest of each. `blocked` says why nothing is
    paid; without a `tier` because none covers the value.
    """

    approvals: int = 0
    sentences: tuple[str, ...] = ()
    blocked: str = ""
    tier: Tier | None = None
    needs: tuple[Need, ...] = ()


def current() -> PolicyVersion | None:
    """The rules in force: the highest number that was published."""
    return PolicyVersion.objects.order_by("-number").first()


def in_force_at(at: datetime) -> PolicyVersion | None:
    """The rules that were in force at a moment of the past; None before the first ones."""
    published = PolicyVersion.objects.filter(published_at__lte=at).select_related("published_by")
    return published.order_by("-number").first()


def judging(*, number: int, account_id: int) -> list[Any]:
    """What version `number` of the rules decides on payments from this account by, as JSON (`ruleset.judging`)."""
    policy = PolicyVersion.objects.filter(number=number).first()
    return ruleset.judging(ruleset.rules_of(policy), account_id)


def is_in_force(*, number: int, account_id: int) -> bool:
    """Whether the rules in force decide on payments from this account as version `number` did."""
    rules = current()
    if rules is None:
        return False
    if rules.number == number:
        return True
    return judging(number=number, account_id=account_id) == judging(number=rules.number, account_id=account_id)


def judge(
    policy: PolicyVersion | None,
    *,
    account: Account,
    currency: str,
    quote_value: Decimal | None,
    payout: Callable[[Rules], Payout],
) -> Verdict:
    """What the rules in force require: the strictest of the tier and of all rules for payouts.

    `policy` is `current`, read by the caller, who values by it as well.
    `quote_value` chooses the tier; it is in the account's quote currency, None when it is unknown. `payout` gives the
    facts for the rules for payouts and is called only where there are any.
    """
    if policy is None:
        return _blocked(0, "No payouts possible: no policy is in force.")
    if witness_chain.has_foreign_rows(PolicyVersion, QuorumTier, PolicyPayoutRule):
        return _blocked(
            policy.number, "No payouts possible: the policy was changed in the database, outside Countersign."
        )
    if not Currency.objects.filter(pk=currency).exists():
        return _blocked(policy.number, f"Not paid: {currency} is not listed on the exchange.")
    rules = ruleset.rules_of(policy)
    weighed = weigh(rules, account=account, quote_value=quote_value, payout=payout, version=policy.number)
    if weighed.tier is None or weighed.blocked:
        return _blocked(policy.number, f"Not paid: {weighed.blocked}", by_rule=weighed.tier is not None)
    mode, order = _order(weighed.tier, account)
    first, *others = weighed.sentences
    return Verdict(weighed.approvals, mode, policy.number, [first, order, *others], needs=weighed.needs)


def weigh(
    rules: Rules,
    *,
    account: Account,
    quote_value: Decimal | None,
    payout: Callable[[Rules], Payout],
    version: int,
) -> Weighed:
    """What these rules require, whether they are in force or a draft: the tier and every rule that is exceeded."""
    tier, because = _tier(rules, account, quote_value)
    if tier is None:
        return Weighed(blocked="no policy tier covers this value.")
    exceeded = payout_judging.matches(rules.payouts, payout(rules), currency=rules.currency) if rules.payouts else []
    if exceeded and not exceeded[0].rule.approvals:
        return Weighed(tier=tier, blocked=exceeded[0].sentence(version))
    whose = f"policy v{version}" if tier.account is None else f"policy v{version}, account tiers"
    need = f"{payout_rules.required(tier.approvals, tier.needs)}: {because} ({whose})."
    demands = [(tier.approvals, need), *((each.rule.approvals, each.sentence(version)) for each in exceeded)]
    # The strictest first; of those that are equally strict, the tier.
    in_order = sorted(demands, key=lambda each: -each[0])
    needs = group_needs.strictest([tier.needs, *(each.rule.needs for each in exceeded)])
    approvals = max(in_order[0][0], group_needs.total(needs))
    sentences = [sentence for _, sentence in in_order]
    if exceeded and needs:
        sentences.append(f"Together: {payout_rules.required(approvals, needs)}.")
    return Weighed(approvals, tuple(sentences), tier=tier, needs=group_needs.resolved(needs, rules.groups))


def highest() -> dict[str, int]:
    """The most approvals that the rules in force ask for at each account, by the account's number as text."""
    policy = current()
    if policy is None:
        return {}
    rules = ruleset.rules_of(policy)
    numbers = Account.objects.values_list("pk", flat=True)
    return {str(pk): max(_approvals(rules, pk), default=0) for pk in numbers}


def _approvals(rules: Rules, account: int) -> Iterator[int]:
    tiers = ruleset.tiers_for(rules, account)
    of_account = [rule for rule in rules.payouts if rule.account in {None, account}]
    yield from (tier.approvals for tier in tiers)
    yield from (rule.approvals for rule in of_account)
    # Several that apply at once can need more of all groups together than each of them.
    needs = [*(tier.needs for tier in tiers), *(rule.needs for rule in of_account)]
    yield group_needs.total(group_needs.strictest(needs))


def ensure_first(*, now: datetime) -> None:
    """Publish the first rules where there are none yet: a new desk can pay, and never without an approval."""
    if PolicyVersion.objects.exists():
        return
    with transaction.atomic():
        _publish_first(now)


def _publish_first(now: datetime) -> None:
    first = PolicyVersion.objects.create(number=1, note="Default rules.", published_at=now)
    QuorumTier.objects.bulk_create(
        QuorumTier(policy=first, up_to=up_to, approvals=approvals, mode=mode) for up_to, approvals, mode in FIRST_TIERS
    )


def _tier(rules: Rules, account: Account, value: Decimal | None) -> tuple[Tier | None, str]:
    tiers = ruleset.tiers_for(rules, account.pk)
    if not tiers:
        return None, ""
    last = tiers[-1]
    if value is None or value < 0 or rules.currency != account.quote_currency:
        # Only a tier without a limit covers what might be worth anything.
        return (
            last if last.up_to is None else None
        ), f"no current price in {rules.currency}, so the strictest tier applies"
    for tier in tiers:
        if tier.up_to is not None and value <= tier.up_to:
            return tier, f"{_money(value, account)}, tier up to {_money(tier.up_to, account)}"
    if last.up_to is not None:
        return None, ""
    highest = max((tier.up_to for tier in tiers if tier.up_to is not None), default=Decimal(0))
    return last, f"{_money(value, account)}, above {_money(highest, account)}"


def _order(tier: Tier, account: Account) -> tuple[str, str]:
    """The mode and its sentence. Reserving before the approvals needs proof that a forgotten hold is not paid."""
    if tier.mode == HOLD_THEN_APPROVE and facts.holds_lapse(account):
        return tier.mode, "Reservation first, then approval within the exchange's one-hour limit."
    because = (
        ": we have not yet verified how the exchange treats an expired reservation (probe_exchange)"
        if tier.mode == HOLD_THEN_APPROVE
        else ""
    )
    return (
        APPROVE_THEN_HOLD,
        f"Approval first, then reservation, then a final release approval{because}.",
    )


def _money(value: Decimal, account: Account) -> str:
    return f"{value.quantize(Decimal('0.01')):,f} {account.quote_currency}"


def _blocked(version: int, sentence: str, *, by_rule: bool = False) -> Verdict:
    return Verdict(0, HOLD_THEN_APPROVE, version, [sentence], sentence, by_rule)
