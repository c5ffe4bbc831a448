"""Margin in front of a sandbox whose market stands still."""

from typing import Any

import pytest


@pytest.fixture
def margin_desk(dealing: Any) -> Any:
    """The desk under test, trading on margin."""
    from tests.exchange_ops.positions.margin_desk import MarginDesk

    return MarginDesk(dealing)
