"""The processes of a desk, each once: `manage.py up`, the units of systemd and the containers all run these.

A name here is that of a child of `up`, of a service in docker-compose.yml and of a unit. Broker and database are not in
the table: each of the three has its own way to them.
"""

from dataclasses import dataclass, field
from typing import Final

_WORKER: Final = ("-m", "celery", "--app", "project.celery:app", "--quiet", "worker", "--concurrency", "2")
# Workers don't talk to each other: what they would say is dropped and logged by every one of them, all day.
_ALONE: Final = ("--loglevel", "WARNING", "--without-gossip", "--without-mingle", "--without-heartbeat")
# A worker that is asked to end gives its task a moment and then ends: what it left is found again by its row.
_ENDS_SOON: Final = {"REMAP_SIGTERM": "SIGQUIT"}


@dataclass(frozen=True, slots=True)
class Process:
    """One kind of process: the arguments of Python that run it, and what it needs in its environment.

    `gives_signs` says that it is seen to be at work by its signs of life; the web process is asked by HTTP.
    `is_single` says that there is exactly one; of the others there may be several.
    """

    name: str
    purpose: str
    arguments: tuple[str, ...]
    gives_signs: bool = True
    is_single: bool = False
    environment: dict[str, str] = field(default_factory=dict)


def _worker(name: str, purpose: str, *queue: str) -> Process:
    return Process(name, purpose, (*_WORKER, "--queues", *queue, *_ALONE), environment=_ENDS_SOON)


WEB: Final = Process("web", "pages, the API and sockets", ("-m", "project.serve"), gives_signs=False)
WORK: Final = (
    _worker("worker", "payouts, orders, transfers and syncs", "money"),
    # Holds are released by workers of their own: no order to pay that hangs keeps a release waiting.
    _worker("release-worker", "hold releases", "release", "--hostname", "release@%h"),
    # The chain is read by workers of its own: however slow that is, no payout waits for it.
    _worker("chain-worker", "the chain", "chain", "--hostname", "chain@%h"),
    Process(
        "beat",
        "the schedule",
        (*_WORKER[:5], "beat", "--scheduler", "project.celery:BeatScheduler", "--loglevel", "WARNING"),
        is_single=True,
    ),
    Process("follower", "exchange streams and sweeps", ("manage.py", "follow"), is_single=True),
)
ALL: Final = (WEB, *WORK)
