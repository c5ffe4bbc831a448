"""Rules for payouts beside the tiers: where one applies, what it measures, and what happens above its figure.

A rule can reject a payout or require more approvals than its tier does, never fewer. Every rule that applies counts and
the strictest outcome decides, so their order never matters and none widens another. A measure that is not known exceeds
every figure: a payout without a price is over each limit in money.

A total is the sum of all payouts that the rule covers: for a rule about one account those of this account, for a rule
about one person what this person requested. Transfers to other users count as payouts.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from typing import Any, Final

from exchange_ops.policy.groups import needs as group_needs
from exchange_ops.policy.groups.needs import Needs
from exchange_ops.shared.amounts import storable

AMOUNT: Final = "amount"
VALUE: Final = "value"
TOTAL: Final = "total"
COUNT: Final = "count"
RECIPIENT_TOTAL: Final = "recipient_total"
RECIPIENT_COUNT: Final = "recipient_count"
FIRST: Final = "first"
FEE_SHARE: Final = "fee_share"
BALANCE_SHARE: Final = "balance_share"
HOURS: Final = "hours"
NOT_APPROVED: Final = "not_approved"

MEASURES: Final = {
    TOTAL: "total value",
    COUNT: "number of payouts",
    RECIPIENT_TOTAL: "total value to one recipient",
    RECIPIENT_COUNT: "number of payouts to one recipient",
    VALUE: "value of one payout",
    AMOUNT: "amount of one payout",
    FEE_SHARE: "network fee, % of the amount",
    BALANCE_SHARE: "share of the balance, %",
    FIRST: "first payout to the recipient",
    HOURS: "requested outside hours (UTC)",
    NOT_APPROVED: "recipient is not an approved payee",
}
"""What a rule measures, in words."""
OVER_TIME: Final = frozenset({TOTAL, COUNT, RECIPIENT_TOTAL, RECIPIENT_COUNT})
WITHOUT_FIGURE: Final = frozenset({FIRST, HOURS, NOT_APPROVED})
WINDOWS_H: Final = {1: "1 hour", 24: "24 hours", 168: "7 days", 720: "30 days"}
"""The windows of totals and counts, in hours: each ends with the payout that is judged."""
MOST_RULES: Final = 100
MOST_APPROVALS: Final = 9
COUNTS: Final = frozenset({COUNT, RECIPIENT_COUNT})
OF_RECIPIENT: Final = frozenset({RECIPIENT_TOTAL, RECIPIENT_COUNT})
SHARES: Final = frozenset({FEE_SHARE, BALANCE_SHARE})
EXACT: Final = frozenset({COUNT, RECIPIENT_COUNT, AMOUNT})  # measures whose sizes are shown to the last digit


@dataclass(frozen=True, slots=True)
class PayoutRule:
    """One rule. Without account, currency, person and role it covers every payout.

    `most` is the largest figure that passes: money in the currency of the rules (an amount in `currency`), a number of
    payouts, or percent. `window_h` is the length of the window of a total or count, in hours. `hours` are the full
    hours, UTC, from and until which a request passes; from 22 until 6 is a night. `group` is that of the approved
    payees that pass, empty for any approved payee. `approvals` is how many a payout above the figure needs; with 0 it
    is rejected. `needs` are those of them that approval groups have to give.
    """

    measure: str
    most: Decimal | None = None
    window_h: int = 0
    hours: tuple[int, int] | None = None
    approvals: int = 0
    account: int | None = None
    currency: str = ""
    person: int | None = None
    role: str = ""
    group: str = ""
    needs: Needs = ()

    @property
    def strictness(self) -> int:
        """How strict the outcome is; a rejection is stricter than any number of approvals."""
        return self.approvals or MOST_APPROVALS + 1

    @property
    def scope(self) -> tuple[Any, ...]:
        """What it covers and measures, without the figure and the outcome."""
        return (self.measure, self.window_h, self.account, self.currency, self.person, self.role, self.group)

    @property
    def open_hours(self) -> list[int]:
        """The full hours, UTC, at which a request passes; none for a rule about something else."""
        if self.hours is None:
            return []
        opens, closes = self.hours
        return [
            hour for hour in range(24) if (opens <= hour < closes if opens < closes else hour >= opens or hour < closes)
        ]


def problems(rules: Sequence[PayoutRule]) -> Iterator[str]:
    """What is wrong with the rules, one sentence each; nothing when they may be published."""
    if len(rules) > MOST_RULES:
        yield f"Enter at most {MOST_RULES} payout rules."
    for number, rule in enumerate(rules, 1):
        if (problem := _problem(rule)) != "":
            yield f"Payout rule {number}: {problem}"
    for number, rule in enumerate(rules, 1):
        if rule in rules[: number - 1]:
            yield f"Payout rule {number} is the same as rule {rules.index(rule) + 1}."


def _problem(rule: PayoutRule) -> str:
    hours, has_window = rule.hours or (), rule.window_h in WINDOWS_H
    wrong = {
        "choose what it measures.": rule.measure not in MEASURES,
        f"require 1 to {MOST_APPROVALS} approvals, or reject.": not 0 <= rule.approvals <= MOST_APPROVALS,
        "choose 1 hour, 24 hours, 7 days or 30 days.": rule.measure in OVER_TIME and not has_window,
        "only totals and numbers of payouts have a window.": rule.measure not in OVER_TIME and rule.window_h != 0,
        "enter full hours between 0 and 23.": not all(0 <= hour <= 23 for hour in hours),
        "enter the hours from and until which requests pass.": (rule.measure == HOURS) != (rule.hours is not None),
        "the hours must begin and end at different times.": len(hours) != len({*hours}),
        "enter a limit.": rule.measure not in WITHOUT_FIGURE and rule.most is None,
        "this kind of rule has no limit.": rule.measure in WITHOUT_FIGURE and rule.most is not None,
        "choose the currency of the amount.": rule.measure == AMOUNT and not rule.currency,
        "only a rule about approved payees has a group.": bool(rule.group) and rule.measure != NOT_APPROVED,
        "choose a person or a role, not both.": rule.person is not None and bool(rule.role),
    }
    return next((sentence for sentence, is_wrong in wrong.items() if is_wrong), "") or _figure_problem(rule)


def _figure_problem(rule: PayoutRule) -> str:
    if rule.most is None:
        return ""
    if not storable(rule.most) or rule.most < 0:
        return "enter a limit of zero or more, with at most 36 digits before the decimal point and 24 after it."
    if rule.measure in COUNTS and rule.most != rule.most.to_integral_value():
        return "enter a whole number of payouts."
    if rule.measure in SHARES and rule.most > 100:
        return "enter at most 100 percent."
    return ""


def in_words(rule: PayoutRule, *, currency: str, names: Mapping[str, str]) -> str:
    """The rule as a sentence. `names` maps person:1 and account:1 to what they are called."""
    what = f"{rule.currency} payouts" if rule.currency else "Payouts"
    where = "" if rule.account is None else f" from {names.get(f'account:{rule.account}', f'account {rule.account}')}"
    who = ""
    if rule.person is not None:
        who = f" requested by {names.get(f'person:{rule.person}', f'person {rule.person}')}"
    elif rule.role:
        who = f" requested by people with the role {names.get(f'role:{rule.role}', rule.role)}"
    return f"{what}{where}{who}: {terms(rule, currency)}."


def outcome(rule: PayoutRule) -> str:
    """What happens above the figure."""
    return required(rule.approvals, rule.needs) if rule.approvals else "rejected"


def required(approvals: int, needs: Needs) -> str:
    """How many approvals are required, with those that groups have to give: "2 approvals required (1 of Board)"."""
    of_groups = f" ({group_needs.in_words(needs)})" if needs else ""
    return f"{approvals} approval{'' if approvals == 1 else 's'} required{of_groups}"


def terms(rule: PayoutRule, currency: str) -> str:
    """The figure and the outcome, without what the rule covers."""
    if rule.measure == FIRST:
        return f"first payout to a recipient: {outcome(rule)}"
    if rule.measure == HOURS:
        return f"requested outside {span(rule)}: {outcome(rule)}"
    if rule.measure == NOT_APPROVED:
        return f"recipient is not an approved payee{in_group(rule)}: {outcome(rule)}"
    what = MEASURES[rule.measure].removesuffix(", %").replace(", % of the amount", " in percent of the amount")
    window = f" in {WINDOWS_H[rule.window_h]}" if rule.window_h else ""
    return f"{what}{window} above {figure(rule.most or Decimal(0))}{unit(rule, currency)}: {outcome(rule)}"


def as_json(rule: PayoutRule) -> dict[str, Any]:
    """The rule in JSON's own types, without what it leaves open; equal rules have one text."""
    content = {field.name: getattr(rule, field.name) for field in fields(rule)}
    if rule.most is not None:
        content["most"] = f"{rule.most.normalize():f}"
    if rule.hours is not None:
        content["hours"] = list(rule.hours)
    content["needs"] = group_needs.needs_as_json(rule.needs)
    return {name: value for name, value in content.items() if value not in (None, "", 0)}


def from_json(content: Mapping[str, Any]) -> PayoutRule:
    """The rule that `as_json` wrote."""
    needs = group_needs.needs_from_json(content.get("needs"))
    rule = PayoutRule(**{**content, "most": None, "hours": None, "needs": needs})
    most, hours = content.get("most"), content.get("hours")
    if most is not None:
        rule = replace(rule, most=Decimal(most))
    return rule if hours is None else replace(rule, hours=(hours[0], hours[1]))


def for_account(rules: Iterable[PayoutRule], account: int) -> list[dict[str, Any]]:
    """The rules that can judge a payout from this account, as JSON, in an order that does not depend on theirs."""
    return sorted((as_json(rule) for rule in rules if rule.account in {None, account}), key=str)


def in_group(rule: PayoutRule) -> str:
    """The group of payees that a rule names, in words; empty without one."""
    return f" in the group {rule.group}" if rule.group else ""


def span(rule: PayoutRule) -> str:
    """The hours of a rule, in words."""
    opens, closes = rule.hours or (0, 0)
    return f"{opens:02}:00 to {closes:02}:00 UTC"


def unit(rule: PayoutRule, currency: str) -> str:
    """The unit of the rule's figure with a blank before it; empty for a number of payouts."""
    if rule.measure in COUNTS:
        return ""
    if rule.measure in SHARES:
        return " %"
    return f" {rule.currency if rule.measure == AMOUNT else currency}"


def figure(amount: Decimal) -> str:
    """A figure as sentences write it."""
    return f"{amount.normalize():,f}"
