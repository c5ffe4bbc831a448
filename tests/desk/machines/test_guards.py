"""Triggers that are generated from a table: what they hold on both engines."""

import pytest
from django.db import DatabaseError, connection, transaction

from desk import clock, rooms
from tests.exchange_ops import rows

ENGINES = ("sqlite", "postgresql")


@pytest.mark.parametrize("vendor", ENGINES)
def test_every_machine_has_every_rule(vendor):
    names = {name for statements in rooms.guards().values() for name in statements(vendor)}
    for table in (
        "exchange_ops_withdrawal",
        "exchange_ops_transfer",
        "exchange_ops_order",
        "exchange_ops_subaccountaction",
        "exchange_ops_addressrequest",
        "chaindata_chainbroadcast",
    ):
        rules = {f"{table}_{rule}" for rule in ("moves_with_event", "content_fixed", "begins", "no_removal")}
        assert rules <= names


@pytest.mark.parametrize("vendor", ENGINES)
def test_no_name_is_longer_than_the_engines_keep(vendor):
    assert max(len(name) for statements in rooms.guards().values() for name in statements(vendor)) <= 63


@pytest.mark.django_db
def test_where_a_request_came_from_is_never_edited(operator):
    rows.requested(operator, now=clock.now())
    with pytest.raises(DatabaseError, match="never edited"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE exchange_ops_withdrawal SET initiated_via = 'elsewhere'")
