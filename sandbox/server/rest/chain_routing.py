"""Which operation of the chain-data service a request names (chain data, Endpoints; supplement 1.10 and 7).

The letter case of a path and one slash at its end don't matter; its parameters keep their case.
"""

from collections.abc import Iterable
from urllib.parse import unquote

from sandbox.server.routing import Route
from wire.operation import Operation

LONGEST_PATH = 65_536  # the server's own bound of a request's head comes first


class Undecodable(ValueError):
    """A part of the path is not UTF-8; the text is the part as it was written."""


class Routes:
    """Every path of a catalogue under every method that it takes; literal paths win over those with parameters."""

    def __init__(self, operations: Iterable[Operation], roots: Iterable[tuple[str, str]]) -> None:
        self._roots = {f"v2/{first}".lower(): word for first, word in roots}
        self._routes: dict[tuple[str, int], list[Route]] = {}
        for operation in operations:
            for path in operation.every_path:
                route = Route(operation, tuple(_literal(part) for part in path.strip("/").split("/")), any_case=True)
                for method in (operation.method, *operation.other_methods):
                    self._routes.setdefault((method, len(route.segments)), []).append(route)
        for routes in self._routes.values():
            routes.sort(key=lambda route: sum(segment.startswith("{") for segment in route.segments))

    def root(self, raw_path: bytes) -> str | None:
        """The word that the root of a group answers with; None when the path is no such root."""
        return self._roots.get(raw_path.decode("ascii", errors="replace").strip("/").lower())

    def find(self, method: str, raw_path: bytes) -> tuple[Operation, dict[str, str]] | None:
        """The operation and its path values, percent-decoded; None for an unknown path, a missing part or another verb.

        Raises `Undecodable`.
        """
        segments = _segments(raw_path)
        if not all(segments):
            return None
        for route in self._routes.get((method, len(segments)), ()):
            values = route.values(segments)
            if values is not None:
                return route.operation, values
        return None


def _literal(part: str) -> str:
    return part if part.startswith("{") else part.lower()


def _segments(raw_path: bytes) -> tuple[str, ...]:
    if len(raw_path) > LONGEST_PATH:
        return ("",)
    written = raw_path.decode("ascii", errors="replace").removeprefix("/").removesuffix("/")
    return tuple(_decoded(part) for part in written.split("/"))


def _decoded(part: str) -> str:
    try:
        return unquote(part, errors="strict")
    except UnicodeDecodeError:
        raise Undecodable(part[:100]) from None
