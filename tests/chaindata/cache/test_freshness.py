"""Every operation has a row that says how long its answers count, and every row an operation."""

import json

import pytest

from chaindata.cache import finality
from chaindata.cache.freshness import FRESHNESS, Final
from chaindata.client import bulks
from chaindata.wire import catalogue
from project import celery_settings
from tests.exchange_ops.wire import golden
from wire import records
from wire.operation import Kind

KEPT = {name: row for name, row in FRESHNESS.items() if row is not None}
BULK_READS = {
    operation.name
    for operation in catalogue.ALL
    if operation.reads and any(param.kind in (Kind.TEXTS, Kind.INTEGERS, Kind.OBJECTS) for param in operation.params)
}


def test_the_tables_match():
    assert list(FRESHNESS) == [operation.name for operation in catalogue.ALL], "in the order of the catalogue"


def test_what_acts_or_answers_many_at_once_is_not_kept():
    acting = {operation.name for operation in catalogue.ALL if not operation.reads}
    assert set(FRESHNESS) - set(KEPT) == acting | BULK_READS


@pytest.mark.parametrize("name", KEPT)
def test_a_row_makes_sense(name):
    row = KEPT[name]
    assert row.fresh_for.total_seconds() > 0
    assert row.absent_for.total_seconds() <= 60, "that there is no such thing is believed briefly"
    if row.final is Final.BURIED:
        assert row.by_block, "what is not buried yet can change with every block"
    if row.bulk:
        spec = bulks.BULKS[row.bulk]
        assert spec.single == name
        assert row.bulk in BULK_READS
        one, many = catalogue.by_name[name], catalogue.by_name[row.bulk]
        assert spec.param in {param.name for param in one.params}
        assert spec.array in {param.name for param in many.params}


def test_a_bulk_answers_nothing_that_its_single_form_could_ask_more_of():
    """A row with more parameters than the bulk has, like the page of an address, is asked for by itself."""
    for name, row in KEPT.items():
        if row.bulk:
            assert len(catalogue.by_name[name].params) == len(catalogue.by_name[row.bulk].params) == 1, name


def test_what_is_woken_by_the_clock_runs_on_the_queue_of_the_chain():
    tasks = {entry["task"] for entry in celery_settings.beat_schedule.values()}
    assert {"chaindata.sweep", "chaindata.follow_tip", "chaindata.purge"} <= tasks


@pytest.mark.parametrize(
    ("changes", "is_open"),
    [
        ({}, False),
        ({"type_int": 68, "mature": True}, False),
        ({"type_int": 68, "mature": False}, True),
        ({"type_int": 185}, True),
        ({"type_int": 186}, True),
    ],
)
def test_a_token_transaction_that_tells_the_present_is_never_final(changes, is_open):
    """A burn ripens, and a freeze shows the balance of now: later blocks change what is told of them."""
    name = "get_token_transaction"
    reply = golden.files("chaindata")[name]["reply"] | changes
    record = records.decode(json.dumps(reply, default=str).encode(), catalogue.by_name[name].result)
    found = finality.ground(name, KEPT[name], {"txid": reply["txid"]}, record)
    assert (found.height, found.is_open) == (reply["block"], is_open)
