"""Operations for migrations, in addition to Django's own."""

from typing import Any

from django.db.migrations.operations import CreateModel
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
