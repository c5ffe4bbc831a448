"""The tests' side of the nursery: start a worker, let it die or end, and hear what became of it."""

import json
import signal
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from project.supervisor import parent_death
from tests.houses import ROOT


class Nursery:
    """One process that forks workers; `exchange_url` is where those begun from now on find the exchange."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.exchange_url = ""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.money.nursery"],
            cwd=ROOT,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=parent_death.tied_to_this_process(signal.SIGKILL),
        )
        assert self._heard() == "ready"

    def run(self, act: str, *, dies: dict[str, Any] | None = None, ahead_s: int = 0, **arguments: Any) -> Any:
        """One worker from its birth to its end. Gives `killed` (a signal or 0), `result` or `raised`, and `passed`."""
        return self._send(self._order(act, dies, ahead_s, arguments))

    def pause(self, act: str, at: dict[str, Any], **arguments: Any) -> None:
        """A worker that stands still here until `go_on`. Its call's own time goes on meanwhile, so that is long."""
        outcome = self._send(self._order(act, None, 0, arguments) | {"stops": at, "deadline_s": 120})
        assert "stopped" in outcome, outcome

    def lose(self, act: str, at: dict[str, Any], **arguments: Any) -> Any:
        """A worker whose database goes away at this point, and what it told in the end."""
        outcome = self._send(self._order(act, None, 0, arguments) | {"loses": at})
        assert not outcome["killed"], outcome
        return outcome

    def go_on(self) -> Any:
        """The worker that stands still goes on to its end."""
        return self._send({"go_on": True})

    def at_once(self, *acts: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
        """Several workers that begin in the same moment."""
        outcomes: list[dict[str, Any]] = self._send([self._order(act, None, 0, arguments) for act, arguments in acts])
        return outcomes

    def close(self) -> None:
        """No more workers."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()

    def _order(self, act: str, dies: dict[str, Any] | None, ahead_s: int, arguments: dict[str, Any]) -> dict[str, Any]:
        return {
            "act": act,
            "dies": dies,
            "ahead_s": ahead_s,
            "arguments": arguments,
            "exchange_url": self.exchange_url,
        }

    def _send(self, order: object) -> Any:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return json.loads(self._heard())

    def _heard(self) -> str:
        assert self._process.stdout
        line = self._process.stdout.readline()
        assert line, f"the nursery ended with {self._process.wait(5)}"
        return line.strip()
