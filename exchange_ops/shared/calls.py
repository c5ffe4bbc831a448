"""A call that changes something at the exchange: its lease, its fingerprint, one send, and what came of it."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.conf import settings

from exchange_ops.client import WouldPayAtOnce
from exchange_ops.shared import mover
from exchange_ops.shared.step_clock import Stopwatch
from wire.errors import CallFailed, Refused, Unreachable
from wire.operation import BadArgument

PREPARED, SENT, ACCEPTED, REFUSED = "prepared", "sent", "accepted", "refused"
NOT_SENT, UNKNOWN, FOUND, ABSENT = "not_sent", "unknown", "found", "absent"
CALL_OUTCOMES = (PREPARED, SENT, ACCEPTED, REFUSED, NOT_SENT, UNKNOWN, FOUND, ABSENT)

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of one call: an outcome, the value of an accepted one, a sentence about any other."""

    outcome: str
    value: Any = None
    code: int | None = None
    problem: str = ""

    @property
    def accepted(self) -> bool:
        """Whether the exchange answered and did not refuse."""
        return self.outcome == ACCEPTED


def lease(now: datetime) -> datetime:
    """Until when a claim made now keeps other workers away: longer than any task lives."""
    return now + timedelta(seconds=settings.LEASE_SECONDS)


def fingerprint(kind: str, content: dict[str, Any]) -> str:
    """A hash of what is sent, so that two calls can be compared without keeping addresses twice."""
    text = json.dumps(mover.texts(content), sort_keys=True)
    return hashlib.sha256(f"{kind}|{text}".encode()).hexdigest()


def too_late(watch: Stopwatch, until: datetime | None) -> str:
    """Why nothing may be sent any more, else an empty text; `until` is by our clock."""
    if until is not None and watch.now() >= until:
        return "The last moment for this call had passed, so it was not sent."
    return watch.too_late_to_send()


def sent(send: Callable[[], Any]) -> Reply:
    """Send, and say in one of four outcomes what came of it; nothing that can happen outside is raised."""
    try:
        return Reply(ACCEPTED, value=send())
    except Refused as refused:
        return Reply(REFUSED, code=refused.code, problem=str(refused))
    except (BadArgument, WouldPayAtOnce) as problem:
        # Raised before a byte leaves: the call can't be made in this form, now or later.
        return Reply(REFUSED, problem=f"It can't be sent like this: {problem}")
    except Unreachable as problem:
        return Reply(NOT_SENT, problem=f"The exchange was not reached: {problem.reason}")
    except CallFailed as problem:
        return Reply(UNKNOWN, problem=f"No usable answer: {problem}")
    except Exception as problem:  # whatever a library raises: once it may have left, the outcome is unknown
        _log.exception("calls.unexpected")
        return Reply(UNKNOWN, problem=f"No usable answer: {type(problem).__name__}")
