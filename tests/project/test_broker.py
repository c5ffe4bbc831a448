"""Whatever lies in the workers' queue, the worker goes on, does what comes after it, and what it dropped is counted."""

import base64
import json
import pickle
import subprocess
import sys
import threading
import time
import uuid
from urllib.parse import urlsplit

import pytest
import redis
from django.conf import settings

from desk import dropped
from desk.outbox import application
from tests.bounds import stretched
from tests.houses import ROOT

QUEUE = "garbage"
WORKER = """
import django; django.setup()
from project.celery import app
@app.task(name="tests.say")
def say(word): print("said", word, flush=True)
app.worker_main(["worker", "--queues", "garbage", "--concurrency", "1", "--loglevel", "ERROR",
                 "--without-gossip", "--without-mingle", "--without-heartbeat"])
"""


@pytest.fixture
def broker():
    with redis.Redis.from_url(settings.REDIS_URL) as line:
        line.delete(QUEUE, dropped.COUNTS, "unacked", "unacked_index")
        yield line
        line.delete(QUEUE, dropped.COUNTS, "unacked", "unacked_index")


@pytest.fixture
def worker(child_environment, broker):
    """A real worker on a queue of its own, and what it prints."""
    lines = []
    process = subprocess.Popen(
        [sys.executable, "-c", WORKER],
        env=child_environment | {"REMAP_SIGTERM": "SIGQUIT"},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    threading.Thread(target=lambda: lines.extend(process.stdout), daemon=True).start()
    process.lines = lines
    until(lambda: any("is at work" in line for line in lines), process)
    yield process
    process.terminate()
    process.wait(20)


def until(holds, process, seconds=60):
    deadline = time.monotonic() + stretched(seconds)
    while not holds():
        assert process.poll() is None, f"the worker ended:\n{''.join(process.lines)}"
        assert time.monotonic() < deadline, "".join(process.lines)
        time.sleep(0.05)


def message(body='[["word"], {}, {}]', **changes):
    """A whole message as the library writes it, with `changes`."""
    tag = str(uuid.uuid4())
    whole = {
        "body": base64.b64encode(body.encode() if isinstance(body, str) else body).decode(),
        "content-encoding": "utf-8",
        "content-type": "application/json",
        "headers": {"lang": "py", "task": "tests.say", "id": tag, "root_id": tag, "parent_id": None, "group": None},
        "properties": {
            "correlation_id": tag,
            "delivery_mode": 2,
            "delivery_info": {"exchange": "", "routing_key": QUEUE},
            "priority": 0,
            "body_encoding": "base64",
            "delivery_tag": tag,
        },
    }
    whole.update(changes)
    return whole


def headers(**changes):
    return {**message()["headers"], **changes}


def properties(**changes):
    return {**message()["properties"], **changes}


class Touching:
    """What pickle would run when it is opened."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (self.path, "w"))


NOT_JSON = [b"", b"garbage", b"\xff\xfe\x00", b"{", b"[" * 50_000, b"NaN", b'"\\ud800"', b"\x80\x04\x95"]
OTHER_SHAPES = [
    None,
    True,
    7,
    1e400,
    "text",
    [],
    [1, 2],
    {},
    {"body": "x"},
    message(properties=None),
    message(properties={}),
    message(properties=[]),
    message(properties=properties(delivery_tag={"a": 1})),
    message(properties=properties(delivery_tag=None)),
    message(properties=properties(delivery_info=None)),
    message(properties=properties(delivery_info={})),
    message(properties=properties(body_encoding="rot13")),
    message(properties=properties(body_encoding=7)),
    message(properties=properties(priority="high")),
    message(properties=properties(reply_to={"a": 1})),
    message() | {"body": {"a": 1}},
    message() | {"body": "%%%"},
    message() | {"body": None},
    message(b"not json"),
    message("{}"),
    message("[]"),
    message("[1, 2, 3]"),
    message('[["too", "many", "words"], {}, {}]'),
    message('[[], {"what": 1}, {}]'),
    message(headers=None),
    message(headers=[]),
    message(headers="text"),
    message(headers={}),
    message(headers={"task": "tests.say"}),
    message(headers=headers(task=None)),
    message(headers=headers(task={"a": 1})),
    message(headers=headers(task="os.system")),
    message(headers=headers(task="celery.chord_unlock")),
    message(headers=headers(id=None)),
    message(headers=headers(id={"a": 1})),
    message(headers=headers(eta="tomorrow")),
    message(headers=headers(expires="never")),
    message(headers=headers(expires={"a": 1})),
    message(headers=headers(timelimit="long")),
    message(headers=headers(timelimit=[1])),
    message(headers=headers(retries="many")),
    message(headers=headers(stamped_headers="odd", stamps=7)),
    message(headers=headers(ignore_result="perhaps", group={"a": 1}, request_id={"a": [1]})),
    message(**{"content-type": "text/plain"}),
    message(**{"content-type": "application/x-yaml"}),
    message(**{"content-type": None, "content-encoding": None}),
    message(**{"content-type": 7}),
    message(**{"content-encoding": "klingon"}),
    message(**{"content-encoding": 7}),
]


def test_a_worker_outlives_everything_that_is_no_message_of_ours(worker, broker, tmp_path):
    proof = tmp_path / "pickle-was-opened"
    pickled = pickle.dumps(([Touching(str(proof))], {}, {}))
    odd = [
        message(pickled, **{"content-type": kind}) for kind in ("application/x-python-serialize", "application/json")
    ]
    odd.append(message(pickled, **{"content-type": "application/x-python-serialize", "content-encoding": "binary"}))
    for each in [*NOT_JSON, *(json.dumps(one) for one in (*OTHER_SHAPES, *odd))]:
        broker.lpush(QUEUE, each)
    application().send_task("tests.say", ["last"], queue=QUEUE, expires=600, headers={"request_id": "abcdefgh"})
    until(lambda: any("said last" in line for line in worker.lines), worker)
    assert broker.llen(QUEUE) == 0
    assert not proof.exists()
    counted = dropped.counts()
    assert counted["unreadable"] >= len(NOT_JSON) + 8
    assert counted["odd"] >= 20
    assert counted["unknown_task"] == 1
    assert not any("pickle-was" in line for line in worker.lines)
    until(lambda: broker.hlen("unacked") == 0, worker)


@pytest.mark.django_db
def test_what_is_dropped_is_among_the_figures(broker, client):
    dropped.note("unreadable", "JSONDecodeError")
    dropped.note("unreadable", "KeyError")
    assert 'countersign_messages_dropped_total{kind="unreadable"} 2.0' in client.get("/metrics").content.decode()


def test_what_is_dropped_is_no_error_while_the_broker_is_away(settings, tmp_path):
    settings.REDIS_URL = f"unix://{tmp_path}/nobody.sock"
    dropped.note("unreadable", "ValueError")
    assert dropped.counts() == {}


def test_nobody_commands_workers_from_afar():
    from project.celery import app

    assert app.conf.worker_enable_remote_control is False
    assert urlsplit(app.conf.broker_url).scheme.startswith("redis")
    with app.connection_for_read() as line:
        assert line.get_transport_cls().__module__ == "project.broker"
