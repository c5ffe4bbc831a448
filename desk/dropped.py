"""Unreadable messages of the broker: dropped, counted in the broker for all processes together, and shown as a metric.

A message only wakes a worker; the rows hold what is to be done. So a malformed one costs nothing but a line in the log.
"""

import contextlib
from collections.abc import Iterator

import redis
import structlog
from django.conf import settings
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

COUNTS = "countersign:messages-dropped"
_SECONDS = 0.5
_log = structlog.get_logger(__name__)


def note(kind: str, reason: str) -> None:
    """Count and log a dropped message by its kind and the kind of failure, never with its content."""
    _log.warning("broker.message_dropped", kind=kind, reason=reason)
    with contextlib.suppress(redis.RedisError, OSError), _broker() as broker:
        broker.hincrby(COUNTS, kind, 1)


def counts() -> dict[str, int]:
    """How many were dropped, by kind, since the broker was started; empty while it does not answer."""
    texts: dict[bytes, bytes] = {}
    with contextlib.suppress(redis.RedisError, OSError), _broker() as broker:
        texts = broker.hgetall(COUNTS)
    return {kind.decode("ascii", "replace"): int(count) for kind, count in texts.items() if count.isdigit()}


def _broker() -> redis.Redis:
    return redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=_SECONDS, socket_connect_timeout=_SECONDS, retry=None
    )


class Figures(Collector):
    """The counts at the moment of the scrape."""

    def describe(self) -> Iterator[Metric]:
        """Empty: otherwise the registry would ask the broker at the start."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """Called by the registry."""
        dropped = CounterMetricFamily(
            "countersign_messages_dropped", "Unreadable messages to workers, by kind", labels=["kind"]
        )
        for kind, count in sorted(counts().items()):
            dropped.add_metric([kind], count)
        yield dropped
