"""Which processes the house starts: its own outside world only when nobody named another."""

import asyncio
import contextlib
import importlib
import os
import re
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

from desk.processes import sign_of_life
from project import settings as read_settings
from project.deployment import health_check, processes, units
from project.environment import ExchangePlace
from project.supervisor import plans

SANDBOX = "http://127.0.0.1:8100"


def settings(**changes):
    """Settings as the supervisor sees them, the embedded default unless changed."""
    default = {
        "PORT": 8000,
        "SANDBOX_PORT": 8100,
        "DATA_DIR": Path("/srv/desk"),
        "REDIS_SOCKET": Path("/srv/desk/redis.sock"),
        "REDIS_URL": "unix:///srv/desk/redis.sock",
        "EXCHANGE_URL": SANDBOX,
        "EXCHANGE_WS_URL": "ws://127.0.0.1:8100",
        "CHAINDATA_URL": SANDBOX,
        "EXCHANGE_PLACES": {},
        "ALLOWED_HOSTS": ["localhost"],
        "DEMO": True,
        "REHEARSAL": False,
    }
    return SimpleNamespace(**default | changes)


def names(found):
    return [plan.name for plan in found]


def test_the_embedded_default_brings_its_own_outside():
    assert names(plans.outside(settings())) == ["redis", "sandbox"]


def test_a_rehearsal_brings_a_sandbox_of_its_figures():
    _, sandbox = plans.outside(settings(REHEARSAL=True))
    assert sandbox.command[-2:] == ["--figures", "/srv/desk/figures.json"]


def test_a_redis_that_was_named_is_not_started():
    assert names(plans.outside(settings(REDIS_URL="redis://broker.example/0"))) == ["sandbox"]


@pytest.mark.parametrize(
    ("changes", "runs"),
    [
        ({}, True),
        (
            {"EXCHANGE_URL": "http://localhost:8100", "EXCHANGE_WS_URL": "ws://[::1]:8100", "CHAINDATA_URL": SANDBOX},
            True,
        ),
        ({"SANDBOX_PORT": 810}, False),
        (
            {"SANDBOX_PORT": 810, "EXCHANGE_PLACES": {"b": ExchangePlace("http://127.0.0.1:810", "ws://[::1]:810")}},
            True,
        ),
        ({"EXCHANGE_URL": "http://127.0.0.1:9100", "EXCHANGE_WS_URL": "ws://127.0.0.1:9100"}, True),
        (
            {
                "EXCHANGE_URL": "https://exchange.example:8100",
                "EXCHANGE_WS_URL": "wss://exchange.example:8100",
                "CHAINDATA_URL": "https://chain.example:8100",
            },
            False,
        ),
    ],
)
def test_the_sandbox_runs_while_any_address_is_its_own(changes, runs):
    assert plans.runs_sandbox(settings(**changes)) is runs


def every_plan():
    return [*plans.outside(settings()), *plans.web(settings()), *plans.work()]


def test_the_desk_ends_before_its_outside_and_workers_before_pages():
    stages = {plan.name: plan.stage for plan in every_plan()}
    assert stages["redis"] == stages["sandbox"] < stages["web"] < stages["worker"]
    assert (
        stages["worker"] == stages["chain-worker"] == stages["release-worker"] == stages["beat"] == stages["follower"]
    )


@contextlib.contextmanager
def desk_that_answers_to(host):
    """A server's port; who asks by another name is refused, as a desk refuses what ALLOWED_HOSTS does not name."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.headers["Host"].partition(":")[0] == host else 400)
            self.end_headers()

        def log_message(self, *_):
            """Nothing to say."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.mark.parametrize(
    ("allowed", "name"),
    [
        (["desk.example"], "desk.example"),
        ([".desk.example"], "desk.example"),
        (["*", "desk.example"], "desk.example"),
        (["*"], "localhost"),
        (["localhost", "127.0.0.1", "[::1]"], "localhost"),
    ],
)
def test_a_desk_that_answers_to_its_own_name_alone_is_seen_to_be_ready(allowed, name):
    with desk_that_answers_to(name) as port:
        (web,) = plans.web(settings(PORT=port, ALLOWED_HOSTS=allowed))
        assert asyncio.run(web.probe())


@pytest.mark.parametrize("allowed", ["desk.example", ".desk.example,localhost", "localhost"])
def test_the_container_asks_itself_by_a_name_that_it_answers_to(allowed, monkeypatch):
    monkeypatch.delenv(sign_of_life.VARIABLE, raising=False)
    monkeypatch.setenv("ALLOWED_HOSTS", allowed)
    with desk_that_answers_to(allowed.split(",")[0].lstrip(".")) as port:
        monkeypatch.setenv("PORT", str(port))
        assert health_check.main() == 0
        monkeypatch.setenv("ALLOWED_HOSTS", "other.example")
        assert health_check.main() == 1


def test_a_process_without_a_port_is_well_as_long_as_it_gives_signs(tmp_path, monkeypatch, capfd):
    file = tmp_path / "at-work"
    monkeypatch.setenv(sign_of_life.VARIABLE, str(file))
    assert health_check.main() == 1
    sign_of_life.again()
    assert health_check.main() == 0
    os.utime(file, (0, 0))
    assert health_check.main() == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert "No heartbeat for" in err


def test_systemd_hears_that_a_process_takes_work_and_that_it_goes_on(tmp_path, monkeypatch):
    monkeypatch.delenv(sign_of_life.VARIABLE, raising=False)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        sign_of_life.first()
        sign_of_life.again()
        assert [systemd.recv(100), systemd.recv(100)] == [b"READY=1", b"WATCHDOG=1"]


def test_units_and_children_of_up_are_the_same_processes():
    texts = units.units(code="/srv/desk", data="/var/lib/desk", user="desk", environment_file="/etc/desk")
    started = {
        name.removeprefix("countersign-").removesuffix(".service"): re.search("^ExecStart=(.*)$", text, re.MULTILINE)[1]
        for name, text in texts.items()
        if name != units.TARGET
    }
    running = {plan.name: plan for plan in [*plans.web(settings()), *plans.work()]}
    assert list(started) == list(running) == [each.name for each in processes.ALL]
    for name, plan in running.items():
        program, *arguments = started[name].replace("%%", "%").split()
        assert (program, arguments) == ("/srv/desk/.venv/bin/python", plan.command[1:])
        for variable in processes.ALL[list(running).index(name)].environment.items():
            assert "Environment={}={}\n".format(*variable) in texts[f"countersign-{name}.service"]
            assert variable in plan.environment.items()
    workers = [command for name, command in started.items() if "worker" in name]
    assert len(workers) == 3
    assert all("--without-gossip" in command for command in workers)


def test_no_secret_is_in_a_command_line():
    for plan in every_plan():
        assert read_settings.SECRET_KEY not in " ".join(plan.command)
        assert not {"SECRET_KEY", "KEY_RING"} & set(plan.environment)


def test_every_child_is_a_program_or_module_that_exists():
    for plan in every_plan():
        assert os.access(plan.command[0], os.X_OK)
        if "-m" in plan.command[:2]:
            assert importlib.util.find_spec(plan.command[2])


def test_of_every_child_it_is_seen_when_it_hangs():
    for plan in every_plan():
        gives_signs = plan.says == sign_of_life.AT_WORK and plan.environment[sign_of_life.VARIABLE]
        assert plan.probe or gives_signs, plan.name


def test_a_worker_gives_its_signs_from_the_loop_in_which_it_hears_of_tasks():
    from project import celery

    assert celery.SignsOfLife in celery.app.steps["worker"]


def test_signs_are_repeated_only_where_somebody_listens(capfd, monkeypatch):
    monkeypatch.delenv(sign_of_life.VARIABLE, raising=False)
    sign_of_life.again()
    assert capfd.readouterr().out == ""
    monkeypatch.setenv(sign_of_life.VARIABLE, "1")
    sign_of_life.again()
    assert capfd.readouterr().out == f"{sign_of_life.AT_WORK}\n"


def test_reads_of_the_chain_and_releases_have_workers_of_their_own():
    """A slow chain never holds up a payout, nor a payout a release: no worker takes from two queues, each has one."""
    from project import celery

    queues = {
        plan.name: plan.command[plan.command.index("--queues") + 1] for plan in every_plan() if "worker" in plan.name
    }
    assert queues == {"worker": "money", "release-worker": "release", "chain-worker": "chain"}
    route = celery.app.amqp.router.route
    assert route({}, "chaindata.fetch")["queue"].name == "chain"
    assert route({}, "exchange_ops.advance")["queue"].name == "money"
    assert route({}, "exchange_ops.release")["queue"].name == "release"
