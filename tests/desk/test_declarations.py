"""What rooms declare is made of the classes that the desk reads it by; the types of `desk.rooms` don't say so."""

import pytest

from desk import rooms
from desk.actions import approvals, entries
from desk.incidents import kinds
from desk.lists import declared
from desk.notifications import wishes
from desk.restores import waiting
from desk.rows import retention
from desk.web import context, search
from desk.work import Work


@pytest.mark.parametrize(
    ("collect", "class_"),
    [
        (rooms.incidents, kinds.Kind),
        (rooms.actions, entries.Source),
        (rooms.browser_kinds, wishes.BrowserKind),
        (rooms.approvals, approvals.Approvals),
        (rooms.searches, search.Search),
        (rooms.commands, search.Command),
        (rooms.navigation, context.Entry),
        (rooms.retention, retention.Retention),
        (rooms.waiting, waiting.Source),
        (rooms.lists, declared.List),
        (rooms.work, Work),
    ],
)
def test_each_declaration_is_of_its_class(collect, class_):
    declarations = collect()
    assert declarations
    assert {type(each) for each in declarations} == {class_}
