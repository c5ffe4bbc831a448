"""Clients of the trading socket in a test: what was told before an answer and what behind it, without waiting."""

import json
from itertools import count
from typing import Any

from sandbox.exchange.trading import orders_house
from sandbox.serving import InProcessSandbox
from tests.sandbox.server.sockets.test_sockets import Stream

TRADING = "/api/2/ws/trading"
COMBINED = "/api/2/ws"
ORDER = {"symbol": "ETHBTC", "side": "buy", "quantity": "0.1", "price": "0.01"}


class Trader(Stream):
    """A client that has logged in. `told` collects the notifications as (name, params) in their order."""

    def __init__(self, url: str, login: str = "demo-full", path: str = TRADING) -> None:
        super().__init__(url, path)
        self.frames: list[tuple[str, Any]] = []
        self._numbers = count(1)
        if login:
            assert self.good("login", algo="BASIC", pKey=login, sKey=f"{login}-secret") is True

    def say(self, method: str, params: object = None) -> dict[str, Any]:
        """The answer; what arrives before it is kept in `told`."""
        number = next(self._numbers)
        self.send({"method": method, "params": params, "id": number})
        while True:
            frame = self.receive()
            if "id" in frame:
                assert frame["id"] == number
                return frame
            self.frames.append((frame["method"], frame["params"]))

    def good(self, method: str, **params: object) -> Any:
        """The result of an answer that says yes."""
        answer = self.say(method, params)
        assert list(answer) == ["jsonrpc", "result", "id"], answer
        return answer["result"]

    def bad(self, method: str, **params: object) -> tuple[int, str, str]:
        """Code, message and description of an answer that says no."""
        answer = self.say(method, params)
        assert list(answer) == ["jsonrpc", "error", "id"], answer
        assert list(answer["error"]) == ["code", "message", "description"]
        return tuple(answer["error"].values())

    def before(self) -> list[tuple[str, Any]]:
        """What was told up to now, once."""
        frames, self.frames = self.frames, []
        return frames

    def behind(self) -> list[tuple[str, Any]]:
        """What was told up to now and what still waits on its way: the next answer comes behind all of it."""
        self.say("nothing")
        return self.before()

    def hear(self, count_of: int = 1) -> list[tuple[str, Any]]:
        """So many notifications, waited for."""
        while len(self.frames) < count_of:
            frame = json.loads(self.socket.recv())
            self.frames.append((frame["method"], frame["params"]))
        return self.before()


def offer(box: InProcessSandbox, side: str, price: int, quantity: int, symbol: str = "ETHBTC") -> None:
    """The market moves: an order of a simulated trader, in ticks and increments."""

    def put() -> None:
        orders_house.offer(box.world.exchange, symbol, side, price, quantity)
        box.world.run_due()

    box.inside(put)


def types(frames: list[tuple[str, Any]]) -> list[tuple[str, str, str]]:
    """Of reports: the name, the trader's id (or the symbol) and the type."""
    return [(name, each.get("clientOrderId", each["symbol"]), each["reportType"]) for name, each in frames]
