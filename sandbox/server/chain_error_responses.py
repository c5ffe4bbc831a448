"""Answers of the chain-data service: its envelopes, and the headers that each of them has (chain supplement 1.7,
1.10)."""

from chaindata.wire import refusals
from sandbox.chain.node.terms import Refused
from sandbox.server import answers
from sandbox.server.answers import Answer
from sandbox.server.faults.fault_kinds import DEFAULT_STATUS
from sandbox.server.faults.faults import Fault

HEADERS = (
    ("access-control-allow-origin", "*"),
    ("x-dns-prefetch-control", "off"),
    ("x-frame-options", "SAMEORIGIN"),
    ("strict-transport-security", "max-age=15552000; includeSubDomains"),
    ("x-download-options", "noopen"),
    ("x-content-type-options", "nosniff"),
    ("x-xss-protection", "1; mode=block"),
)
PREFLIGHT = (
    ("access-control-allow-methods", "GET,HEAD,PUT,PATCH,POST,DELETE"),
    ("access-control-allow-headers", "Content-Type, Authorization"),
)


def envelope(status: int, message: str) -> Answer:
    """The envelope of what no operation answers for: an unknown path, a body that can't be read."""
    return answers.of_json({"status": status, "message": message}, status)


def not_found() -> Answer:
    """No operation is behind the path and method."""
    return envelope(refusals.ROUTE_UNKNOWN.http_status, refusals.ROUTE_UNKNOWN.text)


def error(status: int, text: str) -> Answer:
    """An operation's error."""
    return answers.of_json({"error": text}, status)


def refused(problem: Refused) -> Answer:
    """The answer to a call that was refused; one that is not served here is an unknown path."""
    if problem.refusal is refusals.ROUTE_UNKNOWN:
        return not_found()
    return error(problem.refusal.http_status, problem.text)


def too_many_requests(limit: int) -> Answer:
    """The window of the route is used up."""
    return error(refusals.TOO_MANY_REQUESTS.http_status, refusals.TOO_MANY_REQUESTS.text.format(limit=limit))


def of_status(status: int, text: str = "") -> Answer:
    """An error with that status, as a failing service or its node would answer."""
    return error(status, text or refusals.NODE_AWAY.text)


class ChainSpeech:
    """How this service says what a fault makes it say."""

    def refuse(self, fault: Fault) -> Answer:
        """The error of that status, with the text of the fault."""
        return of_status(fault.whole("code"), fault.text("description"))

    def of_status(self, status: int) -> Answer:
        """The error of that status."""
        return of_status(status)

    def rate_limit(self) -> Answer:
        """The window is used up, whatever it holds."""
        return error(DEFAULT_STATUS["rate_limit"], refusals.TOO_MANY_REQUESTS.text.format(limit=60))
