"""Destinations: how often was paid to each and how much in all, on the page and in the file of columns alone."""

import csv
import io

import pytest

from desk.lists import reading
from exchange_ops.ledger import destinations
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.ledger.views.destinations import DESTINATIONS
from tests.exchange_ops import rows

pytestmark = pytest.mark.django_db
HERE, THERE = "qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a", "1DeLbv5EMzLEFDvQ8wZiKeSuPGGtSSz5HP"


@pytest.fixture
def paid():
    for number, (address, amount, status) in enumerate(
        [
            (HERE, "1.25", "success"),
            (HERE, "0.1", "pending"),
            (HERE, "100", "failed"),
            (THERE, "3", "success"),
        ],
        start=1,
    ):
        rows.entry(number, type="payout", currency="BCH", address=address, amount=amount, status=status)
    rows.entry(9, type="payin", currency="BCH", address=HERE, amount="50", status="success")


def test_each_address_has_its_count_and_its_exact_total(paid):
    found = {row.address: row for row in destinations.newest_payouts(LedgerEntry.objects.all())}
    assert {address: (row.paid_count, str(row.paid_total)) for address, row in found.items()} == {
        HERE: (2, "1.35"),
        THERE: (1, "3"),
    }


def test_page_and_file_say_the_same_and_the_file_reads_columns(paid, signed_in, make_person, monkeypatch):
    def no_objects(*_: object) -> None:
        raise AssertionError("The file was read as objects.")

    monkeypatch.setattr(reading, "_of_objects", no_objects)
    client = signed_in(make_person("auditor"))
    assert "1.35" in client.get("/addresses/").content.decode()
    content = b"".join(client.get("/addresses/export.csv").streaming_content).decode("utf-8-sig")
    lines = {line["address"]: line for line in csv.DictReader(io.StringIO(content))}
    assert (lines[HERE]["payouts"], lines[HERE]["paid in total"]) == ("2", "1.35")
    assert {label.partition(" (")[0] for label, _ in DESTINATIONS.exported} <= {
        name.partition(" (")[0] for name in next(iter(lines.values()))
    }
