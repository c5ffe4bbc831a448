"""Destinations: what was paid to each and what is only reserved, on the page and in the file of columns alone."""

import csv
import io
from decimal import Decimal

import pytest

from desk.lists import reading
from exchange_ops.ledger import destinations
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.ledger.views.destinations import DESTINATIONS
from tests.exchange_ops import rows

pytestmark = pytest.mark.django_db
HERE, THERE = "qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a", "1DeLbv5EMzLEFDvQ8wZiKeSuPGGtSSz5HP"
NOWHERE, SOON = "1BoatSLRHtKNngkdXEeobR76b53LETtpyT", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"


@pytest.fixture
def paid():
    for number, (address, amount, status) in enumerate(
        [
            (HERE, "1.25", "success"),
            (HERE, "0.1", "pending"),
            (HERE, "100", "failed"),
            (THERE, "3", "success"),
            (THERE, "40", "created"),
            (NOWHERE, "7", "failed"),
            (SOON, "2", "created"),
            (SOON, "5", "failed"),
        ],
        start=1,
    ):
        rows.entry(number, type="payout", currency="BCH", address=address, amount=amount, status=status)
    rows.entry(9, type="payin", currency="BCH", address=HERE, amount="50", status="success")


def test_paid_reserved_and_released_are_counted_apart(paid):
    found = {row.address: row for row in destinations.newest_payouts(LedgerEntry.objects.all())}
    assert {
        address: (row.paid_count, row.paid_total, row.reserved_count, row.reserved_total, row.released_count)
        for address, row in found.items()
    } == {
        HERE: (2, Decimal("1.35"), 0, None, 1),
        THERE: (1, Decimal(3), 1, Decimal(40), 0),
        SOON: (0, None, 1, Decimal(2), 1),
    }
    assert {address: row.last_paid_amount for address, row in found.items()} == {
        HERE: Decimal("0.1"),
        THERE: Decimal(3),
        SOON: None,
    }
    assert found[SOON].last_paid_at is None, "what is reserved was not paid at any time"


def test_page_and_file_say_the_same_and_the_file_reads_columns(paid, signed_in, make_person, monkeypatch):
    def no_objects(*_: object) -> None:
        raise AssertionError("The file was read as objects.")

    monkeypatch.setattr(reading, "_of_objects", no_objects)
    client = signed_in(make_person("auditor"))
    page = client.get("/addresses/").content.decode()
    assert "1.35" in page
    assert "Never paid" in page
    content = b"".join(client.get("/addresses/export.csv").streaming_content).decode()
    lines = {line["address"]: line for line in csv.DictReader(io.StringIO(content.lstrip("\ufeff")))}
    assert (lines[HERE]["payments"], lines[HERE]["paid in total"]) == ("2", "1.35")
    assert (lines[SOON]["payments"], lines[SOON]["reserved"], lines[SOON]["last amount"]) == ("0", "2", "")
    assert {label.partition(" (")[0] for label, _ in DESTINATIONS.exported} <= {
        name.partition(" (")[0] for name in next(iter(lines.values()))
    }
