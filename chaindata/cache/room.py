"""The kept answers of the chain-data service, as the desk knows them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from django.db.models import Count, Sum
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from chaindata.cache import answers
from chaindata.cache.models import ChainAnswer
from desk import clock, rooms
from desk.people import roles

if TYPE_CHECKING:
    from desk.models import Person


class Figures(Collector):
    """What is kept at the moment of the scrape, from rows: workers are other processes."""

    def describe(self) -> Iterator[Metric]:
        """Nothing at the start: there may be no tables yet."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """Asked by the registry."""
        count = GaugeMetricFamily("countersign_chain_answers", "Cached responses by kind", labels=["standing"])
        size = GaugeMetricFamily("countersign_chain_answers_bytes", "Size of cached responses", labels=["standing"])
        for row in ChainAnswer.objects.values("standing").annotate(rows=Count("pk"), bytes=Sum("size")):
            count.add_metric([row["standing"]], row["rows"])
            size.add_metric([row["standing"]], row["bytes"] or 0)
        yield from (count, size)
        yield GaugeMetricFamily(
            "countersign_chain_answers_due",
            "Cached responses on screen awaiting a worker",
            value=answers.due(now=clock.now()).count(),
        )


def _may_follow(person: "Person", key: str) -> bool:
    return bool(key) and person.has_role(*roles.ALL)


ROOM: Final = rooms.Room(
    topics={"chain-answer": _may_follow},
    figures=(Figures(),),
    idle_tables={"chaindata.chainanswer": "a cached response of the service; proofs are verified from their bytes"},
    tasks="chaindata.cache.tasks",
)
