"""A live desk with an account that can pay out, and a token of its operator."""

from typing import Any

import pytest

from desk import clock
from desk.people import tokens
from tests.exchange_ops.conftest import account, demo_keys, payable, ready, walk

__all__ = ["account", "demo_keys", "payable", "ready", "walk"]


@pytest.fixture
def token_of() -> Any:
    """`token_of(person)`: the text of a fresh token."""
    return lambda person, **options: tokens.create(person=person, name="test", now=clock.now(), **options)[1].reveal()
