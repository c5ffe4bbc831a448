"""The form of the account numbers: one number and one name for each account of the journal, and the settings."""

from collections.abc import Mapping
from typing import Any, Final

from django import forms
from django.forms.boundfield import BoundField

from exchange_ops.statements import journal
from exchange_ops.statements.bookkeeping import accounts
from exchange_ops.statements.bookkeeping.accounts import Chart, Target

MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
HINTS: Final = {
    accounts.CONSULTANT: "1001 to 9999999, from your tax adviser.",
    accounts.CLIENT: "1 to 99999, from your tax adviser.",
    accounts.LENGTH: "As set for the client in DATEV.",
    accounts.YEAR: "Each DATEV file belongs to one fiscal year.",
    accounts.TAX_RATE: "Its full name in Xero, for example “Tax Exempt”, “No VAT” or “BAS Excluded”.",
    accounts.TRACKING: "A category in Xero whose options are the names of the exchange accounts. Leave empty for none.",
}
_CHOICES: Final = {
    accounts.LENGTH: [(str(digits), f"{digits} digits") for digits in range(4, 9)],
    accounts.YEAR: [(str(number), month) for number, month in enumerate(MONTHS, 1)],
}


class ChartForm(forms.Form):
    """Every entry of the mapping; `version` is the one that the person sees."""

    version = forms.IntegerField(min_value=0, widget=forms.HiddenInput)

    def __init__(self, data: Mapping[str, Any] | None = None, *, chart: Chart) -> None:
        super().__init__(data, initial={"version": chart.version})
        for key, label in journal.ACCOUNTS.items():
            number, name = chart.names(key)
            self.fields[_name("number", key)] = _text(f"Number of {label}", number)
            self.fields[_name("name", key)] = _text(f"Name of {label}", name)
        for setting, label in accounts.SETTINGS.items():
            value, hint = chart.setting(setting), HINTS[setting]
            if setting in _CHOICES:
                field: forms.Field = forms.ChoiceField(label=label, choices=_CHOICES[setting], initial=value)
            else:
                field = forms.CharField(label=label, required=False, initial=value)
            field.help_text = hint
            self.fields[_name("setting", setting)] = field

    def clean(self) -> dict[str, Any]:
        """Every rule of the mapping, each beside its field."""
        cleaned = super().clean() or self.cleaned_data
        for (kind, key), sentence in accounts.problems(self.chart).items():
            if _name(kind, key) not in self.errors:
                self.add_error(_name(kind, key), sentence)
        return cleaned

    @property
    def chart(self) -> Chart:
        """The mapping as it was typed."""
        targets = {key: Target(self._value("number", key), self._value("name", key)) for key in journal.ACCOUNTS}
        settings = {name: self._value("setting", name) for name in accounts.SETTINGS}
        stored = {name: text for name, text in settings.items() if text != accounts.DEFAULTS.get(name)}
        return Chart(self.cleaned_data.get("version") or 0, targets, stored)

    def rows(self) -> list[tuple[str, BoundField, BoundField]]:
        """The label, the number and the name of each account of the journal."""
        return [
            (label, self[_name("number", key)], self[_name("name", key)]) for key, label in journal.ACCOUNTS.items()
        ]

    def settings(self) -> list[BoundField]:
        """The fields of the settings."""
        return [self[_name("setting", name)] for name in accounts.SETTINGS]

    def texts(self) -> list[tuple[str, str]]:
        """The label and the value of each setting in words, for people who may only read them."""
        choices = {name: dict(options) for name, options in _CHOICES.items()}
        values = {name: str(self[_name("setting", name)].value() or "") for name in accounts.SETTINGS}
        return [
            (label, choices.get(name, {}).get(values[name], values[name])) for name, label in accounts.SETTINGS.items()
        ]

    def _value(self, kind: str, key: str) -> str:
        return str(self.cleaned_data.get(_name(kind, key)) or "")


def _name(kind: str, key: str) -> str:
    return f"{kind}_{key.replace(' ', '_')}"


def _text(label: str, initial: str) -> forms.CharField:
    attributes = {"aria-label": label, "autocomplete": "off", "spellcheck": "false"}
    return forms.CharField(label=label, required=False, initial=initial, widget=forms.TextInput(attrs=attributes))
