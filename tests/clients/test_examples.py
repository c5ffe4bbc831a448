"""Every example of the client's README and of the API's page is run against a live desk."""

import json
import os
import shutil
from pathlib import Path

import pytest
import websocket
from django.urls import resolve

from desk import topics
from desk.live import announcements
from exchange_ops.pages.interface import TOPICS
from exchange_ops.transfers.models import Transfer
from exchange_ops.withdrawals.models import Withdrawal
from project.clients import package
from tests.clients import examples
from tests.exchange_ops import rows

README = Path(__file__).parents[2] / "clients" / "python" / "README.md"
needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl here")


@pytest.fixture
def surroundings(live_desk, payable, make_person, token_of, monkeypatch):
    """What the examples take from the environment, and rows for them to find."""
    rows.currency(transfer_enabled=True)
    rows.entry(1, currency="BCH")
    monkeypatch.setenv("DESK", live_desk.url)
    monkeypatch.setenv("TOKEN", token_of(make_person("operator")))


@needs_curl
def test_the_examples_of_the_readme_do_what_they_say(surroundings, capsys):
    blocks = examples.of_markdown(README.read_text())
    assert ([kind for kind, _ in blocks].count("python"), [kind for kind, _ in blocks].count("bash")) == (8, 2)
    answers = examples.run(blocks)
    assert sorted(Withdrawal.objects.values_list("reason", flat=True)) == [f"Invoice {n}" for n in (2041, 2042, 2043)]
    assert Transfer.objects.count() == 1
    assert json.loads(answers[0])["request_key"] == "invoice-2043"
    assert "items" in json.loads(answers[1])
    assert "Nothing was recorded or sent." in capsys.readouterr().out


@needs_curl
def test_the_examples_of_the_page_do_what_they_say(surroundings, signed_in, make_person, capsys):
    page = signed_in(make_person("auditor")).get("/api/v1/docs/").content.decode()
    blocks = examples.of_page(page)
    assert [kind for kind, _ in blocks] == ["bash", "python", "bash", "frames", "python"]
    answers = examples.run([block for block in blocks if block[0] != "frames"])
    assert {"quote_currency", "items"} <= set(json.loads(answers[0]))
    drafted = json.loads(answers[1])
    assert (drafted["reason"], drafted["state"]) == ("Invoice 2041", "draft")
    assert json.loads(examples.run(blocks[2:3])[0]) == drafted, "the same key gives the same answer"
    assert Withdrawal.objects.count() == 1


def test_the_frames_of_the_page_are_those_of_the_socket(surroundings, live_desk, signed_in, make_person):
    page = signed_in(make_person("auditor")).get("/api/v1/docs/").content.decode()
    lines = next(code for kind, code in examples.of_page(page) if kind == "frames").splitlines()
    socket = websocket.create_connection(
        live_desk.ws_url, header=[f"Authorization: Bearer {os.environ['TOKEN']}"], suppress_origin=True, timeout=10
    )
    for line in lines:
        way, content = line[0], json.loads(line[2:])
        if way == ">":
            socket.send(json.dumps(content))
            continue
        if "topic" in content:
            announcements.announce(content["topic"], **content["hint"])
        assert json.loads(socket.recv()) == content
    socket.close()


@pytest.mark.django_db
def test_what_the_page_says_may_be_followed_may_be(client, operator):
    """Each list and row of the interface that changes has the topic of its page."""
    described = package.description()["paths"]
    rows.account()
    for path, topic in TOPICS:
        assert topics.admits(operator, topic), topic
        assert resolve(path).route.startswith("api/v1/")
    named = {resolve(path).url_name for path, _ in TOPICS}
    lists = {resolve(path).url_name for path, facts in described.items() if "{" not in path and "get" in facts}
    assert lists - named <= {"api-currencies", "api-keys"}, "these change by the hour, or are for administrators"
