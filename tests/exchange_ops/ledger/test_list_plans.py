"""Every order that a list offers is read from an index, from its first row and from a place in the middle."""

from importlib import import_module

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from desk import clock
from desk.lists.declared import LISTS
from tests.exchange_ops import rows

pytestmark = pytest.mark.django_db
ROWS = 60
import_module("project.urls")  # with it every list
ADDRESSES = {
    name: f"/{each.path}" + ("?view=all" if "view" in each.filters.base_fields else "") for name, each in LISTS.items()
}


@pytest.fixture
def reader(signed_in, make_person, payable):
    return signed_in(make_person("operator", "admin", "auditor", username="reader"))


def listing_query(client, path):
    """The statement that reads the rows of the page."""
    with CaptureQueriesContext(connection) as seen:
        response = client.get(path)
    assert response.status_code == 200, path
    found = [query["sql"] for query in seen.captured_queries if query["sql"].endswith("LIMIT 51")]
    assert len(found) == 1, path
    return found[0], response.context["list"]


def plan_of(sql):
    """What the engine would do, when it does not prefer to sort the few rows of a test."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
            return "\n".join(str(line[3]) for line in cursor.fetchall())
        for way in ("seqscan", "bitmapscan", "sort"):
            cursor.execute(f"SET LOCAL enable_{way} = off")
        cursor.execute(f"EXPLAIN {sql}")
        return "\n".join(line[0] for line in cursor.fetchall())


def is_from_an_index(plan):
    return "TEMP B-TREE" not in plan and "Sort" not in plan


def test_every_list_is_looked_at():
    assert {"ledger", "trail", "orders"} <= set(ADDRESSES)


@pytest.mark.parametrize("name", ADDRESSES)
def test_each_order_of_a_list_is_read_from_an_index(reader, name):
    address = ADDRESSES[name]
    reader.get(address)
    sorts = [one.name for one in LISTS[name].page_columns if one.order]
    for sort in ["", *sorts, *(f"-{one}" for one in sorts)]:
        path = f"{address}{'&' if '?' in address else '?'}sort={sort}" if sort else address
        plan = plan_of(listing_query(reader, path)[0])
        assert is_from_an_index(plan), f"{path}\n{plan}"


@pytest.mark.parametrize("sort", ["", "-amount", "kind", "-changed", "index"])
def test_a_place_in_the_middle_is_read_from_the_same_index(reader, sort):
    for number in range(1, ROWS + 1):
        rows.entry(number, now=clock.now(), currency=("BCH", "BTC")[number % 2])
    _, listing = listing_query(reader, f"/ledger/?sort={sort}")
    sql, listing = listing_query(reader, f"/ledger/{listing.older}")
    assert len(listing.rows) == ROWS - 50
    plan = plan_of(sql)
    assert is_from_an_index(plan), plan
    assert "SCAN " not in plan, "the place is looked up, not walked to"


def test_the_judge_knows_a_sort_from_an_index(reader):
    rows.entry(1, now=clock.now())
    assert not is_from_an_index(plan_of("SELECT * FROM exchange_ops_ledgerentry ORDER BY fee LIMIT 51"))
