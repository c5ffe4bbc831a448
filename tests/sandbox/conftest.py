"""A sandbox of one's own for every module, made new between tests, and clients that speak to it over the network."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests

from sandbox.server.auth import SECOND_NS
from sandbox.serving import InProcessSandbox
from tests.sandbox.worlds import dismiss_traders

TIMEOUT_SECONDS = 60  # a busy machine takes ten for the candles of all symbols


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--target",
        metavar="URL",
        help="run the contract tests against the server at this address instead of a sandbox in process",
    )
    parser.addoption(
        "--target-key",
        metavar="LOGIN:SECRET",
        default="demo-full:demo-full-secret",
        help="the key that the contract tests use, with every right (default: the sandbox's own)",
    )


@pytest.fixture(scope="module")
def running() -> Iterator[InProcessSandbox]:
    """One running sandbox for the tests of a module."""
    with InProcessSandbox(seed=1, still=True, payout_seconds=0) as sandbox:
        yield sandbox


@pytest.fixture
def box(running: InProcessSandbox) -> InProcessSandbox:
    """The running sandbox with a fresh world: no faults, no calls, default configuration, empty books."""
    running.control("reset", {"seed": 1})
    running.inside(lambda: dismiss_traders(running.world))
    return running


@pytest.fixture
def one_second(box: InProcessSandbox) -> Iterator[Callable[[], None]]:
    """All calls of the test come within one second, as rate limits count; calling it lets the next one begin."""
    limits = box._server.sandbox._limits
    clock_ns, at_ns = limits._clock_ns, [0]
    limits._clock_ns = lambda: at_ns[0]
    limits._call_times.clear()

    def next_one() -> None:
        at_ns[0] += SECOND_NS

    yield next_one
    limits._clock_ns = clock_ns
    limits._call_times.clear()


class Client:
    """An HTTP client of the exchange with one key, on a new connection for every call."""

    def __init__(self, url: str, login: str = "demo-full") -> None:
        self.url = url
        self.auth = (login, f"{login}-secret")

    def call(self, method: str, path: str, **more: Any) -> requests.Response:
        """One request below /api/2."""
        options = {"timeout": TIMEOUT_SECONDS, "allow_redirects": False, "auth": self.auth} | more
        return requests.request(method, f"{self.url}/api/2{path}", **options)


@pytest.fixture
def client(box: InProcessSandbox) -> Client:
    """A client with the key that carries every right."""
    return Client(box.url)
