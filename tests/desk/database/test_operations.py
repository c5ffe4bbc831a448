"""The project's own operations for migrations: what the models know afterwards, and what they refuse."""

import pytest
from django.db import models
from django.db.migrations.operations import AlterField
from django.db.migrations.state import ModelState, ProjectState

from desk.database.operations import AlterLabels


@pytest.fixture
def state():
    state = ProjectState()
    state.add_model(ModelState("desk", "Case", [("word", models.CharField(max_length=8, choices=[("a", "Open")]))]))
    return state


def test_labels_are_changed_without_rendering_a_model(state):
    assert state.apps.get_model("desk", "Case")._meta.get_field("word").choices == [("a", "Open")]
    change = AlterField("case", "word", models.CharField(max_length=8, choices=[("a", "Under way")], help_text="Why."))
    AlterLabels(change).state_forwards("desk", state)
    assert "apps" not in vars(state)
    assert state.apps.get_model("desk", "Case")._meta.get_field("word").choices == [("a", "Under way")]


@pytest.mark.parametrize(
    "field",
    [
        models.CharField(max_length=9, choices=[("a", "Open")]),
        models.CharField(max_length=8, choices=[("a", "Open")], null=True),
        models.TextField(choices=[("a", "Open")]),
    ],
)
def test_a_change_that_a_column_needs_is_refused(state, field):
    with pytest.raises(ValueError, match=r"case\.word changes its column"):
        AlterLabels(AlterField("case", "word", field)).state_forwards("desk", state)
    assert state.models["desk", "case"].fields["word"].max_length == 8
