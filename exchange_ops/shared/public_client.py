"""A client without a key, for public market data, and the share of the exchange's rate that this process may use."""

from django.conf import settings

from exchange_ops.client import ExchangeClient, budgets
from exchange_ops.shared import places
from wire.transport import Transport


def open_client(*, deadline_s: int | None = None) -> ExchangeClient:
    """A client without a key, for public market data; a call takes at most `deadline_s`, or as long as any other.

    Whatever exchanges accounts are at, it asks the default one.
    """
    place = places.default()
    transport = Transport(
        base_url=place.url,
        deadline_s=deadline_s or settings.CALL_DEADLINE_SECONDS,
        private_hosts=settings.PRIVATE_HOSTS,
    )
    return ExchangeClient(transport, budget=budget_at(place, login=""))


def budget_at(place: places.Place, *, login: str) -> budgets.KeyBudget:
    """The budget in this process of the key with this login at an exchange; of an empty one, of calls without a key."""
    return budgets.of_this_process.for_key(place.url, login, settings.EXCHANGE_CALLS_PER_SECOND)
