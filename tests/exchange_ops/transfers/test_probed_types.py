"""The probe says as what each of the desk's own transfers is listed: the documents leave it open for most kinds."""

import pytest

from exchange_ops.withdrawals.evidence import probe_readings
from tests.exchange_ops.transfers.movings import REQUESTS

pytestmark = [pytest.mark.django_db(transaction=True)]


def read(moving):
    return list(probe_readings.transfers(moving.walk.account))


def test_each_kind_is_told_by_its_own_entries(moving):
    assert read(moving) == []  # nothing was moved: nothing is known
    listed = {}
    for kind in REQUESTS:
        row = moving.step(moving.until(moving.approved(kind), "done"))
        entries = moving.entries(row)
        assert entries, kind
        types = {f"{entry.type}/{entry.sub_type}" if entry.sub_type else entry.type for entry in entries}
        listed[kind.replace("_", " ")] = ", ".join(sorted(types))
    [answer] = read(moving)
    assert (answer.value, answer.holds) == (listed, True)
    assert f"to subaccount: {listed['to subaccount']}" in answer.sentence
    moving.entries(row)[0].__class__.objects.filter(transfer=row).update(type="magic")
    [answer] = read(moving)
    assert (answer.value["from subaccount"], answer.holds) == ("magic/offchain", False)
