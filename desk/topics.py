"""The topics that browsers may follow. The rooms declare them, each with the rule that says who may.

A topic is `name` or `name:key`, for example "withdrawal:12". Anything undeclared, malformed or not permitted is
refused in the same way, so that a refusal says nothing about what exists.
"""

import re
from typing import Any

import structlog

from desk import rooms

_SHAPE = re.compile(r"[a-z][a-z0-9_-]{0,39}(:[A-Za-z0-9_.-]{1,80})?", re.ASCII)
_log = structlog.get_logger(__name__)


def takes_ticks(topic: object) -> bool:
    """Whether this is a well-formed topic that carries ticks."""
    parts = split(topic)
    room = rooms.with_topic(parts[0]) if parts is not None else None
    return parts is not None and room is not None and parts[0] in room.ticking


def split(topic: object) -> tuple[str, str] | None:
    """Name and key of a well-formed topic, else None. The key is empty when the topic has none."""
    if not isinstance(topic, str) or not _SHAPE.fullmatch(topic):
        return None
    name, _, key = topic.partition(":")
    return name, key


def admits(person: Any, topic: object) -> bool:
    """Whether this person may follow the topic now. A rule that raises refuses."""
    parts = split(topic)
    if parts is None or not person.is_active:
        return False
    room = rooms.with_topic(parts[0])
    if room is None:
        return False
    try:
        return bool(room.topics[parts[0]](person, parts[1]))
    except Exception:
        _log.exception("topics.rule_failed", topic=topic)
        return False
