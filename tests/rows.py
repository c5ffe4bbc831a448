"""Emptying the tables between tests, although the audit table and those about money refuse to be emptied."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.test import TransactionTestCase

_flush = TransactionTestCase._fixture_teardown


def allow_flush() -> None:
    """Take the guards of the tables away while Django empties them after a transactional test."""
    TransactionTestCase._fixture_teardown = _flush_without_guards  # type: ignore[method-assign]


def _flush_without_guards(case: Any) -> None:
    from django.db import connection

    from desk import audit
    from desk import triggers as desk_guards
    from exchange_ops import order_triggers as order_guards
    from exchange_ops import subaccount_triggers as subaccount_guards
    from exchange_ops import transfer_triggers as transfer_guards
    from exchange_ops import triggers as money_guards

    for guards in (desk_guards, money_guards, order_guards, subaccount_guards, transfer_guards):
        guards.remove(connection)
    try:
        _flush(case)
    finally:
        for guards in (desk_guards, money_guards, order_guards, subaccount_guards, transfer_guards):
            guards.install(connection)
        Path(settings.DATA_DIR, audit.HEADS_FILE).unlink(missing_ok=True)
