"""The form of the rules for payouts in a draft: each is a sentence with fields."""

import re
from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal
from typing import Any, Final

from django import forms

from desk.models import Person
from desk.people import roles
from exchange_ops.market.models import Currency
from exchange_ops.policy import payout_rules
from exchange_ops.policy.payout_rules import PayoutRule
from exchange_ops.policy_changes.group_forms import MORE_ROWS, NeedsField, typed
from exchange_ops.shared.forms import read_amount
from exchange_ops.shared.models import Account

_REJECT: Final = "0"
_HOURS: Final = re.compile(r"([01]?\d|2[0-3])\s*[-–]\s*([01]?\d|2[0-3])", re.ASCII)  # noqa: RUF001
_PLACEHOLDERS: Final = {"currency": "any currency", "most": "0.00", "hours": "8-18", "group": "any group"}
_ROLES: Final = {roles.OPERATOR: "operators", roles.TREASURY: "treasury"}


def _outcomes() -> list[tuple[str, str]]:
    numbers = range(1, payout_rules.MOST_APPROVALS + 1)
    return [(_REJECT, "reject"), *((str(n), f"require {n} approval{'' if n == 1 else 's'}") for n in numbers)]


class PayoutRuleForm(forms.Form):
    """One rule; one that measures nothing is no rule."""

    currency = forms.CharField(label="currency", required=False, max_length=20)
    account = forms.ModelChoiceField(Account.objects.none(), label="account", required=False, empty_label="any account")
    requester = forms.ChoiceField(label="requested by", required=False)
    measure = forms.ChoiceField(
        label="measure", required=False, choices=[("", "no rule"), *payout_rules.MEASURES.items()]
    )
    window_h = forms.ChoiceField(
        label="window", required=False, choices=[(str(hours), text) for hours, text in payout_rules.WINDOWS_H.items()]
    )
    most = forms.CharField(label="limit", required=False, max_length=80)
    hours = forms.CharField(label="hours", required=False, max_length=20)
    group = forms.CharField(label="group of payees", required=False, max_length=80)
    outcome = forms.ChoiceField(label="then", required=False, choices=_outcomes())
    needs = NeedsField()

    def __init__(self, *arguments: Any, visible: Collection[int], people: Sequence[tuple[int, str]], **named: Any):
        super().__init__(*arguments, **named)
        self.fields["account"].queryset = Account.objects.filter(pk__in=visible).order_by("pk")  # type: ignore[attr-defined]
        by_role = [(f"role:{role}", f"any {text}") for role, text in _ROLES.items()]
        by_person = [(f"person:{pk}", name) for pk, name in people]
        self.fields["requester"].choices = [("", "anybody"), *by_role, *by_person]  # type: ignore[attr-defined]
        for name, placeholder in _PLACEHOLDERS.items():
            self.fields[name].widget.attrs |= {"placeholder": placeholder, "autocomplete": "off"}

    def clean_currency(self) -> str:
        """The code in capitals; one that the exchange does not list is refused."""
        code: str = self.cleaned_data["currency"].strip().upper()
        if code and not Currency.objects.filter(pk=code).exists():
            raise forms.ValidationError(f"{code} is not listed on the exchange.")
        return code

    def clean_most(self) -> Decimal | None:
        """The figure, which may be zero."""
        text = self.cleaned_data["most"].strip()
        if text in {"0", ""}:
            return Decimal(0) if text else None
        return read_amount(text)

    def clean_hours(self) -> tuple[int, int] | None:
        """The full hours from and until which requests pass."""
        text = self.cleaned_data["hours"].strip()
        match = _HOURS.fullmatch(text)
        if text and match is None:
            raise forms.ValidationError("Enter full hours, for example 8-18.")
        return None if match is None else (int(match[1]), int(match[2]))

    @property
    def rule(self) -> PayoutRule | None:
        """The rule, without what its measure doesn't use; None for an empty row. Call it only when it is valid."""
        cleaned = self.cleaned_data
        measure = cleaned["measure"]
        if not measure:
            return None
        kind, _, key = cleaned["requester"].partition(":")
        return PayoutRule(
            measure=measure,
            most=None if measure in payout_rules.WITHOUT_FIGURE else cleaned["most"],
            window_h=int(cleaned["window_h"] or 0) if measure in payout_rules.OVER_TIME else 0,
            hours=cleaned["hours"] if measure == payout_rules.HOURS else None,
            approvals=int(cleaned["outcome"] or _REJECT),
            needs=cleaned["needs"] if cleaned["outcome"] not in {"", _REJECT} else (),
            account=None if cleaned["account"] is None else cleaned["account"].pk,
            currency=cleaned["currency"],
            person=int(key) if kind == "person" else None,
            role=key if kind == "role" else "",
            group=cleaned["group"].strip() if measure == payout_rules.NOT_APPROVED else "",
        )


class PayoutRules:
    """The rows of the page: the rules in force that the person may see, and some empty ones."""

    def __init__(self, data: Any, *, start: Sequence[PayoutRule], visible: Collection[int]) -> None:
        self._unseen = [rule for rule in start if rule.account not in {None, *visible}]
        visible_rules = [rule for rule in start if rule not in self._unseen]
        people = list(Person.objects.filter(is_active=True).order_by("username").values_list("pk", "username"))
        rows = [_initial(rule) for rule in visible_rules] + [{}] * MORE_ROWS
        self.rows = [
            PayoutRuleForm(data, prefix=f"r{n}", initial=row, visible=visible, people=people)
            for n, row in enumerate(rows[: payout_rules.MOST_RULES])
        ]

    def named(self) -> Iterator[tuple[str, forms.Form]]:
        """Every row with its name in a sentence."""
        return ((f"Payout rule {n}", row) for n, row in enumerate(self.rows, 1))

    def rules(self) -> tuple[PayoutRule, ...]:
        """The rules of the page, then those that it does not show; call it only when all are valid."""
        return (*(rule for row in self.rows if (rule := row.rule) is not None), *self._unseen)


def _initial(rule: PayoutRule) -> dict[str, Any]:
    requester = f"person:{rule.person}" if rule.person is not None else f"role:{rule.role}" if rule.role else ""
    return {
        "currency": rule.currency,
        "account": rule.account,
        "requester": requester,
        "measure": rule.measure,
        "window_h": str(rule.window_h or ""),
        "most": None if rule.most is None else f"{rule.most.normalize():f}",
        "hours": "" if rule.hours is None else f"{rule.hours[0]}-{rule.hours[1]}",
        "group": rule.group,
        "outcome": str(rule.approvals),
        "needs": typed(rule.needs),
    }
