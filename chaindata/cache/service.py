"""The way to the chain-data service of the settings, for workers."""

from django.conf import settings

from chaindata.client import ChainClient, open_transport

DEADLINE_S = 10


def open_client(*, deadline_s: int = DEADLINE_S) -> ChainClient:
    """A client of the service; whoever opens it closes it."""
    return ChainClient(
        open_transport(base_url=settings.CHAINDATA_URL, deadline_s=deadline_s, private_hosts=settings.PRIVATE_HOSTS)
    )
