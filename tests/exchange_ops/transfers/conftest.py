"""The desk under test, ready to move money inside the exchange."""

import pytest

from tests.exchange_ops.transfers.movings import Moving
from tests.exchange_ops.withdrawals.walks import Walk


@pytest.fixture
def moving(walk: Walk) -> Moving:
    """Transfers on that desk; its sub-accounts are known, and one of them holds something."""
    ready = Moving(walk)
    ready.read_subaccounts()
    return ready
