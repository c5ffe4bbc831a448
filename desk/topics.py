"""What a browser may follow. Every room registers its topics with the rule that says who may.

A topic is `name` or `name:key`, for example "withdrawal:12". Anything unregistered, malformed or not permitted is
refused in the same way, so that a refusal says nothing about what exists.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    from desk.models import Person

MayFollow = Callable[["Person", str], bool]

_SHAPE = re.compile(r"[a-z][a-z0-9_-]{0,39}(:[A-Za-z0-9_.-]{1,80})?", re.ASCII)
_log = structlog.get_logger(__name__)
_registered: dict[str, MayFollow] = {}
_ticking: set[str] = set()


def register(name: str, may_follow: MayFollow, *, ticks: bool = False) -> None:
    """Let browsers ask for topics called `name`; `may_follow(person, key)` decides and may read the database.

    With `ticks` such a topic may also carry values of the public market, of which only the newest counts.
    """
    if not _SHAPE.fullmatch(name) or ":" in name:
        raise ValueError(f"{name!r} is no topic name: lower-case letters, digits, _ and -, at most 40.")
    _registered[name] = may_follow
    (_ticking.add if ticks else _ticking.discard)(name)


def takes_ticks(topic: object) -> bool:
    """Whether this is a well-formed topic that was registered for ticks."""
    parts = split(topic)
    return parts is not None and parts[0] in _ticking


def split(topic: object) -> tuple[str, str] | None:
    """Name and key of a well-formed topic, else None. The key is empty when the topic has none."""
    if not isinstance(topic, str) or not _SHAPE.fullmatch(topic):
        return None
    name, _, key = topic.partition(":")
    return name, key


def admits(person: "Person", topic: object) -> bool:
    """Whether this person may follow the topic now. A rule that fails refuses."""
    parts = split(topic)
    if parts is None or not person.is_active:
        return False
    may_follow = _registered.get(parts[0])
    if may_follow is None:
        return False
    try:
        return bool(may_follow(person, parts[1]))
    except Exception:
        _log.exception("topics.rule_failed", topic=topic)
        return False
