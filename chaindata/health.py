"""What this room adds to the desk's readiness and figures: the age of the tip, and what the cache holds."""

from collections.abc import Iterator
from datetime import timedelta

from django.db.models import Count, Sum
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from chaindata.cache import answers
from chaindata.cache.models import ChainAnswer
from chaindata.headers import tip as tips
from chaindata.headers.models import ChainReorganisation, ChainTip
from desk import clock
from desk.rooms import Health

REPORTED_FOR = timedelta(hours=1)  # a reorganisation is mentioned for so long


def chain() -> Health:
    """When the tip of the chain was last heard, and whether blocks left the chain lately."""
    now = clock.now()
    found = tips.tip(now)
    if found is None:
        row = ChainTip.objects.filter(pk=1).first()
        problem = f" {row.problem}" if row is not None and row.problem else ""
        return Health(ok=False, sentence=f"No block was received yet: the chain's pages are empty.{problem}")
    age_s = (now - found.read_at).total_seconds()
    sentence = f"Latest block {found.height}, received {age_s:.0f} s ago."
    lost = ChainReorganisation.objects.filter(found_at__gt=now - REPORTED_FOR).order_by("-found_at").first()
    if lost is not None:
        sentence += f" {lost.old_height - lost.common_height} blocks above {lost.common_height} left the chain lately."
    if not found.is_current:
        sentence += f" Depths may be out of date. {found.problem}"
    return Health(ok=found.is_current, sentence=sentence.strip(), age_s=age_s)


class Figures(Collector):
    """The cache and the chain at the moment of the scrape, from rows: workers are other processes."""

    def describe(self) -> Iterator[Metric]:
        """Nothing at the start: there may be no tables yet."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """Asked by the registry."""
        kept = GaugeMetricFamily("countersign_chain_answers", "Kept answers by what they say", labels=["standing"])
        size = GaugeMetricFamily("countersign_chain_answers_bytes", "Their size", labels=["standing"])
        for row in ChainAnswer.objects.values("standing").annotate(rows=Count("pk"), bytes=Sum("size")):
            kept.add_metric([row["standing"]], row["rows"])
            size.add_metric([row["standing"]], row["bytes"] or 0)
        yield from (kept, size)
        yield GaugeMetricFamily(
            "countersign_chain_answers_due",
            "Answers that somebody looks at and that wait for a worker",
            value=answers.due(now=clock.now()).count(),
        )
        found = tips.tip(clock.now())
        if found is not None:
            yield GaugeMetricFamily(
                "countersign_chain_height", "Height of the tip that is followed", value=found.height
            )
        yield CounterMetricFamily(
            "countersign_chain_reorganisations",
            "Reorganisations of the chain that were seen",
            value=ChainReorganisation.objects.count(),
        )
