"""What a machine is declared as: the tables of all of them are whole, and what is wrong with one is said."""

import re
from dataclasses import replace

import pytest

from chaindata.broadcasts.machine import MACHINE as BROADCASTS
from chaindata.watching.machine import ADDRESSES, MOVEMENTS
from desk.incidents.machine import MACHINE as INCIDENTS
from desk.machines.table import Column, State, Table, Tone, Transition, Turn
from desk.restores.machine import MACHINE as RESTORES
from desk.staff.machine import MACHINE as PEOPLE
from exchange_ops.addresses.machine import MACHINE as ADDRESS_REQUESTS
from exchange_ops.orders.brackets.machine import MACHINE as BRACKETS
from exchange_ops.orders.machine import MACHINE as ORDERS
from exchange_ops.payees.machine import MACHINE as PAYEES
from exchange_ops.policy_changes.machine import MACHINE as RULE_CHANGES
from exchange_ops.positions.machine import MACHINE as MARGIN_ACTIONS
from exchange_ops.subaccounts.machine import MACHINE as SUBACCOUNTS
from exchange_ops.transfers.machine import MACHINE as TRANSFERS
from exchange_ops.withdrawals.machine import MACHINE as WITHDRAWALS

MACHINES = {
    machine.model.name: machine
    for machine in (
        WITHDRAWALS,
        TRANSFERS,
        ORDERS,
        BRACKETS,
        SUBACCOUNTS,
        ADDRESS_REQUESTS,
        BROADCASTS,
        INCIDENTS,
        PEOPLE,
        RESTORES,
        MARGIN_ACTIONS,
        RULE_CHANGES,
        PAYEES,
        ADDRESSES,
        MOVEMENTS,
    )
}
every_machine = pytest.mark.parametrize("machine", list(MACHINES.values()), ids=list(MACHINES))
SMALL = Table(
    noun="a thing",
    states={
        "new": State("New", "Nothing happened yet.", Turn.WORKER, Tone.ACTIVE),
        "done": State("Done", "It is done.", Turn.NOBODY, Tone.GOOD, terminal=True),
    },
    moves=(
        Transition(1, "", "created", "new", ("operator",)),
        Transition(2, "new", "finished", "done", ("worker",)),
    ),
    columns={},
)
LOST = Transition(3, "new", "lost", "gone", ("worker",))


@every_machine
def test_a_sentence_that_says_what_is_being_done_names_it_by_a_participle(machine):
    """A rename of an identifier once made "The exchange is being wish at this moment." of "being asked"."""
    words = [one for state in machine.table.states.values() for one in (state.label, state.sentence)]
    doing = [one for text in words for one in re.findall(r"\b[Bb]eing (\w+)", text)]
    irregular = {"sent", "told", "paid", "read", "put", "sought", "held", "found", "written", "undone"}
    assert [one for one in doing if not one.endswith("ed") and one not in irregular] == []


@every_machine
def test_the_table_of_every_machine_is_whole(machine):
    assert list(machine.table.problems()) == []


def test_no_two_machines_call_their_rows_by_the_same_mark():
    marks = [machine.model.mark for machine in MACHINES.values()]
    assert sorted(marks) == sorted({*marks})


@every_machine
def test_every_declared_column_is_one_of_the_model(machine):
    assert set(machine.table.columns) <= {field.attname for field in machine.model._meta.concrete_fields}


@every_machine
def test_what_is_recorded_is_never_edited(machine):
    """A column in the first event that could be edited later would be another one in the table than in the trail."""
    recorded = set(machine.table.named(Column.RECORDED))
    read = {"margin"} if machine is ORDERS else set()  # of what was asked for here a guard of its own keeps it
    assert not recorded & set(machine.table.loose)
    assert recorded & machine.table.beside_the_trail == read
    assert recorded - read <= set(machine.table.named(Column.FIXED))


@every_machine
def test_only_what_decides_nothing_changes_without_a_move(machine):
    proving = set(machine.table.named(Column.TOUCHED)) - set(machine.table.loose)
    assert proving == ({"hash"} if machine is WITHDRAWALS else set()), "witnessed, and read from the exchange"


def test_what_brackets_decide_by_is_witnessed_though_it_is_a_copy():
    """And compared with no trail, which doesn't tell of it; the trail's own `margin` is of orders from elsewhere."""
    table = ORDERS.table
    deciding = {"status", "cum_quantity", "active", "exchange_updated_at", "margin"}
    assert set(table.named(Column.WITNESSED)) == deciding
    assert set(table.named(Column.COPY)) - set(table.loose) == deciding <= table.beside_the_trail
    assert set(table.loose) < table.beside_the_trail


@every_machine
def test_every_event_can_name_its_row_and_its_version_once(machine):
    unique = {tuple(each.fields) for each in machine.events._meta.constraints if hasattr(each, "fields")}
    assert (machine.owner.removesuffix("_id"), "version") in unique


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"moves": SMALL.moves[:1]}, "No transition leads to done."),
        ({"moves": SMALL.moves[:1]}, "No transition leads out of new, so its turn can't be worker."),
        ({"moves": (*SMALL.moves, LOST)}, "lost names 'gone', which is not a state."),
        (
            {"moves": (*SMALL.moves, replace(LOST, target="done", who=()))},
            "Nobody is allowed to trigger lost from new.",
        ),
        (
            {"columns": {"amount": Column.FIXED | Column.WITNESSED}},
            "amount must not be WITNESSED: none of its other flags exempts it from being witnessed anyway.",
        ),
        (
            {"states": SMALL.states | {"done": State("Done", "It is.", "cat", Tone.GOOD)}},
            "done has an unknown turn: 'cat'.",
        ),
    ],
)
def test_what_is_wrong_with_a_table_is_said(change, problem):
    assert list(SMALL.problems()) == []
    assert problem in list(replace(SMALL, **change).problems())


def test_the_sets_of_states_follow_from_the_table():
    table = replace(SMALL, states=SMALL.states | {"asked": State("Asked", "A person decides.", Turn.PERSON, Tone.WARN)})
    assert (table.ends, table.open, table.at_work, table.born) == (("done",), ("new", "asked"), ("new",), ("new",))
    assert table.resting == {"done"}
    assert replace(table, at_rest=frozenset()).resting == frozenset()


def test_what_approvals_sign_is_this_and_nothing_less():
    """Written out once more: a column that is left out could be changed after the approval."""
    payout = {"account_id", "initiator_id", "currency", "amount", "include_fee", "address", "payment_id", "reason"}
    transfer = {"account_id", "initiator_id", "reissues_id", "kind", "currency", "amount", "to_currency", "by"}
    assert set(WITHDRAWALS.table.named(Column.SIGNED)) == payout | {
        "fee_limit", "quorum_required", "group_needs", "mode",
    }  # fmt: skip
    assert set(TRANSFERS.table.named(Column.SIGNED)) == transfer | {
        "identifier", "subaccount_id", "reason", "quorum_required", "group_needs", "lookalikes",
    }  # fmt: skip
