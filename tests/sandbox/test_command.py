"""The sandbox as a process: how it starts, what it keeps, how it ends, and one sentence for what can't be."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import requests
import websocket

from tests.sandbox.conftest import Client

Start = Callable[..., "Running"]
TRANSFER = {"currency": "USD", "amount": "10", "type": "bankToExchange"}


class Running:
    """A sandbox in a process of its own, on a port that it picked itself."""

    def __init__(self, *words: str, **environment: str) -> None:
        command = [sys.executable, "manage.py", "sandbox", "--port", "0", "--still", *words]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}
        )
        self.lines: list[str] = []
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))
            found = re.search(r"ready at (http://127\.0\.0\.1:\d+)/", line)
            if found:
                self.url = found[1]
                return
        raise AssertionError(self.process.communicate())

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str, str]:
        """Exit status, the rest of standard output, and standard error, soon after the signal."""
        self.process.send_signal(number)
        output, errors = self.process.communicate(timeout=10)
        return self.process.returncode, output, errors


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts sandboxes that keep their world in the test's folder; all of them end with the test."""
    started: list[Running] = []

    def begin(*words: str, **environment: str) -> Running:
        started.append(Running("--data-dir", str(tmp_path / "kept"), *words, **environment))
        return started[-1]

    yield begin
    for running in started:
        running.process.kill()
        running.process.communicate()


def state(running: Running) -> dict[str, object]:
    found: dict[str, object] = requests.get(f"{running.url}/_sandbox/state", timeout=5).json()
    return found


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_says_one_line_when_it_is_ready_and_ends_orderly(start: Start, number: int) -> None:
    running = start()
    assert running.lines == [f"sandbox: ready at {running.url}/ (control plane at /_sandbox/)"]
    assert state(running)["seed"] == 1
    assert running.end(number) == (0, "", "")


def test_it_ends_in_time_whatever_its_clients_are_doing(start: Start) -> None:
    running = start()
    idle = socket.create_connection(("127.0.0.1", int(running.url.rsplit(":", 1)[1])))
    half = socket.create_connection(idle.getpeername())
    half.sendall(b"POST /api/2/account/transfer HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n")
    stream = websocket.create_connection(running.url.replace("http", "ws") + "/api/2/ws/account", timeout=5)
    fault = {"operation": "get_currency", "kind": "delay_then_execute", "ms": 60_000}
    requests.post(f"{running.url}/_sandbox/faults", json=fault, timeout=5)
    with pytest.raises(requests.ReadTimeout):
        requests.get(f"{running.url}/api/2/public/currency/BTC", timeout=0.1)
    status, _, errors = running.end()
    assert (status, errors) == (0, "")
    for connection in (idle, half, stream):
        connection.close()


def test_a_second_start_goes_on_where_the_first_one_ended(start: Start) -> None:
    first = start("--seed", "5")
    made = Client(first.url).call("POST", "/account/transfer", data=TRANSFER).json()["id"]
    requests.post(f"{first.url}/_sandbox/clock", json={"advance_ms": 3_600_000}, timeout=5)
    before = Client(first.url).call("GET", "/account/balance").json()
    first.end()
    second = start("--seed", "5")
    client = Client(second.url)
    assert client.call("GET", f"/account/transactions/{made}").json()["id"] == made
    assert client.call("GET", "/account/balance").json() == before
    assert int(str(state(second)["time_ms"])) >= time.time_ns() // 1_000_000 + 3_500_000
    second.end()
    third = start("--fresh")
    assert state(third)["seed"] == 1
    assert made not in Client(third.url).call("GET", "/account/transactions").text


def test_a_killed_sandbox_has_kept_what_it_answered(start: Start) -> None:
    first = start()
    made = [Client(first.url).call("POST", "/account/transfer", data=TRANSFER).json()["id"] for _ in range(5)]
    first.process.kill()
    first.process.communicate()
    second = start()
    listed = Client(second.url).call("GET", "/account/transactions").json()
    assert [record["id"] for record in listed if record["id"] in made] == made[::-1]


def test_a_journal_cut_in_a_line_starts_with_what_is_whole_and_says_so(start: Start, tmp_path: Path) -> None:
    first = start()
    kept = Client(first.url).call("POST", "/account/transfer", data=TRANSFER).json()["id"]
    lost = Client(first.url).call("POST", "/account/transfer", data=TRANSFER).json()["id"]
    first.end()
    journal = max((tmp_path / "kept").iterdir(), key=lambda path: path.stat().st_size)
    journal.write_bytes(journal.read_bytes()[:-20])
    second = start()
    assert len(second.lines) == 2
    assert "line" in second.lines[0]
    assert state(second)["warnings"] != []
    listed = Client(second.url).call("GET", "/account/transactions").text
    assert (kept in listed, lost in listed) == (True, False)


def test_sealed_and_its_other_options(start: Start) -> None:
    running = start("--sealed", "--symbols", "40", "--seed", "9", "--block-seconds", "5")
    assert "(sealed)" in running.lines[-1]
    assert requests.get(f"{running.url}/_sandbox/state", timeout=5).status_code == 404
    assert len(requests.get(f"{running.url}/api/2/public/symbol", timeout=5).json()) == 40


def refused(*words: str, **environment: str) -> tuple[int, str]:
    """Exit status and standard error of a start that can't be."""
    ended = subprocess.run(
        [sys.executable, "manage.py", "sandbox", *words],
        capture_output=True,
        text=True,
        timeout=20,
        env={**os.environ, **environment},
    )
    return ended.returncode, ended.stderr


def test_a_port_in_use_and_a_folder_in_use_stop_the_start_with_one_sentence(start: Start, tmp_path: Path) -> None:
    running = start()
    port = running.url.rsplit(":", 1)[1]
    status, errors = refused("--port", port, "--data-dir", str(tmp_path / "other"))
    assert (status, errors) == (1, f"sandbox: can't listen on 127.0.0.1:{port}: Address already in use.\n")
    status, errors = refused("--port", "0", "--data-dir", str(tmp_path / "kept"))
    assert status == 1
    assert errors.startswith("sandbox: ")
    assert errors.count("\n") == 1
    assert state(running)["broken"] == ""


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--port", "70000"), "argument --port: '70000' is not a whole number from 0 to 65535"),
        (("--port", "web"), "argument --port: 'web' is not a whole number"),
        (("--seed", "-1"), "argument --seed"),
        (("--symbols", "3"), "argument --symbols: '3' is not a whole number from 13 to 2000"),
        (("--symbols", "١٣"), "argument --symbols"),
        (("--block-seconds", "0"), "argument --block-seconds"),
        (
            ("--data-dir", "/dev/null/x", "--port", "0"),
            "sandbox: the folder /dev/null/x can't be created: Not a directory.",
        ),
        (("--host", "nowhere.invalid", "--port", "0"), "sandbox: can't listen on nowhere.invalid:0"),
        (("--colour",), "unrecognized arguments: --colour"),
    ],
)
def test_an_odd_option_stops_the_start_with_one_sentence(tmp_path: Path, words: tuple[str, ...], sentence: str) -> None:
    where = () if "--data-dir" in words else ("--data-dir", str(tmp_path))
    status, errors = refused(*words, *where)
    assert status != 0
    assert sentence in errors
    assert "Traceback" not in errors


def test_an_odd_environment_stops_the_start_as_well(tmp_path: Path) -> None:
    status, errors = refused("--data-dir", str(tmp_path), SANDBOX_PORT="eighty")
    assert status != 0
    assert "'eighty' is not a whole number from 0 to 65535" in errors


def test_the_dialect_is_told_and_a_restart_in_another_one_says_so(start: Start) -> None:
    first = start("--dialect", "observed")
    assert state(first)["dialect"] == "observed"
    assert state(first)["config"]["dialect"] == "observed"  # type: ignore[index]
    assert len(first.lines) == 1
    first.end()
    second = start()
    assert second.lines[0] == (
        "sandbox: the saved world still uses the observed dialect; change it with --dialect documented"
    )
    assert state(second)["dialect"] == "observed"
    second.end()
    third = start("--dialect", "documented")
    assert third.lines[0] == (
        "sandbox: the saved world used the observed dialect until now; from now on it uses the documented one"
    )
    assert state(third)["dialect"] == "documented"
    third.end()
    fourth = start()
    assert len(fourth.lines) == 1


def test_an_odd_dialect_stops_the_start(start: Start) -> None:
    command = [sys.executable, "manage.py", "sandbox", "--dialect", "frisian"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2
    assert "invalid choice: 'frisian' (choose from 'documented', 'observed')" in ended.stderr
