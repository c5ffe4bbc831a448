"""One request and its answer: the token, the account, attempts, and the key that makes them one request."""

import time
import uuid
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote, urlsplit

import requests
from requests.auth import AuthBase

from countersign_client import problems

_LOST = (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError)
_PASSING = frozenset({409, 429, 502, 503, 504})  # another attempt may be answered
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_LONGEST_WAIT_S = 60.0


class Transport:
    """A desk at `url`, asked with one token; `account` names one of several accounts by its number.

    What was lost or is put off is sent again, `attempts` times in all, a request that drafts always with the same
    idempotency key. `timeout_s` bounds connecting and each wait for bytes. The token goes to `url` and nowhere else: no
    redirect is followed, and http is refused but for this machine. Not for several threads at once.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str,
        account: int | None = None,
        attempts: int = 4,
        timeout_s: float = 30.0,
    ) -> None:
        place = urlsplit(url)
        if place.scheme != "https" and not (place.scheme == "http" and place.hostname in _LOCAL):
            raise ValueError("The desk's address must start with https://, or with http:// on this machine.")
        if place.path not in {"", "/"} or place.query or place.username or attempts < 1:
            raise ValueError(
                "Pass the desk's address without a path, query or username, and allow at least one attempt."
            )
        self._origin = f"{place.scheme}://{place.netloc}"
        self._prefix = "" if account is None else f"/accounts/{account}"
        self._attempts, self._timeout_s = attempts, timeout_s
        self._session = requests.Session()
        self._bearer = _Bearer(token)
        self._session.auth = self._bearer
        self._session.headers["Accept"] = "application/json, application/problem+json"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._origin + self._prefix!r})"

    def close(self) -> None:
        """Give the connections back."""
        self._session.close()

    def ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | int | None] | None = None,
        body: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> Any:
        """The content of the answer. Raises `Problem` for a refusal, `NoAnswer` where none came."""
        key = (idempotency_key or str(uuid.uuid4())) if method == "POST" else None
        for attempt in range(1, self._attempts + 1):
            is_last = attempt == self._attempts
            try:
                answer = self._session.request(
                    method,
                    self._address(path),
                    params={name: value for name, value in (query or {}).items() if value is not None},
                    json=body,
                    headers={"Idempotency-Key": key} if key else {},
                    timeout=self._timeout_s,
                    allow_redirects=False,
                )
            except _LOST as loss:
                if is_last:
                    raise problems.NoAnswer(f"No response: {type(loss).__name__}.", idempotency_key=key) from loss
                time.sleep(self._pause(attempt, None))
                continue
            if answer.status_code not in _PASSING or is_last:
                return _content(answer, key)
            time.sleep(self._pause(attempt, answer.headers.get("Retry-After")))
        raise AssertionError("the last attempt returns or raises")

    @staticmethod
    def part(value: str | int) -> str:
        """One part of a path: what has a meaning in an address is escaped."""
        return quote(str(value), safe="")

    @property
    def _socket_url(self) -> str:
        """Where the desk's socket is."""
        return f"{self._origin.replace('http', 'ws', 1)}/ws/"

    @property
    def _authorization(self) -> str:
        """The header's value. Raises `ValueError` for a token that no header can carry."""
        if not self._bearer.header.isascii() or not self._bearer.header.isprintable():
            raise ValueError("Tokens can only contain printable ASCII characters.")
        return self._bearer.header

    @staticmethod
    def _pause(attempt: int, stated: str | None) -> float:
        """Seconds before the next attempt: what the desk says, else half a second and each time twice as long."""
        if stated is not None and stated.isascii() and stated.isdigit():
            return min(float(stated), _LONGEST_WAIT_S)
        return min(0.25 * 2.0**attempt, _LONGEST_WAIT_S)

    def _address(self, path: str) -> str:
        """An operation's path at the account; the address of a next page names its account itself."""
        if not path.startswith("/") or path.startswith("//"):
            raise problems.Unreadable("The link to the next page points to a different server.", idempotency_key=None)
        is_whole = self._prefix and path.startswith(f"{self._prefix}/")
        return self._origin + (path if is_whole else self._prefix + path)


class _Bearer(AuthBase):
    """Puts the token on a request, and keeps it out of every text. A .netrc does not overrule it."""

    def __init__(self, token: str) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = self.header
        return request

    @property
    def header(self) -> str:
        """The value of the header."""
        return f"Bearer {self._token}"


def _content(answer: requests.Response, key: str | None) -> Any:
    kind = answer.headers.get("Content-Type", "").partition(";")[0].strip()
    try:
        content = answer.json() if kind in {"application/json", "application/problem+json"} else None
    except requests.JSONDecodeError:
        content = None
    if answer.status_code < 300 and isinstance(content, dict):
        return content
    if answer.status_code >= 400 and isinstance(content, dict) and kind == "application/problem+json":
        raise problems.of(answer.status_code, content, idempotency_key=key)
    raise problems.Unreadable(
        f"The response with status {answer.status_code} did not come from a desk.", idempotency_key=key
    )
