"""The control plane of the rehearsal's own sandbox, by which drills make their trouble (`sandbox/README.md`)."""

import http.client
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from wire.reach import is_loopback

_SECONDS = 10


class CannotControl(Exception):
    """The sandbox did not do it; the text is one sentence that says why."""


class SandboxControl:
    """The control plane at one address, which must be on this machine."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if not settings.REHEARSAL or parts.hostname is None or not is_loopback(parts.hostname):
            raise CannotControl("Nothing was done: drills run on the sandbox of a rehearsal only.")
        self._host, self._port = parts.hostname, parts.port

    def call(self, path: str, content: Mapping[str, Any] | None = None, *, method: str = "") -> Any:
        """The JSON answer: of a GET without content, else of a POST. Raises CannotControl."""
        body = None if content is None else json.dumps(content)
        connection = http.client.HTTPConnection(self._host, self._port, timeout=_SECONDS)
        try:
            connection.request(method or ("GET" if body is None else "POST"), f"/_sandbox/{path}", body)
            answer = connection.getresponse()
            text = answer.read().decode()
        except OSError:
            raise CannotControl("The sandbox does not answer. Start the rehearsal first: manage.py rehearse.") from None
        finally:
            connection.close()
        if answer.status != http.HTTPStatus.OK:
            raise CannotControl(f"The sandbox refused {path}: {text[:200]}")
        return json.loads(text)

    def fault(self, operation: str, kind: str, **members: Any) -> None:
        """Let the next calls of an operation fail."""
        self.call("faults", {"operation": operation, "kind": kind, **members})

    def clear_faults(self) -> None:
        """Let every call go through again."""
        self.call("faults", method="DELETE")
