"""Triggers that are generated from a table: what they took the place of, and what they hold on both engines."""

from importlib import import_module

import pytest
from django.db import DatabaseError, connection, transaction

from chaindata.broadcasts import guards as broadcasts
from desk import clock
from desk.machines.guards import all_statements
from exchange_ops.guards import GUARDS
from tests.exchange_ops import rows

ENGINES = ("sqlite", "postgresql")
MIGRATION = import_module("exchange_ops.migrations.0020_guards_from_the_tables")
# What a rule was called before all machines called it the same.
FIELDS_SINCE = (  # of an order
    "replaces_id",
    "take_liquidity_markup",
    "provide_liquidity_markup",
    "oversteps",
    "digest",
    "approve_until",
)
RENAMED = {
    "exchange_ops_order_one_number": "exchange_ops_order_fills_once",
    "exchange_ops_transfer_keeps_its_numbers": "exchange_ops_transfer_fills_once",
    "exchange_ops_withdrawal_one_hold": "exchange_ops_withdrawal_fills_once",
    "exchange_ops_transfer_begins_as_draft": "exchange_ops_transfer_begins",
    "exchange_ops_withdrawal_begins_as_draft": "exchange_ops_withdrawal_begins",
}


def conditions(statement: str) -> set[str]:
    """The alternatives by any of which a rule is broken."""
    if statement.startswith("CREATE TRIGGER"):
        when = statement.split(" WHEN ", 1)[1].rsplit(" BEGIN SELECT", 1)[0]
    else:
        when = statement.split(" BEGIN IF ", 1)[1].split(" THEN RAISE", 1)[0]
    return {each.strip("() ") for each in when.split(" OR ")}


@pytest.mark.parametrize("vendor", ENGINES)
def test_what_took_the_place_of_a_rule_holds_all_that_it_held(vendor):
    """Every alternative of the old text stands in the new one; what came beside it is named here."""
    before = MIGRATION.BEFORE_SQLITE if vendor == "sqlite" else MIGRATION.BEFORE_POSTGRESQL
    now = all_statements(GUARDS, vendor)
    more = {name: conditions(now[RENAMED.get(name, name)]) - conditions(text) for name, text in before.items()}
    assert all(conditions(text) <= conditions(now[RENAMED.get(name, name)]) for name, text in before.items())
    differs = "IS NOT" if vendor == "sqlite" else "IS DISTINCT FROM"
    other = f"NEW.initiated_via {differs} OLD.initiated_via"
    of_orders = {f"NEW.{name} {differs} OLD.{name}" for name in FIELDS_SINCE}
    assert {name: found for name, found in more.items() if found} == {
        "exchange_ops_order_content_fixed": {other} | of_orders,
        "exchange_ops_transfer_content_fixed": {other},
        "exchange_ops_withdrawal_content_fixed": {other},
        "exchange_ops_transfer_begins_as_draft": {"NEW.second_id IS NOT NULL"},
        "exchange_ops_withdrawal_begins_as_draft": {"NEW.exchange_id IS NOT NULL"},
    }


@pytest.mark.parametrize("vendor", ENGINES)
def test_every_machine_has_every_rule(vendor):
    names = all_statements(GUARDS | {"broadcasts": broadcasts.GUARDS}, vendor)
    for table in (
        "exchange_ops_withdrawal",
        "exchange_ops_transfer",
        "exchange_ops_order",
        "exchange_ops_subaccountaction",
        "exchange_ops_addressrequest",
        "chaindata_chainbroadcast",
    ):
        rules = {f"{table}_{rule}" for rule in ("moves_with_event", "content_fixed", "begins", "no_removal")}
        assert rules <= names.keys()


@pytest.mark.parametrize("vendor", ENGINES)
def test_no_name_is_longer_than_the_engines_keep(vendor):
    assert max(len(name) for name in all_statements(GUARDS | {"b": broadcasts.GUARDS}, vendor)) <= 63


@pytest.mark.django_db
def test_where_a_request_came_from_is_never_edited(operator):
    rows.requested(operator, now=clock.now())
    with pytest.raises(DatabaseError, match="never edited"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE exchange_ops_withdrawal SET initiated_via = 'elsewhere'")
