"""Emptying the tables between tests, although the audit table refuses to be emptied."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.test import TransactionTestCase

_flush = TransactionTestCase._fixture_teardown


def allow_flush() -> None:
    """Take the guards of the audit table away while Django empties the tables after a transactional test."""
    TransactionTestCase._fixture_teardown = _flush_without_guards  # type: ignore[method-assign]


def _flush_without_guards(case: Any) -> None:
    from django.db import connection

    from desk import audit, triggers

    triggers.remove(connection)
    try:
        _flush(case)
    finally:
        triggers.install(connection)
        Path(settings.DATA_DIR, audit.HEADS_FILE).unlink(missing_ok=True)
