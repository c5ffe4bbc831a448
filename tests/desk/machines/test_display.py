"""How states and events are shown: every one that a machine's table names has an icon and words of its own."""

import pytest
from django.template import Context, Library, Template

from desk.machines.display import Display
from desk.machines.table import State, Tone, Turn
from exchange_ops.orders import states as orders
from exchange_ops.subaccounts import states as subaccount_states
from exchange_ops.templatetags import exchange_ops as withdrawal_tags
from exchange_ops.templatetags import orders as order_tags
from exchange_ops.templatetags import subaccounts as subaccount_tags
from exchange_ops.templatetags import transfers as transfer_tags
from exchange_ops.transfers import states as transfer_states
from exchange_ops.withdrawals import states as withdrawal_states

SMALL = Display(
    {"new": State("Quite new", "Nothing happened.", Turn.WORKER, Tone.ACTIVE, icon="clock")}, {"made": "Made"}
)


def test_a_state_is_shown_by_its_table_and_an_event_by_its_words():
    assert "Quite new" in SMALL.state("new")
    assert (SMALL.sign("new"), SMALL.label("new"), SMALL.event("made")) == ("clock", "Quite new", "Made")
    assert SMALL.event("seen_late") == "Seen late"


def test_templates_get_them_by_the_names_of_their_library():
    library = Library()
    SMALL.registered(library, state="small_state", sign="small_sign", label="small_label", event="small_event")
    assert set(library.tags) == {"small_state", "small_sign"}
    assert library.filters["small_label"]("new") == "Quite new"
    assert library.filters["small_event"]("made") == "Made"
    SMALL.registered(library, "tiny")
    assert {"tiny_state", "tiny_sign"} <= set(library.tags)
    assert {"tiny_label", "tiny_event"} <= set(library.filters)


def test_a_page_uses_them():
    page = Template("{% load transfers %}{% transfer_sign name %} {{ name|transfer_label }} {% transfer_state name %}")
    state = transfer_states.STATES["unknown"]
    text = page.render(Context({"name": "unknown"}))
    assert text.startswith(f"{state.icon} {state.label} ")
    assert text.count(state.label) == 2


@pytest.mark.parametrize(
    ("table", "display"),
    [
        (withdrawal_states.TABLE, withdrawal_tags.DISPLAY),
        (transfer_states.TABLE, transfer_tags.DISPLAY),
        (orders.TABLE, order_tags.DISPLAY),
        (subaccount_states.TABLE, subaccount_tags.DISPLAY),
    ],
)
def test_every_event_of_a_machine_has_words_and_every_state_an_icon(table, display):
    assert {move.event for move in table.moves} - set(display.events) == set()
    assert [name for name in table.states if not display.sign(name)] == []
