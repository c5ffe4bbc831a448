"""Operations for migrations, in addition to Django's own."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.migrations.operations import AlterField, CreateModel
from django.db.migrations.operations.base import Operation


class CreateModels(Operation):
    """Creates many tables at once.

    After each `CreateModel` Django renders all related models again. For a hundred tables that refer to each other this
    would take most of the time of a first start. Here they are rendered once, after the last table.
    """

    def __init__(self, *models: CreateModel) -> None:
        self._models = models

    def state_forwards(self, app_label: str, state: Any) -> None:
        # Models that are rendered already would be rendered again for each.
        state.__dict__.pop("apps", None)
        for model in self._models:
            model.state_forwards(app_label, state)

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        for model in self._models:
            model.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        for model in reversed(self._models):
            model.database_backwards(app_label, schema_editor, from_state, to_state)

    def describe(self) -> str:
        return f"Create {len(self._models)} models"


class AlterLabels(Operation):
    """Changes what only Python knows of fields, such as choices and labels: no table is touched, no model rendered.

    A change that a column would need raises ValueError.
    """

    def __init__(self, *fields: AlterField) -> None:
        self._fields = fields

    def state_forwards(self, app_label: str, state: Any) -> None:
        state.__dict__.pop("apps", None)
        for change in self._fields:
            before = state.models[app_label, change.model_name_lower].fields[change.name]
            if _column(before) != _column(change.field):
                raise ValueError(f"{change.model_name}.{change.name} changes its column: use AlterField.")
            change.state_forwards(app_label, state)

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Nothing: the columns stay as they are."""

    database_backwards = database_forwards

    def describe(self) -> str:
        return f"Alter labels of {len(self._fields)} fields"


def _column(field: Any) -> tuple[str, Any, dict[str, Any]]:
    """What the database knows of a field: its class and its options without those that are for Python alone."""
    _, path, positional, options = field.deconstruct()
    return path, positional, {name: value for name, value in options.items() if name not in field.non_db_attrs}


class InstallTriggers(Operation):
    """Installs triggers of new tables, with the texts of the database that is migrated.

    `RunPython` would render all models for it. On the way back they go with their tables.
    """

    def __init__(self, sqlite: Mapping[str, str], postgresql: Mapping[str, str]) -> None:
        self._sqlite, self._postgresql = sqlite, postgresql

    def state_forwards(self, app_label: str, state: Any) -> None:
        """Nothing: triggers are no part of the models."""

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        with schema_editor.connection.cursor() as cursor:
            for statement in (self._sqlite if _is_sqlite(schema_editor) else self._postgresql).values():
                cursor.execute(statement)

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Nothing: the tables are removed by what created them."""

    def describe(self) -> str:
        return f"Install {len(self._sqlite)} triggers"


class ReplaceTriggers(InstallTriggers):
    """Removes the triggers that `tables` names the table of, then installs those with a text.

    There is no way back: what held a row is not taken away from it.
    """

    reversible = False

    def __init__(self, tables: Mapping[str, str], sqlite: Mapping[str, str], postgresql: Mapping[str, str]) -> None:
        super().__init__(sqlite, postgresql)
        self._tables = tables

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        with schema_editor.connection.cursor() as cursor:
            for name, table in self._tables.items():
                if _is_sqlite(schema_editor):
                    cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
                else:
                    cursor.execute(f"DROP TRIGGER IF EXISTS {name} ON {table}; DROP FUNCTION IF EXISTS {name}()")
        super().database_forwards(app_label, schema_editor, from_state, to_state)

    def describe(self) -> str:
        return f"Replace {len(self._tables)} triggers"


class OnSQLite(Operation):
    """Statements that SQLite alone needs around a table that is made anew; `backwards` are those of the way back."""

    def __init__(self, *forwards: str, backwards: Sequence[str] = ()) -> None:
        self._forwards, self._backwards = forwards, backwards

    def state_forwards(self, app_label: str, state: Any) -> None:
        """Nothing: the models stay as they are."""

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        _execute_on_sqlite(schema_editor, self._forwards)

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        _execute_on_sqlite(schema_editor, self._backwards)

    def describe(self) -> str:
        return "Prepare SQLite for a table that is made anew"


def _execute_on_sqlite(schema_editor: Any, statements: Sequence[str]) -> None:
    if _is_sqlite(schema_editor):
        for statement in statements:
            schema_editor.execute(statement)


def _is_sqlite(schema_editor: Any) -> bool:
    return bool(schema_editor.connection.vendor == "sqlite")
