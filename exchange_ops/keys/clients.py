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
    """A client for a few calls; its connections are closed afterwards. Raises `store.NoUsableKey`."""
    exchange_client = client_for(account, right)
    try:
        yield exchange_client
    finally:
        exchange_client.close()
