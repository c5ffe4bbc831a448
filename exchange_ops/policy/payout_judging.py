"""Which rules for payouts a payout exceeds, with the figures that each of them saw."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import ROUND_CEILING, Decimal
from typing import Final

from exchange_ops.policy import payout_rules
from exchange_ops.policy.payout_rules import PayoutRule

_CENTS: Final = Decimal("0.01")
_NAMES: Final = {
    payout_rules.AMOUNT: "amount",
    payout_rules.VALUE: "value",
    payout_rules.FEE_SHARE: "network fee",
    payout_rules.BALANCE_SHARE: "share of the balance",
}


@dataclass(frozen=True, slots=True)
class Total:
    """How many payouts there are in a window and what they are worth together, the judged one included.

    `value` is in the currency of the rules, None where the price of one is not known.
    """

    count: int
    value: Decimal | None


@dataclass(frozen=True, slots=True)
class Payout:
    """What the rules judge: a payout, or a transfer to another user.

    `value` is in the currency of the rules; the shares are in percent. Each is None where it is not known. `total`
    gives the total of a rule over time. `person` and `roles` are those of the requester; a payout made outside
    Countersign has neither. `payee_group` is the group of the approved payee that the recipient is, empty for one
    without a group, None where the recipient is no approved payee.
    """

    account: int
    currency: str
    amount: Decimal
    value: Decimal | None
    at: datetime
    is_first: bool
    total: Callable[[PayoutRule], Total]
    person: int | None = None
    roles: frozenset[str] = frozenset()
    fee_share: Decimal | None = None
    balance_share: Decimal | None = None
    payee_group: str | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """A rule whose figure a payout exceeds. `number` is the place of the rule in its version, from 1."""

    number: int
    rule: PayoutRule
    figures: str

    def sentence(self, version: int) -> str:
        """The outcome with its reason, in this version of the rules."""
        source = f"(policy v{version}, rule {self.number})"
        if not self.rule.approvals:
            return f"{self.figures} {source}."
        return f"{payout_rules.outcome(self.rule)}: {self.figures} {source}."


def matches(rules: Sequence[PayoutRule], payout: Payout, *, currency: str) -> list[Match]:
    """Every rule that the payout exceeds, with the figures that it saw, the strictest first.

    `currency` is that of the rules.
    """
    exceeded = [
        Match(number, rule, figures)
        for number, rule in enumerate(rules, 1)
        if _covers(rule, payout) and (figures := _exceeds(rule, payout, currency))
    ]
    return sorted(exceeded, key=lambda match: (-match.rule.strictness, match.number))


def _covers(rule: PayoutRule, payout: Payout) -> bool:
    return (
        rule.account in {None, payout.account}
        and rule.currency in {"", payout.currency}
        and rule.person in {None, payout.person}
        and (not rule.role or rule.role in payout.roles)
    )


def _exceeds(rule: PayoutRule, payout: Payout, currency: str) -> str:
    """What the payout exceeds, in words; an empty text where it passes."""
    if rule.measure == payout_rules.FIRST:
        return "first payout to this recipient" if payout.is_first else ""
    if rule.measure == payout_rules.HOURS:
        at = payout.at.astimezone(UTC)
        is_open = at.hour in rule.open_hours
        return "" if is_open else f"requested at {at:%H:%M} UTC, outside {payout_rules.span(rule)}"
    if rule.measure == payout_rules.NOT_APPROVED:
        is_approved = payout.payee_group is not None and rule.group in {"", payout.payee_group}
        return "" if is_approved else f"the recipient is not an approved payee{payout_rules.in_group(rule)}"
    size, what = _measured(rule, payout)
    if size is not None and size <= (rule.most or 0):
        return ""
    return f"{what} {_size(size, rule, currency)}, limit {_size(rule.most, rule, currency)}"


def _measured(rule: PayoutRule, payout: Payout) -> tuple[Decimal | None, str]:
    """The size that is compared with the rule's figure, and what it is."""
    if rule.measure in payout_rules.OVER_TIME:
        total = payout.total(rule)
        what = f"{payout_rules.MEASURES[rule.measure]} in {payout_rules.WINDOWS_H[rule.window_h]}"
        return (Decimal(total.count) if rule.measure in payout_rules.COUNTS else total.value), what
    sizes = {
        payout_rules.AMOUNT: payout.amount,
        payout_rules.VALUE: payout.value,
        payout_rules.FEE_SHARE: payout.fee_share,
        payout_rules.BALANCE_SHARE: payout.balance_share,
    }
    return sizes[rule.measure], _NAMES[rule.measure]


def _size(size: Decimal | None, rule: PayoutRule, currency: str) -> str:
    if size is None:
        return "unknown"
    # Rounded up, so that what is over a limit never reads like the limit.
    rounded = size if rule.measure in payout_rules.EXACT else size.quantize(_CENTS, rounding=ROUND_CEILING)
    return f"{payout_rules.figure(rounded)}{payout_rules.unit(rule, currency)}"
