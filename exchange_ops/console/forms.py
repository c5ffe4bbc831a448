"""A form for an operation, from its parameters: every value is read and bounded as its catalogue says."""

from collections.abc import Mapping
from typing import Any

from django import forms

from exchange_ops.console.entries import EXCHANGE, STREAMS, Entry
from exchange_ops.shared.forms import RequestForm
from exchange_ops.wire import catalogue, streams
from wire import operation
from wire.params import BadArgument, Kind, Param, from_text

PREFIX = "p-"
_LINES = {Kind.TEXTS, Kind.OBJECTS}
_SHAPES = {
    Kind.CODES: "Codes, separated by commas",
    Kind.INTEGERS: "Whole numbers, separated by commas",
    Kind.INTEGER: "Whole number",
    Kind.DECIMAL: "Decimal number",
    Kind.INSTANT: "Time in UTC: 2026-11-25T08:00:00Z",
    Kind.INSTANT_OR_INDEX: "Time in UTC, or a number",
    Kind.TEXTS: "One per line",
}
_MOST_TYPED = 20_000  # characters of one field


class OperationForm(RequestForm):
    """The form of one operation. After validation `arguments` are the parsed values and `texts` the typed ones."""

    request_key = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(self, *arguments: Any, entry: Entry, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.entry = entry
        self.arguments: dict[str, object] = {}
        for param in entry.params:
            self.fields[PREFIX + param.name] = _field(param)

    @property
    def parameters(self) -> list[forms.BoundField]:
        """The fields of the parameters, in the documented order."""
        return [self[PREFIX + param.name] for param in self.entry.params]

    @property
    def texts(self) -> dict[str, str]:
        """The typed texts by parameter, without empty ones."""
        typed = {param.name: self.cleaned_data.get(PREFIX + param.name, "") for param in self.entry.params}
        return {name: text for name, text in typed.items() if text}

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        try:
            self.arguments = read_arguments(self.entry, self.texts)
        except BadArgument as problem:
            name = PREFIX + problem.param
            detail = f": {problem.detail}" if problem.detail else ""
            self.refuse({name: f"{problem.param} {problem.problem}{detail}."})
        return cleaned


def read_arguments(entry: Entry, texts: Mapping[str, str]) -> dict[str, object]:
    """The parsed arguments, after every check of the catalogue. Raises `BadArgument`."""
    arguments: dict[str, object] = {}
    for param in entry.params:
        text = texts.get(param.name, "")
        if text:
            arguments[param.name] = from_text(param, _as_sent(param, text))
    if entry.service == STREAMS:
        streams.bind(streams.by_name[entry.name], arguments)
    else:
        operation.bind(operation_of(entry), arguments)
    return arguments


def operation_of(entry: Entry) -> operation.Operation:
    """The row of the catalogue, for an operation over HTTP."""
    if entry.service == EXCHANGE:
        return catalogue.by_name[entry.name]
    from chaindata.wire import catalogue as chain_catalogue  # its table is as long as all others together

    return chain_catalogue.by_name[entry.name]


def _as_sent(param: Param, text: str) -> object:
    """A text as the body carries it: a list of lines, or of objects whose members a line names in their order."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if param.kind is Kind.TEXTS:
        return lines
    if param.kind is Kind.OBJECTS:
        return [dict(zip(param.choices, (part.strip() for part in line.split(",")), strict=False)) for line in lines]
    return text


def _field(param: Param) -> forms.Field:
    note = ". ".join(part.rstrip(".") for part in (_shape(param), _bounds(param), param.note) if part)
    options: dict[str, Any] = {"label": param.name, "required": param.required, "help_text": note}
    options["error_messages"] = {"required": f"{param.name} is required."}
    empty = (
        [] if param.required else [("", "Omit" if param.default is None else f"Omit (default: {_word(param.default)})")]
    )
    if param.kind is Kind.BOOLEAN:
        return forms.ChoiceField(choices=[*empty, ("true", "true"), ("false", "false")], **options)
    if param.choices and param.kind not in _LINES:
        return forms.ChoiceField(choices=[*empty, *((choice, choice) for choice in param.choices)], **options)
    widget: forms.Widget = forms.TextInput()
    if param.kind in _LINES or (param.max_length or 0) > 2_000:
        widget = forms.Textarea(attrs={"rows": 3})
    widget.attrs |= {"autocomplete": "off", "spellcheck": "false"}
    if param.default is not None:
        widget.attrs["placeholder"] = _word(param.default)
    return forms.CharField(widget=widget, max_length=param.max_length or _MOST_TYPED, **options)


def _shape(param: Param) -> str:
    if param.kind is Kind.OBJECTS:
        return f"One per line: {', '.join(param.choices)}"
    return "" if param.choices else _SHAPES.get(param.kind, "")


def _bounds(param: Param) -> str:
    bounds = []
    if param.lowest is not None and param.highest is not None:
        bounds.append(f"{param.lowest} to {param.highest}")
    elif param.lowest is not None:
        bounds.append(f"At least {param.lowest}")
    elif param.highest is not None:
        bounds.append(f"At most {param.highest}")
    if param.most is not None:
        bounds.append(f"At most {param.most} entries")
    if param.max_length is not None:
        bounds.append(f"At most {param.max_length} characters")
    return ", ".join(bounds)


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
