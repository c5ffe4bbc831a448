"""How workers ask the chain-data service of the settings: a client, and how long one task goes on asking."""

import time
from collections.abc import Callable

from django.conf import settings

from chaindata.client import ChainClient, open_transport

DEADLINE_S = 10
LONGEST_SENTENCE = 300
# A worker is ended after 40 seconds on one task, whatever it was about to write; one call may take ten. So no further
# call is begun after fifteen: what remains is found by the next sweep.
SECONDS = 15


def open_client(*, deadline_s: int = DEADLINE_S) -> ChainClient:
    """A client of the service; whoever opens it closes it."""
    return ChainClient(
        open_transport(base_url=settings.CHAINDATA_URL, deadline_s=deadline_s, private_hosts=settings.PRIVATE_HOSTS)
    )


def outage_sentence(failure: Exception) -> str:
    """The sentence that pages show while the service can't be reached."""
    return f"No data from the chain-data service at the moment ({failure})."[:LONGEST_SENTENCE]


class TimeBudget:
    """Starts with the task. `monotonic_ns` is its clock."""

    def __init__(self, *, seconds: int = SECONDS, monotonic_ns: Callable[[], int] = time.monotonic_ns) -> None:
        self._monotonic_ns = monotonic_ns
        self._ends_ns = monotonic_ns() + seconds * 1_000_000_000

    @property
    def is_over(self) -> bool:
        """Whether no further call should be begun."""
        return self._monotonic_ns() >= self._ends_ns
