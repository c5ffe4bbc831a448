"""One round of reading currencies, symbols and prices, its outcome written down."""

from collections.abc import Callable
from datetime import datetime

from exchange_ops.client import ExchangeClient
from exchange_ops.market import reference
from exchange_ops.shared import heartbeats
from exchange_ops.shared.heartbeats import remark_of
from wire.errors import CallFailed


def refresh_market(*, now: datetime, open_client: Callable[[], ExchangeClient]) -> bool:
    """Read what is due of currencies, symbols and tickers; False when the exchange did not answer."""
    client = open_client()
    try:
        done = reference.refresh(client=client, now=now)
    except CallFailed as failure:
        heartbeats.failed(heartbeats.MARKET, now=now, problem=f"Prices could not be read: {failure}")
        return False
    finally:
        client.close()
    heartbeats.succeeded(heartbeats.MARKET, now=now, remark=remark_of(done.problems))
    return True
