"""What a migration is written with beside Django's own operations."""

from typing import Any

from django.db.migrations.operations import CreateModel
from django.db.migrations.operations.base import Operation


class CreateModels(Operation):
    """Many tables made at once.

    Django renders every model that a new one is related to anew after each `CreateModel`, which for a hundred tables
    that refer to each other is most of the time a first start takes. Here they are rendered once, after the last.
    """

    def __init__(self, *models: CreateModel) -> None:
        self._models = models

    def state_forwards(self, app_label: str, state: Any) -> None:
        # What is rendered already would be rendered again for each.
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
