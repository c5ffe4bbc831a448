"""The chain of headers and its tip, as the desk knows them."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from chaindata.headers import tips
from chaindata.headers.models import ChainReorganisation, ChainTip
from desk import clock, rooms
from desk.incidents.kinds import Cause, Kind, Severity
from desk.people import roles
from desk.rooms import Check, Health

if TYPE_CHECKING:
    from desk.models import Person

REPORTED_FOR: Final = timedelta(hours=1)  # a reorganisation is mentioned for so long
CHAIN_LATE: Final = "chain-late"


def chain() -> Health:
    """When the tip of the chain was last read, and whether blocks left the chain lately."""
    now = clock.now()
    tip = tips.tip(now)
    if tip is None:
        row = ChainTip.objects.filter(pk=1).first()
        problem = f" {row.problem}" if row is not None and row.problem else ""
        return Health(ok=False, sentence=f"No block received yet: the chain pages are empty.{problem}")
    age_s = abs(now - tip.read_at).total_seconds()  # of one from before the clock fell back: how far it fell
    sentence = f"Latest block {tip.height}, received {age_s:.0f} s ago."
    reorganisation = ChainReorganisation.objects.filter(found_at__gt=now - REPORTED_FOR).order_by("-found_at").first()
    if reorganisation is not None:
        above = reorganisation.common_height
        sentence += f" {reorganisation.old_height - above} blocks above {above} were recently reorganised."
    if not tip.is_current:
        sentence += f" Confirmations may be out of date. {tip.problem}"
    return Health(ok=tip.is_current, sentence=sentence.strip(), age_s=age_s)


def _late(now: datetime, key: str) -> Iterator[Cause]:
    answer = chain()
    if not answer.ok:
        yield Cause("chain", answer.sentence, "system")


class Figures(Collector):
    """The chain at the moment of the scrape, from rows: workers are other processes."""

    def describe(self) -> Iterator[Metric]:
        """Nothing at the start: there may be no tables yet."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """Asked by the registry."""
        tip = tips.tip(clock.now())
        if tip is not None:
            yield GaugeMetricFamily("countersign_chain_height", "Height of the chain tip", value=tip.height)
        yield CounterMetricFamily(
            "countersign_chain_reorganisations",
            "Chain reorganisations",
            value=ChainReorganisation.objects.count(),
        )


def _may_follow_tip(person: "Person", key: str) -> bool:
    return key == "tip" and person.has_role(*roles.ALL)


ROOM: Final = rooms.Room(
    topics={"chain": _may_follow_tip},
    checks={"chain": Check(chain, order=160)},
    incidents=(
        Kind(
            CHAIN_LATE,
            "Chain out of date",
            Severity.MEDIUM,
            (roles.OPERATOR, roles.TREASURY, roles.ADMIN),
            _late,
            grace_period=timedelta(seconds=45),  # the slowest reading of the tip has come round twice
        ),
    ),
    figures=(Figures(),),
    idle_tables={
        "chaindata.chainheader": "self-verifying: hash, target and parent follow from its bytes",
        "chaindata.chaintip": "the latest header as last received, refreshed every minute",
        "chaindata.chainreorganisation": "records blocks that left the chain; nothing depends on it",
    },
)
