"""Rows of few keys, or all of them, come as Django's own questions give them, whatever their number and order."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from desk.models import Person
from desk.rows import witnessed
from desk.rows.by_key import all_rows, rows_by_key
from desk.rows.witnessed import Table

pytestmark = [pytest.mark.engine("SQL of our own"), pytest.mark.django_db]
COLUMNS = ("username", "is_active", "last_login", "session_epoch")
TABLES = {table.label: table for table in witnessed.tables()}


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 8])
def test_any_number_of_keys_once_each_and_in_order(make_person: Callable[..., Any], count: int) -> None:
    people = [make_person("operator", username=f"person-{number}").pk for number in range(8)]
    numbers = [*reversed(people[:count]), 10**9]
    wanted = list(Person.objects.filter(pk__in=numbers).order_by("pk").values_list("pk", *COLUMNS))
    assert len(wanted) == count
    for _ in range(2):  # the second time by the text that is kept
        assert [tuple(row) for row in rows_by_key(Person, COLUMNS, numbers)] == wanted


def test_nobody_is_nobody() -> None:
    assert list(rows_by_key(Person, COLUMNS, [10**9])) == []


def test_the_text_is_of_this_connection_and_kept(
    make_person: Callable[..., Any], django_assert_num_queries: Any
) -> None:
    pk = make_person("operator").pk
    list(rows_by_key(Person, COLUMNS, [pk]))
    kept = connection.by_key[Person, COLUMNS, 1]  # type: ignore[attr-defined]
    with django_assert_num_queries(1):
        list(rows_by_key(Person, COLUMNS, [pk]))
    assert connection.by_key[Person, COLUMNS, 1] is kept  # type: ignore[attr-defined]


def test_all_rows_come_in_order_whatever_is_in_memory_at_once(
    make_person: Callable[..., Any], monkeypatch: Any, django_assert_num_queries: Any
) -> None:
    for number in range(5):
        make_person("operator", username=f"person-{number}")
    wanted = list(Person.objects.order_by("pk").values_list("pk", *COLUMNS))
    monkeypatch.setattr("desk.rows.by_key._CHUNK", 2)
    for _ in range(2):  # the second time by the text that is kept
        assert [tuple(row) for row in all_rows(Person, COLUMNS)] == wanted
    with django_assert_num_queries(1):
        list(all_rows(Person, COLUMNS))


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_every_witnessed_table_can_be_asked(table: Table) -> None:
    rows = table.model._base_manager.filter(pk__in=[1, 2]).order_by("pk").values_list("pk", *table.columns)
    assert [tuple(row) for row in rows_by_key(table.model, table.columns, [1, 2])] == list(rows)
    every = table.model._base_manager.order_by("pk").values_list("pk", *table.columns)
    assert [tuple(row) for row in all_rows(table.model, table.columns)] == list(every)
