"""Signed-in browsers without a browser, for the pages of the chain."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client


@pytest.fixture
def client(auditor: Any, signed_in: Callable[..., Client]) -> Client:
    """Somebody who may read everything."""
    return signed_in(auditor)


@pytest.fixture(autouse=True)
def _no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    """No worker is there; what a page asks for stays asked."""
    monkeypatch.setattr("desk.outbox._send", lambda *arguments: None)
