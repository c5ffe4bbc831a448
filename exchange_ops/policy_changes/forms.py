"""The forms of a draft of rules: tables of tiers and limits, rules for payouts, approval groups, and a few figures."""

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from django import forms

from desk.forms import SecondFactorForm
from desk.models import Person
from exchange_ops.policy import fee_margins, ruleset
from exchange_ops.policy.fee_margins import FeeMargin
from exchange_ops.policy.models import ValueLimit
from exchange_ops.policy.modes import BEYOND, REFUSE
from exchange_ops.policy.ruleset import Limit, Rules
from exchange_ops.policy_changes.group_forms import MORE_ROWS, Groups, canonical
from exchange_ops.policy_changes.models import LONGEST_REASON
from exchange_ops.policy_changes.payout_forms import PayoutRules
from exchange_ops.policy_changes.tier_forms import AccountTiers, TierTable, plain
from exchange_ops.shared import rules
from exchange_ops.shared.forms import AmountField
from exchange_ops.shared.models import Account


class LimitForm(forms.Form):
    """One row of the table of limits; one without a figure is no limit."""

    kind = forms.ChoiceField(
        label="limit",
        choices=[
            (ValueLimit.ORDER, "value per order"),
            (ValueLimit.TRANSFER, "value per transfer"),
            (ValueLimit.OPEN_ORDERS, "open orders"),
        ],
    )
    person = forms.ModelChoiceField(Person.objects.none(), label="person", required=False, empty_label="any user")
    account = forms.ModelChoiceField(Account.objects.none(), label="account", required=False, empty_label="any account")
    most = AmountField(label="at most", required=False)
    beyond = forms.ChoiceField(label="above that", choices=list(reversed(BEYOND.items())), required=False)

    def __init__(self, *arguments: Any, visible: Collection[int], **named: Any) -> None:
        super().__init__(*arguments, **named)
        people, accounts = self.fields["person"], self.fields["account"]
        people.queryset = Person.objects.filter(is_active=True).order_by("username")  # type: ignore[attr-defined]
        accounts.queryset = Account.objects.filter(pk__in=visible).order_by("pk")  # type: ignore[attr-defined]


class RulesForm(forms.Form):
    """The figures outside the tables, and the reason; `Editor.rules` puts them together with the tables."""

    value_max_age_s = forms.IntegerField(
        label="Maximum price age (seconds)",
        min_value=ruleset.AGES_S[0],
        max_value=ruleset.AGES_S[1],
        help_text="If a price is older than this, the strictest tier applies.",
    )
    price_distance = forms.DecimalField(
        label="Order price limit, % off market",
        required=False,
        min_value=ruleset.DISTANCES[0],
        max_value=ruleset.DISTANCES[1],
        max_digits=6,
        decimal_places=2,
        help_text="For limit orders priced worse than the market, and market orders that reach deeper into the book. "
        f"If blank: {ruleset.USUAL_DISTANCE} %, and orders beyond it need explicit confirmation.",
    )
    price_beyond = forms.ChoiceField(
        label="Orders above that limit", choices=list(reversed(BEYOND.items())), required=False
    )
    fee_factor = forms.DecimalField(
        label="Network fee limit (times the estimate)",
        min_value=fee_margins.FACTORS[0],
        max_value=fee_margins.FACTORS[1],
        max_digits=6,
        decimal_places=2,
        help_text="Payout approvals cover fees up to this multiple of the estimate. Higher fees need new approvals.",
    )
    fee_floor = forms.DecimalField(
        label="Fixed network fee margin",
        min_value=fee_margins.FLOORS[0],
        max_value=fee_margins.FLOORS[1],
        max_digits=8,
        decimal_places=2,
        help_text="Fees may always exceed the estimate by this amount, in the tiers' currency. Useful where "
        "fees are very small.",
    )
    reason = forms.CharField(
        label="Reason for the change",
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Shown to the second approver and kept with the policy version.",
    )


class Editor:
    """The forms on the page of a draft, and the rules that they make together.

    `accounts` are the tables of each account's own tiers; a desk with one account has none, unless it has such tiers.
    Tiers and limits of accounts where the person has no role are neither shown nor changed.
    """

    def __init__(self, data: Any = None, *, start: Rules, person: Person) -> None:
        self.currency = start.currency
        accounts = list(rules.seen_by(person, Account.objects.order_by("pk"), account="pk"))
        visible = {row.pk for row in accounts}
        self._unseen = [tier for tier in start.tiers if tier.account not in {None, *visible}]
        self._unseen_limits = [limit for limit in start.limits if limit.account not in {None, *visible}]
        self.table = TierTable(data, start=ruleset.tiers_for(start, None))
        account_choices = accounts if len(accounts) > 1 or ruleset.accounts_apart(start) else []
        self.accounts = [AccountTiers(data, account=row, start=start) for row in account_choices]
        limits = [
            {
                "kind": limit.kind,
                "person": limit.person,
                "account": limit.account,
                "most": plain(limit.most),
                "beyond": limit.beyond,
            }
            for limit in start.limits
            if limit not in self._unseen_limits
        ] + [{}] * MORE_ROWS
        self.limits = [
            LimitForm(data, prefix=f"l{n}", initial={"kind": ValueLimit.ORDER, **row}, visible=visible)
            for n, row in enumerate(limits[: ruleset.MOST_LIMITS])
        ]
        self.groups = Groups(data, start=start.groups)
        self.payouts = PayoutRules(data, start=start.payouts, visible=visible)
        figures = {
            "value_max_age_s": start.value_max_age_s,
            "price_distance": start.price_distance,
            "price_beyond": start.price_beyond,
            "fee_factor": plain(start.fee_margin.factor),
            "fee_floor": plain(start.fee_margin.floor),
        }
        self.form = RulesForm(data, initial=figures)

    @property
    def parts(self) -> list[forms.Form]:
        """Every form of the page, the tables first."""
        tables = [self.table, *(one.table for one in self.accounts)]
        rows: list[forms.Form] = [row for table in tables for row in table.parts]
        rows += [*self.groups.rows, *self.payouts.rows]
        return [*rows, *(one.switch for one in self.accounts), *self.limits, self.form]

    def is_valid(self) -> bool:
        """Whether every cell is valid."""
        return not [part for part in self.parts if not part.is_valid()]  # each says what is wrong with it

    def problems(self) -> list[str]:
        """What is wrong in the tables: one sentence each, with the name of its row."""
        rows = list(self.table.named())
        rows += [(f"{one.account.name}, {where}", row) for one in self.accounts for where, row in one.table.named()]
        rows += [(f"Limit {n}", row) for n, row in enumerate(self.limits, 1)]
        rows += self.payouts.named()
        rows += self.groups.named()
        return [
            f"{where}, {row.fields[name].label}: {sentence}"
            for where, row in rows
            for name, sentences in row.errors.items()
            for sentence in sentences
        ]

    def contradictions(self) -> list[str]:
        """Where an account's rows contradict its switch; call it only when `is_valid`."""
        return [sentence for one in self.accounts if (sentence := one.contradiction())]

    def rules(self) -> Rules:
        """The complete rules of the page; call it only when `is_valid`."""
        own, groups = [tier for one in self.accounts for tier in one.tiers()], self.groups.groups()
        tiers = [*self.table.tiers(), *own, *self._unseen]
        return Rules(
            tiers=ruleset.in_order(replace(each, needs=canonical(each.needs, groups)) for each in tiers),
            value_max_age_s=self.form.cleaned_data["value_max_age_s"],
            price_distance=self.form.cleaned_data["price_distance"],
            price_beyond=self.form.cleaned_data["price_beyond"] or REFUSE,
            limits=(*self._limits(), *self._unseen_limits),
            currency=self.currency,
            fee_margin=FeeMargin(self.form.cleaned_data["fee_factor"], self.form.cleaned_data["fee_floor"]),
            payouts=tuple(replace(each, needs=canonical(each.needs, groups)) for each in self.payouts.rules()),
            groups=groups,
        )

    def _limits(self) -> Iterator[Limit]:
        for row in self.limits:
            cleaned = row.cleaned_data
            if cleaned["most"]:
                person, account = (getattr(cleaned[name], "pk", None) for name in ("person", "account"))
                yield Limit(cleaned["kind"], cleaned["most"], person, account, cleaned["beyond"] or REFUSE)


class ConfirmForm(SecondFactorForm):
    """A second factor for the rules on the page."""


class EndForm(forms.Form):
    """Why the change is stopped; whoever takes back their own needs no reason."""

    comment = forms.CharField(
        label="Reason", required=False, max_length=LONGEST_REASON, widget=forms.Textarea(attrs={"rows": 2})
    )
