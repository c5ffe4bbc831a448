"""Long lists as JSON that the database writes: a row becomes its text there, and Python only puts the texts in a line.

Reading a thousand rows of ten exact figures into objects and writing them out again takes many times as long. Amounts
are text without exponent or trailing zeros and instants UTC with milliseconds, as everywhere in this interface.
"""

from collections.abc import Mapping
from typing import Any

from django.db import connection
from django.db.models import DateTimeField, F, Field, Func, QuerySet, TextField, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, JSONObject
from django.http import HttpResponse

from desk.fields import ExactDecimalField

Members = Mapping[str, str]  # name of the member to the column it tells


def row_texts(rows: QuerySet[Any], members: Members) -> list[str]:
    """Every row as the text of one JSON object, in the order of the query."""
    columns = {name: _member(rows.model._meta.get_field(column)) for name, column in members.items()}
    written = rows.annotate(written=Cast(JSONObject(**columns), TextField()))
    return list(written.values_list("written", flat=True))


def answer(items: list[str], **beside: str) -> HttpResponse:
    """The rows as `items`, with members beside them whose values are JSON already."""
    head = "".join(f'"{name}":{value},' for name, value in beside.items())
    body = f'{{{head}"items":[{",".join(items)}]}}'
    return HttpResponse(body, content_type="application/json")


def _member(field: "Field[Any, Any] | Any") -> Combinable:
    is_sqlite = connection.vendor == "sqlite"
    column = F(field.attname)
    if isinstance(field, ExactDecimalField) and not is_sqlite:
        return Func(column, template="trim_scale(%(expressions)s)::text", output_field=TextField())
    if isinstance(field, DateTimeField):
        return _instant_on_sqlite(column) if is_sqlite else _instant_on_postgres(column)
    return column


def _instant_on_sqlite(column: F) -> Func:
    return Func(Value("%Y-%m-%dT%H:%M:%fZ"), column, function="strftime", output_field=TextField())


def _instant_on_postgres(column: F) -> Func:
    at_utc = Func(Value("UTC"), column, function="timezone", output_field=DateTimeField())
    return Func(at_utc, Value('YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), function="to_char", output_field=TextField())
