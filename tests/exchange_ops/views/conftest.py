"""Signed-in browsers without a browser, and the account the pages are about."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from desk import clock
from tests.exchange_ops.views import rows


@pytest.fixture
def signed_in(db: None) -> Callable[..., Client]:
    """`signed_in(person)`: a client with that person's session."""

    def sign_in(person: Any, **options: Any) -> Client:
        client = Client(**options)
        client.force_login(person)
        return client

    return sign_in


@pytest.fixture
def payable(db: None) -> None:
    """An account that can pay out BCH, with a fresh price and money in the bank wallet."""
    now = clock.now()
    rows.account(now=now)
    rows.currency(now=now)
    rows.price(now=now)
    rows.balance(now=now)
