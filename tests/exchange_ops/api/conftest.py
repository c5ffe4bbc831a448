"""Programs that talk to the desk, with a session or a token."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from desk import clock, tokens
from tests.exchange_ops.views import rows


@pytest.fixture
def with_token(db: None) -> Callable[[Any], APIClient]:
    """`with_token(person)`: a client that carries a fresh token of that person."""

    def open_client(person: Any) -> APIClient:
        _, secret = tokens.create(person=person, name="test", now=clock.now())
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret.reveal()}")
        return client

    return open_client


@pytest.fixture
def payable(db: None) -> None:
    """An account that can pay out BCH."""
    now = clock.now()
    rows.account(now=now)
    rows.currency(now=now)
    rows.price(now=now)
    rows.balance(now=now)
