"""What is wrong with each field, said beside it while somebody types: a part of a form that is read again."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django import forms

from desk.fields import plain
from exchange_ops.shared.forms import GroupedAmountField


@dataclass(frozen=True, slots=True)
class FieldState:
    """The sentences that belong beside one field; `reading` is the amount behind a figure with grouped thousands."""

    id: str
    sentences: list[str] = field(default_factory=list)
    reading: str = ""


def states(form: forms.Form, problems: Mapping[str, str] | None = None) -> list[FieldState]:
    """Each field of a form in which somebody types, with its own errors and those of the `problems` that it caused."""
    names = [name for name, one in form.fields.items() if isinstance(one.widget, forms.TextInput | forms.DateTimeInput)]
    return [_state(form, name, problems or {}) for name in names]


def elsewhere(form: forms.Form, problems: Mapping[str, str]) -> list[str]:
    """The problems that no field shows: those of the whole form, and of fields that nobody has filled in yet."""
    return [sentence for name, sentence in problems.items() if not _is_filled(form, name)]


def _state(form: forms.Form, name: str, problems: Mapping[str, str]) -> FieldState:
    filled = _is_filled(form, name)
    errors = form.errors.as_data().get(name, [])
    sentences = [text for error in errors for text in error.messages if filled or error.code != "required"]
    if filled and name in problems:
        sentences.append(problems[name])
    return FieldState(str(form[name].auto_id), sentences, "" if sentences else _reading(form, name))


def _is_filled(form: forms.Form, name: str) -> bool:
    return name in form.fields and bool(str(form[name].value() or "").strip())


def _reading(form: forms.Form, name: str) -> str:
    amount: Any = form.cleaned_data.get(name)
    text = str(form[name].value() or "").strip()
    if not isinstance(form.fields[name], GroupedAmountField) or not isinstance(amount, Decimal):
        return ""
    return f"{plain(amount):f}" if set(text) - set("0123456789.") else ""
