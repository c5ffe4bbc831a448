"""What the house waits for before it says that it is ready."""

import asyncio
import socket
import sys
from contextlib import closing
from types import SimpleNamespace

import pytest

from project.supervisor import plans, prepared, up
from project.supervisor.child import Plan


class Quiet:
    """A console that keeps nothing."""

    def say(self, sentence):
        """Nothing is said."""

    def pass_on(self, name, line):
        """Nothing is passed on."""


def service(name, *, ready_after_s):
    script = f"import time; time.sleep({ready_after_s}); print('is at work', flush=True); time.sleep(60)"
    return Plan(name=name, command=[sys.executable, "-c", script], stage=1, settles_s=0.1, says="is at work")


def free_port():
    with closing(socket.socket()) as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.fixture
def house(monkeypatch, tmp_path):
    """`house(preparing_s=0.1, ready_after_s=0.1)`: one whose services take so long."""

    def make(*, preparing_s, ready_after_s):
        async def prepare(_):
            await asyncio.sleep(preparing_s)

        monkeypatch.setattr(up.House, "_prepare", prepare)
        monkeypatch.setattr(prepared, "holds", lambda _: False)
        monkeypatch.setattr(prepared, "remember", lambda _: None)
        monkeypatch.setattr(plans, "runs_redis", lambda _: False)
        monkeypatch.setattr(plans, "runs_sandbox", lambda _: False)
        monkeypatch.setattr(plans, "outside", lambda _: [])
        monkeypatch.setattr(plans, "web", lambda _: [service("web", ready_after_s=ready_after_s)])
        monkeypatch.setattr(plans, "work", list)
        return up.House(SimpleNamespace(LISTEN="127.0.0.1", PORT=free_port(), REHEARSAL=False), Quiet())

    return make


def started(found):
    async def scene():
        try:
            await found._start(after_a_kill=False)
        finally:
            await found._end()

    asyncio.run(scene())


def test_preparing_takes_none_of_the_time_that_services_have(house, monkeypatch):
    monkeypatch.setattr(up, "_READY_WITHIN_S", 4.0)
    started(house(preparing_s=4.2, ready_after_s=1.2))


def test_a_service_that_is_not_ready_in_its_time_is_named(house, monkeypatch):
    monkeypatch.setattr(up, "_READY_WITHIN_S", 0.3)
    with pytest.raises(up.CannotStart, match="Not ready after 0 s: web"):
        started(house(preparing_s=0, ready_after_s=30))
