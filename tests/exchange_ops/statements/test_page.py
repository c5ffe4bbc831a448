"""The page of statements: figures that the stored ledger supports, each with its lines, and nothing invented."""

import csv
import json
import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from io import StringIO

import pytest

from desk import clock
from desk.models import AuditEvent
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.statements import statement
from exchange_ops.statements.periods import Period, month_of
from tests.exchange_ops import rows

pytestmark = pytest.mark.django_db
MARCH = "range=custom&since=2026-03-01&until=2026-03-31"


def text(response):
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def test_look(ledger, auditor, signed_in):
    page = signed_in(auditor).get(f"/statements/?{MARCH}")
    print(text(page))
    assert page.status_code == 200
    print(text(signed_in(auditor).get("/statements/export.csv?"+MARCH)))
    print(b"".join(signed_in(auditor).get("/statements/journal.csv?"+MARCH)).decode())
