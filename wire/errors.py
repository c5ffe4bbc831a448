"""What can come of a call, named by what the caller must do next."""

from collections.abc import Mapping
from datetime import datetime


class CallFailed(Exception):
    """A call did not end with a usable answer. `date` is the other side's clock, when it told the time."""

    date: datetime | None = None


class Refused(CallFailed):
    """The other side said no, and nothing was done: correct the call, or tell the person why.

    `code`, `message` and `description` are the members of its error body (exchange REST, Errors).
    """

    def __init__(self, code: int, message: str, description: str = "", http_status: int = 400) -> None:
        super().__init__(code, message, description, http_status)
        self.code = code
        self.message = message
        self.description = description
        self.http_status = http_status

    def __str__(self) -> str:
        return f"{self.code} {self.message}" + (f": {self.description}" if self.description else "")


class Unreachable(CallFailed):
    """No answer, and it is certain that nothing was done: a later call may be tried.

    For money this is said only when the connection was never made; a read has nothing to lose and always ends here.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class OutcomeUnknown(CallFailed):
    """The call may have been executed: never send it again, find out by reading.

    `evidence` is what is known, as plain JSON values (status, the beginning of the body, milliseconds).
    """

    def __init__(self, reason: str, evidence: Mapping[str, object] | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.evidence = dict(evidence or {})


class BadReply(CallFailed):
    """A read was answered with something else than its documented reply: nothing may be concluded from it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
