"""Brackets, in front of a sandbox whose market stands still."""

from typing import Any

import pytest


@pytest.fixture
def bracketing(dealing: Any) -> Any:
    """The desk under test, guarding what it enters."""
    from tests.exchange_ops.orders.brackets.bracketing import Bracketing

    return Bracketing(dealing)
