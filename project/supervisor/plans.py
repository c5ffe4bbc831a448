"""The children of the house, in the order in which they start. The same processes run in containers."""

import sys
from pathlib import Path
from types import ModuleType
from urllib.parse import urlsplit

from project import environment
from project.supervisor import probes, redis_choice
from project.supervisor.child import Plan

_OUTSIDE, _WEB, _WORK = 1, 2, 3
_CELERY = (sys.executable, "-m", "celery", "--app", "project.celery:app", "--quiet")
_AT_WORK = "is at work"
# A worker that is asked to end gives its task a moment and then ends: what it left is found again by its row.
_WORKER_ENVIRONMENT = {
    "REMAP_SIGTERM": "SIGQUIT",
    # The demo may run as root, in a container for one; JSON is the only thing a message can be.
    "PYTHONWARNINGS": "ignore:You're running the worker with superuser privileges",
}


def runs_redis(settings: ModuleType) -> bool:
    """Whether the house brings its own Redis: only when no address of one was given."""
    return bool(settings.REDIS_URL == f"unix://{settings.REDIS_SOCKET}")


def runs_sandbox(settings: ModuleType) -> bool:
    """Whether the house brings the sandbox: only when one of its outside addresses is this machine's SANDBOX_PORT."""
    addresses = (settings.EXCHANGE_URL, settings.EXCHANGE_WS_URL, settings.CHAINDATA_URL)
    return any(
        environment.is_loopback(address) and urlsplit(address).port == settings.SANDBOX_PORT for address in addresses
    )


def outside(settings: ModuleType) -> list[Plan]:
    """What must answer before the desk is worth starting: the broker and, in the demo, the outside world."""
    plans = []
    if runs_redis(settings):
        choice = redis_choice.choose(socket_path=settings.REDIS_SOCKET, folder=settings.DATA_DIR)
        probe = probes.answers_redis(settings.REDIS_SOCKET)
        plans.append(Plan("redis", choice.command, _OUTSIDE, probe=probe))
    if runs_sandbox(settings):
        folder = settings.DATA_DIR / "sandbox"
        command = [sys.executable, "-m", "sandbox", "--port", str(settings.SANDBOX_PORT), "--data-dir", str(folder)]
        probe = probes.answers_http(settings.SANDBOX_PORT, "/_sandbox/state")
        plans.append(Plan("sandbox", command, _OUTSIDE, probe=probe))
    return plans


def desk(settings: ModuleType, manage: Path) -> list[Plan]:
    """The desk's own processes. Beat and the followers are single; web and workers could be many."""
    worker = (*_CELERY, "worker", "--concurrency", "2", "--loglevel", "WARNING")
    money, chain = ("--queues", "money"), ("--queues", "chain", "--hostname", "chain@%h")
    release = ("--queues", "release", "--hostname", "release@%h")
    lonely = ("--without-gossip", "--without-mingle", "--without-heartbeat")
    beat = (*_CELERY, "beat", "--scheduler", "celery.beat:Scheduler", "--loglevel", "WARNING")
    alive = probes.answers_http(settings.PORT, "/healthz")
    return [
        Plan("web", [sys.executable, "-m", "project.serve"], _WEB, probe=alive),
        Plan("worker", [*worker, *money, *lonely], _WORK, environment=_WORKER_ENVIRONMENT, says=_AT_WORK),
        Plan("release-worker", [*worker, *release, *lonely], _WORK, environment=_WORKER_ENVIRONMENT, says=_AT_WORK),
        Plan("chain-worker", [*worker, *chain, *lonely], _WORK, environment=_WORKER_ENVIRONMENT, says=_AT_WORK),
        Plan("beat", beat, _WORK, says=_AT_WORK),
        Plan("follower", [sys.executable, str(manage), "follow"], _WORK),
    ]
