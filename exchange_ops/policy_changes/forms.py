"""What people type about the rules: a table of tiers, a table of limits, and a few figures."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

from django import forms

from desk.forms import SecondFactorForm
from desk.models import Person
from exchange_ops.policy import ruleset
from exchange_ops.policy.models import ValueLimit
from exchange_ops.policy.modes import APPROVE_THEN_HOLD, HOLD_THEN_APPROVE
from exchange_ops.policy.ruleset import Limit, Rules, Tier
from exchange_ops.policy_changes.models import LONGEST_REASON
from exchange_ops.shared.forms import AmountField
from exchange_ops.shared.models import Account

ORDERS: Final = (
    (HOLD_THEN_APPROVE, "Reserve, then approve"),
    (APPROVE_THEN_HOLD, "Approve, then reserve"),
)
MORE_ROWS: Final = 2


class TierForm(forms.Form):
    """One row of the table of tiers; one without approvals is no tier."""

    up_to = AmountField(label="Value up to", required=False)
    approvals = forms.IntegerField(
        label="Approvals", required=False, min_value=1, max_value=ruleset.MOST_APPROVALS, localize=False
    )
    mode = forms.ChoiceField(label="Order", choices=ORDERS, required=False)


class LimitForm(forms.Form):
    """One row of the table of limits; one without a figure is no limit."""

    kind = forms.ChoiceField(label="One", choices=[(ValueLimit.ORDER, "order"), (ValueLimit.TRANSFER, "transfer")])
    person = forms.ModelChoiceField(Person.objects.none(), label="of", required=False, empty_label="everybody")
    account = forms.ModelChoiceField(Account.objects.none(), label="on", required=False, empty_label="every account")
    most = AmountField(label="is worth at most", required=False)

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        people, accounts = self.fields["person"], self.fields["account"]
        people.queryset = Person.objects.filter(is_active=True).order_by("username")  # type: ignore[attr-defined]
        accounts.queryset = Account.objects.order_by("pk")  # type: ignore[attr-defined]


class RulesForm(forms.Form):
    """Everything that is not a table, and the reason; `rules` puts it together with the tables."""

    value_max_age_s = forms.IntegerField(
        label="A price is known for (seconds)",
        min_value=ruleset.AGES_S[0],
        max_value=ruleset.AGES_S[1],
        help_text="A value whose price is older counts as the highest.",
    )
    price_distance = forms.DecimalField(
        label="Orders may be worse than the market by at most (percent)",
        required=False,
        min_value=ruleset.DISTANCES[0],
        max_value=ruleset.DISTANCES[1],
        max_digits=6,
        decimal_places=2,
        help_text="Limit orders that pay more or take less than that are refused. Empty for no bound.",
    )
    reason = forms.CharField(
        label="Why should the rules change?",
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Whoever agrees reads it, and it stands beside the version.",
    )


class Editor:
    """The three parts of the page of a draft, with the rules that they say together."""

    def __init__(self, data: Any = None, *, start: Rules) -> None:
        self.currency = start.currency
        tiers = [{"up_to": _plain(tier.up_to), "approvals": tier.approvals, "mode": tier.mode} for tier in start.tiers]
        with_end = [tier for tier in tiers if tier["up_to"] is not None] + [{}] * MORE_ROWS
        above = [tier for tier in tiers if tier["up_to"] is None] or [{}]
        limits = [
            {"kind": limit.kind, "person": limit.person, "account": limit.account, "most": _plain(limit.most)}
            for limit in start.limits
        ] + [{}] * MORE_ROWS
        self.tiers = [
            TierForm(data, prefix=f"t{n}", initial=row) for n, row in enumerate(with_end[: ruleset.MOST_TIERS])
        ]
        self.above = TierForm(data, prefix="above", initial=above[0])
        self.limits = [
            LimitForm(data, prefix=f"l{n}", initial={"kind": ValueLimit.ORDER, **row})
            for n, row in enumerate(limits[: ruleset.MOST_LIMITS])
        ]
        figures = {"value_max_age_s": start.value_max_age_s, "price_distance": start.price_distance}
        self.form = RulesForm(data, initial=figures)

    @property
    def parts(self) -> list[forms.Form]:
        """Every form of the page, the tables first."""
        return [*self.tiers, self.above, *self.limits, self.form]

    def is_valid(self) -> bool:
        """Whether every cell was understood."""
        return not [part for part in self.parts if not part.is_valid()]  # each says what is wrong with it

    def problems(self) -> list[str]:
        """What is wrong in the tables, one sentence each, with the row it is about."""
        rows: list[tuple[str, forms.Form]] = [(f"Tier {n}", row) for n, row in enumerate(self.tiers, 1)]
        rows += [("The tier above", self.above), *((f"Limit {n}", row) for n, row in enumerate(self.limits, 1))]
        return [
            f"{where}, {row.fields[name].label}: {sentence}"
            for where, row in rows
            for name, sentences in row.errors.items()
            for sentence in sentences
        ]

    def rules(self) -> Rules:
        """What the page says, whole; ask only when it is valid."""
        return Rules(
            tiers=tuple(sorted(self._tiers(), key=lambda tier: (tier.up_to is None, tier.up_to or Decimal(0)))),
            value_max_age_s=self.form.cleaned_data["value_max_age_s"],
            price_distance=self.form.cleaned_data["price_distance"],
            limits=tuple(self._limits()),
            currency=self.currency,
        )

    def _tiers(self) -> Iterator[Tier]:
        for row in self.tiers:
            if row.cleaned_data["up_to"]:
                yield Tier(row.cleaned_data["up_to"], row.cleaned_data["approvals"] or 0, row.cleaned_data["mode"])
        if self.above.cleaned_data["approvals"]:
            yield Tier(None, self.above.cleaned_data["approvals"], self.above.cleaned_data["mode"])

    def _limits(self) -> Iterator[Limit]:
        for row in self.limits:
            cleaned = row.cleaned_data
            if cleaned["most"]:
                person, account = cleaned["person"], cleaned["account"]
                yield Limit(cleaned["kind"], cleaned["most"], getattr(person, "pk", None), getattr(account, "pk", None))


class ConfirmForm(SecondFactorForm):
    """A second factor for what was looked at."""


class EndForm(forms.Form):
    """Why it is stopped; who takes back their own needs to say nothing."""

    comment = forms.CharField(
        label="Reason", required=False, max_length=LONGEST_REASON, widget=forms.Textarea(attrs={"rows": 2})
    )


def _plain(amount: Decimal | None) -> str | None:
    return None if amount is None else f"{amount.normalize():f}"
