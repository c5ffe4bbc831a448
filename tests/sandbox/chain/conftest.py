"""The chain-data service as its contract tests ask it: at --target, or in a sandbox of the process."""

from collections.abc import Iterator
from typing import Any

import pytest
import requests

from sandbox.serving import InProcessSandbox

SECONDS = 10


class ChainService:
    """Literal requests to one server; `box` is the sandbox in process, None at another address."""

    def __init__(self, url: str, box: InProcessSandbox | None) -> None:
        self.url = url.rstrip("/")
        self.box = box
        self._session = requests.Session()
        self._session.trust_env = False

    def ask(self, method: str, path: str, **more: Any) -> requests.Response:
        """One request; `path` begins with /v2/."""
        return self._session.request(method, self.url + path, timeout=SECONDS, allow_redirects=False, **more)

    def get(self, path: str, **more: Any) -> requests.Response:
        """One GET."""
        return self.ask("GET", path, **more)

    def post(self, path: str, body: object) -> requests.Response:
        """One POST of JSON."""
        return self.ask("POST", path, json=body)

    def good(self, path: str, body: object = None) -> Any:
        """The JSON of an answer that is 200: of a GET, or of a POST with a body."""
        answer = self.get(path) if body is None else self.post(path, body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def refused(self, path: str, body: object = None) -> tuple[int, Any]:
        """Status and `error` of an answer that is not 200."""
        answer = self.get(path) if body is None else self.post(path, body)
        assert answer.status_code != 200, answer.text
        return answer.status_code, answer.json()["error"]

    def close(self) -> None:
        """Closes the kept connection."""
        self._session.close()


@pytest.fixture(scope="module")
def service(request: pytest.FixtureRequest) -> Iterator[ChainService]:
    """The server at --target, or a sandbox in process, the same for the tests of a module."""
    url = request.config.getoption("--target", default=None)
    if url:
        far = ChainService(url, None)
        yield far
        far.close()
        return
    with InProcessSandbox(seed=1, still=True, payout_seconds=0, block_seconds=86_400) as box:
        near = ChainService(box.url, box)
        yield near
        near.close()
