"""A row of a machine as it was: built from what its events recorded, and from nothing that is on the row now.

Columns that change without an event have no past; what they hold at the end of the last event is what is given.
"""

import copy
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from django.core.exceptions import FieldDoesNotExist
from django.db import models

from desk.machines.rows import Subject
from desk.machines.table import Column

R = TypeVar("R", bound=Subject)


def row_at(row: R, changes: Iterable[Mapping[str, Any]]) -> R:
    """An unsaved copy of the row with the values that these changes left, the first one first.

    What is written once and never edited stays as it is; every other column begins with its default.
    """
    past = copy.copy(row)
    fixed = set(row.table.named(Column.FIXED))
    for field in row._meta.concrete_fields:
        if not field.primary_key and field.attname not in fixed:
            setattr(past, field.attname, field.get_default())
    for each in changes:
        for name, value in each.items():
            _put(past, name, value)
    return past


def _put(row: models.Model, name: str, value: Any) -> None:
    """Set a column from its text in an event; facts that are no columns are left out."""
    try:
        field = row._meta.get_field(name)
    except FieldDoesNotExist:
        return
    if isinstance(field, models.Field) and not field.primary_key:
        setattr(row, field.attname, value if value is None else _of_text(field, value))


def _of_text(field: Any, value: Any) -> Any:
    target = field.target_field if field.is_relation else field
    return target.to_python(value)
