"""A refusal of the world, or a request that can't be read, as the error the exchange documents for it."""

from http import HTTPStatus

from exchange_ops.wire import catalogue
from exchange_ops.wire.refusals import CATALOGUE
from sandbox.exchange.terms import Refusal
from sandbox.server import answers
from sandbox.server.answers import Answer
from sandbox.server.faults.faults import Fault
from wire.operation import Operation
from wire.params import BadArgument, Problem

VALIDATION_ERROR = 10001
TOO_MANY_REQUESTS = 429
NOT_IMITATED = 501
# Parameters of orders that have codes of their own, whatever is wrong with them (exchange supplement 2.2).
_OF_ORDERS = {"quantity": 2010, "price": 2020, "stopPrice": 2022}
_ORDER_GROUPS = frozenset({catalogue.SPOT_ORDERS, catalogue.MARGIN_ORDERS, catalogue.MARGIN})


def knows(code: int) -> bool:
    """Whether the error catalogue has the code."""
    return code in CATALOGUE


def parts(refusal: Refusal) -> tuple[int, int, str, str]:
    """HTTP status, code, message and description of a refusal; its own words go before those of the catalogue."""
    row = CATALOGUE.get(refusal.code)
    if row is None:
        return HTTPStatus.BAD_REQUEST, refusal.code, refusal.message or "Refused", refusal.description
    # A usual description with a gap in it ("Minimum quantity {minimum}") says nothing on its own.
    usual = "" if "{" in row.description else row.description
    return row.http_status, refusal.code, refusal.message or row.message, refusal.description or usual


def sentence(refusal: Refusal) -> str:
    """The refusal for a tester: message and description in one line."""
    _, _, message, description = parts(refusal)
    return f"{message}: {description}" if description else message


def answer(refusal: Refusal) -> Answer:
    """The HTTP answer of a refusal."""
    return answers.of_error(*parts(refusal))


def of_status(status: int) -> Answer:
    """An error with that HTTP status and code, as a failing exchange or a gateway before it would answer."""
    code = status if knows(status) else None
    phrase = CATALOGUE[status].message if code else HTTPStatus(status).phrase if status in set(HTTPStatus) else "Error"
    return answers.of_error(status, status, phrase)


def not_imitated(operation: str) -> Answer:
    """The operation is documented, and the sandbox has nothing behind it yet."""
    return answers.of_error(
        HTTPStatus.NOT_IMPLEMENTED, NOT_IMITATED, "Not Implemented", f"The sandbox does not imitate {operation} yet"
    )


def of_bad_argument(problem: BadArgument, operation: Operation | None = None) -> Refusal:
    """A parameter that is missing or can't be read: 10001 with the description in the documented words, or the code
    that it has in an order."""
    if operation is not None and operation.group in _ORDER_GROUPS and problem.param in _OF_ORDERS:
        return Refusal(_OF_ORDERS[problem.param])
    name = f"Param '{problem.param}'"
    if problem.problem is Problem.MISSING:
        return Refusal(VALIDATION_ERROR, f"{name} required")
    detail = f": {problem.detail}" if problem.detail else ""
    return Refusal(VALIDATION_ERROR, f"{name} {problem.problem.value}{detail}")


class ExchangeSpeech:
    """The errors of the exchange."""

    def refuse(self, fault: Fault) -> Answer:
        """The error of the catalogue under the fault's code."""
        return answer(Refusal(fault.whole_number("code"), fault.text("description")))

    def of_status(self, status: int) -> Answer:
        """An error of that HTTP status and code."""
        return of_status(status)

    def rate_limit(self) -> Answer:
        """The error of a used-up second."""
        return answer(Refusal(TOO_MANY_REQUESTS))
