"""The children of the house, in the order in which they start. The same processes run in containers."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from types import ModuleType
from urllib.parse import urlsplit

from desk.processes import sign_of_life
from project import environment
from project.deployment import processes
from project.rehearsal import marks
from project.supervisor import probes, redis_choice
from project.supervisor.child import Plan

_OUTSIDE, _WEB, _WORK = 1, 2, 3
_AT_WORK, _SIGNS_OF_LIFE = sign_of_life.AT_WORK, {sign_of_life.VARIABLE: "1"}
# The demo may run as root, in a container for one; JSON is the only thing a message can be.
_AS_ROOT = {"PYTHONWARNINGS": "ignore:You're running the worker with superuser privileges"}


def runs_redis(settings: ModuleType) -> bool:
    """Whether the house brings its own Redis: only when no address of one was given."""
    return bool(settings.REDIS_URL == f"unix://{settings.REDIS_SOCKET}")


def runs_sandbox(settings: ModuleType) -> bool:
    """Whether the house brings the sandbox: only when one of its outside addresses is this machine's SANDBOX_PORT."""
    places = [address for place in settings.EXCHANGE_PLACES.values() for address in (place.url, place.stream_url)]
    addresses = (settings.EXCHANGE_URL, settings.EXCHANGE_WS_URL, settings.CHAINDATA_URL, *places)
    return any(
        environment.is_loopback(address) and urlsplit(address).port == settings.SANDBOX_PORT for address in addresses
    )


def outside(settings: ModuleType) -> list[Plan]:
    """What must answer before the desk is worth starting: the broker and, in the demo, the outside world."""
    plans = []
    if runs_redis(settings):
        choice = redis_choice.choose(socket_path=settings.REDIS_SOCKET, folder=settings.DATA_DIR, demo=settings.DEMO)
        probe = probes.answers_redis(settings.REDIS_SOCKET)
        plans.append(Plan("redis", choice.command, _OUTSIDE, probe=probe))
    if runs_sandbox(settings):
        folder = settings.DATA_DIR / "sandbox"
        command = [sys.executable, "-m", "sandbox", "--port", str(settings.SANDBOX_PORT), "--data-dir", str(folder)]
        if settings.REHEARSAL:
            command += ["--figures", str(settings.DATA_DIR / marks.FIGURES)]
        plans.append(_answering("sandbox", command, _OUTSIDE, settings.SANDBOX_PORT, "/_sandbox/state"))
    return plans


def web(settings: ModuleType) -> list[Plan]:
    """What answers pages and sockets; there could be many."""
    command, host = _command(processes.WEB), environment.own_name(settings.ALLOWED_HOSTS)
    return [replace(_answering(processes.WEB.name, command, _WEB, settings.PORT, "/healthz", host=host), is_desk=True)]


def before_loading() -> Mapping[str, str]:
    """What modules of the desk's processes read of the environment when they are loaded, the same for all of them."""
    values = {name: value for each in processes.WORK for name, value in each.environment.items()}
    return {**_AS_ROOT, **values}


def work() -> list[Plan]:
    """What calls the outside. Beat and the followers are single, workers could be many."""
    return [
        Plan(
            each.name,
            _command(each),
            _WORK,
            environment={**_AS_ROOT, **_SIGNS_OF_LIFE, **each.environment},
            says=_AT_WORK,
            is_desk=True,
        )
        for each in processes.WORK
    ]


def _command(process: processes.Process) -> list[str]:
    return [sys.executable, *process.arguments]


def _answering(name: str, command: list[str], stage: int, port: int, path: str, *, host: str = "localhost") -> Plan:
    """A server: ready when it says yes, alive as long as it says anything."""
    ready = probes.answers_http(port, path, host=host)
    return Plan(name, command, stage, probe=ready, alive=probes.answers_http(port, path, host=host, whatever=True))
