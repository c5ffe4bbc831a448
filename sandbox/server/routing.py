"""Which operation of a service a request names: the rows of its catalogue as routes."""

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import unquote

from wire.operation import Operation

LONGEST_PATH = 4_096
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")


class Undecodable(ValueError):
    """A part of the path is not UTF-8; the text is the part as it was written."""


@dataclass(frozen=True, slots=True)
class Route:
    """One row and the segments of its path; a segment in braces is a parameter.

    With `any_case` the literal segments, which are in small letters then, fit in whatever case they are written.
    """

    operation: Operation
    segments: tuple[str, ...]
    any_case: bool = False

    def values(self, segments: tuple[str, ...]) -> dict[str, str] | None:
        """The path's parameters when the segments fit; None when they don't."""
        found: dict[str, str] = {}
        for expected, segment in zip(self.segments, segments, strict=True):
            if expected.startswith("{"):
                found[expected[1:-1]] = segment
            elif expected != (segment.lower() if self.any_case else segment):
                return None
        return found


class Routes:
    """The routes of a catalogue. A literal path wins over one with parameters (`/trading/fee/all`).

    With `any_case` the letter case of literal segments doesn't count.
    """

    def __init__(
        self, operations: Iterable[Operation], *, any_case: bool = False, longest_path: int = LONGEST_PATH
    ) -> None:
        self._longest_path = longest_path
        self._routes: dict[tuple[str, int], list[Route]] = {}
        for operation in operations:
            for path in operation.every_path:
                segments = tuple(_literal(part, any_case) for part in path.strip("/").split("/"))
                route = Route(operation, segments, any_case)
                for method in (operation.method, *operation.other_methods):
                    self._routes.setdefault((method, len(segments)), []).append(route)
        for routes in self._routes.values():
            routes.sort(key=lambda route: sum(segment.startswith("{") for segment in route.segments))

    def find(self, method: str, raw_path: bytes) -> tuple[Operation, dict[str, str]] | None:
        """The operation and its path values, percent-decoded segment by segment; None for an unknown path or verb.

        HEAD names what GET does. One slash at the end is ignored; an empty segment, or one that is not UTF-8, names
        nothing.
        """
        try:
            segments = _decoded(raw_path) if len(raw_path) <= self._longest_path else ("",)
        except Undecodable:
            return None
        method = "GET" if method == "HEAD" else method
        for route in self._routes.get((method, len(segments)), ()) if all(segments) else ():
            values = route.values(segments)
            if values is not None:
                return route.operation, values
        return None

    def methods(self, raw_path: bytes) -> list[str]:
        """The verbs that a path takes, HEAD and OPTIONS included; none for an unknown path."""
        named = [method for method in METHODS if self.find(method, raw_path) is not None]
        return [*named, "OPTIONS"] if named else []


def _literal(part: str, any_case: bool) -> str:
    return part.lower() if any_case and not part.startswith("{") else part


def must_decode(raw_path: bytes) -> None:
    """Raises `Undecodable` for the first segment that is not UTF-8."""
    _decoded(raw_path)


def _decoded(raw_path: bytes) -> tuple[str, ...]:
    written = raw_path.decode("ascii", errors="replace").removeprefix("/").removesuffix("/")
    return tuple(map(_segment, written.split("/")))


def _segment(part: str) -> str:
    try:
        return unquote(part, errors="strict")
    except UnicodeDecodeError:
        raise Undecodable(part[:100]) from None
