"""The outcome of a call to the exchange that changes something, in the words of the machines' calls."""

from collections.abc import Callable
from typing import Any

import structlog

from desk.machines.calls import ACCEPTED, NOT_SENT, REFUSED, UNKNOWN, Reply
from exchange_ops.client import WouldPayAtOnce
from wire.errors import CallFailed, Refused, Unreachable
from wire.operation import BadArgument

_log = structlog.get_logger(__name__)


def reply_of(send: Callable[[], Any]) -> Reply:
    """Send, and return one of four outcomes; no failure outside is raised."""
    try:
        return Reply(ACCEPTED, value=send())
    except Refused as refused:
        return Reply(REFUSED, code=refused.code, problem=str(refused))
    except (BadArgument, WouldPayAtOnce) as problem:
        # Raised before a byte leaves: the call can't be made in this form, now or later.
        return Reply(REFUSED, problem=f"The request is invalid and was not sent: {problem}")
    except Unreachable as problem:
        return Reply(NOT_SENT, problem=f"The exchange could not be reached: {problem.reason}")
    except CallFailed as problem:
        return Reply(UNKNOWN, problem=f"No usable response: {problem}")
    except Exception as problem:  # whatever a library raises: once it may have left, the outcome is unknown
        _log.exception("calls.unexpected")
        return Reply(UNKNOWN, problem=f"No usable response: {type(problem).__name__}")
