"""The id that follows a request into logs, tasks and the audit trail."""

import re
import uuid
from contextvars import ContextVar, Token

_ID_SHAPE = re.compile(r"[A-Za-z0-9-]{8,64}", re.ASCII)
_current: ContextVar[str] = ContextVar("request_id", default="")


def current_id() -> str:
    """The id of the request or task being worked on, or empty text outside of both."""
    return _current.get()


def enter(request_id: str) -> Token[str]:
    """Work under this id until `leave`; used by the middleware and by Celery tasks."""
    return _current.set(request_id)


def leave(token: Token[str]) -> None:
    """Go back to the id that was current before `enter`."""
    _current.reset(token)


def usable_id(text: str | None) -> str:
    """The given id when it is harmless in a log line, else a fresh one."""
    return text if text and _ID_SHAPE.fullmatch(text) else uuid.uuid4().hex
