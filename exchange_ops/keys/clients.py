"""A client for a few calls of an account, by the right that they need."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from exchange_ops.client import ExchangeClient
from exchange_ops.shared.models import Account
from exchange_ops.wire.catalogue import Right

ClientFor: TypeAlias = Callable[[Account, Right | None], ExchangeClient]


@contextmanager
def client(client_for: ClientFor, *, account: Account, right: Right | None) -> Iterator[ExchangeClient]:
    """A client for a few calls; its connections are let go afterwards. Raises `keys.NoUsableKey`."""
    asking = client_for(account, right)
    try:
        yield asking
    finally:
        asking.close()
