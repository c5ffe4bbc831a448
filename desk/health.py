"""Whether the desk is ready, as sentences. The rooms declare the checks; pages, /readyz and /metrics run them all."""

from collections.abc import Iterator

import redis
import structlog
from django.conf import settings
from django.db import DatabaseError, connection
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from desk import rooms
from desk.rooms import Health

_log = structlog.get_logger(__name__)
BROKER_SECONDS = 0.5


def states() -> dict[str, Health]:
    """Run every check, in their order. A check that raises counts as unwell."""
    return {name: _ask(name, check) for name, check in rooms.checks().items()}


def _ask(name: str, check: rooms.Check) -> Health:
    try:
        return check.ask()
    except Exception as error:
        _log.warning("health.check_failed", check=name, reason=type(error).__name__)
        return _without_names(False, f"The {name} check itself failed ({type(error).__name__}).")


def database() -> Health:
    """Whether the database answers."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            cursor.fetchone()
    except DatabaseError as error:
        return _without_names(False, f"The database is not responding ({type(error).__name__}).")
    return _without_names(True, "The database is responding.")


def broker() -> Health:
    """Whether the broker answers, within half a second."""
    try:
        asking = redis.Redis.from_url(
            settings.REDIS_URL, socket_timeout=BROKER_SECONDS, socket_connect_timeout=BROKER_SECONDS, retry=None
        )
        with asking:
            asking.ping()
    except (redis.RedisError, OSError) as error:
        return _without_names(
            False,
            f"The broker is not responding ({type(error).__name__}): pages do not update live, and workers poll for "
            "work every few seconds.",
        )
    return _without_names(True, "The broker is responding.")


def _without_names(ok: bool, sentence: str) -> Health:
    """An answer whose sentence names nobody's account, key or request."""
    return Health(ok=ok, sentence=sentence, public=sentence)


class Gauges(Collector):
    """Every check as two gauges at the moment of the scrape."""

    def describe(self) -> Iterator[Metric]:
        """Empty: otherwise the registry would run every check at the start, before there are tables."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """Called by the registry."""
        ok = GaugeMetricFamily("countersign_health_ok", "1 if the check is healthy", labels=["check"])
        age = GaugeMetricFamily("countersign_health_age_seconds", "Age of the checked data", labels=["check"])
        for name, health in states().items():
            ok.add_metric([name], 1.0 if health.ok else 0.0)
            if health.age_s is not None:
                age.add_metric([name], health.age_s)
        yield ok
        yield age
