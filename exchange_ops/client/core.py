"""How every call of the exchange leaves and comes back.

Two rules live here and nowhere else. A withdrawal leaves only with `autoCommit=false` in the bytes about to be sent.
And whatever is not a read goes through `Transport.send`: once, and an answer that can't be read is an unknown outcome.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl

from exchange_ops.client.budgets import KeyBudget
from exchange_ops.client.listings import Listing, read_each
from exchange_ops.client.pacing import LastLook, PacedTransport
from exchange_ops.wire import catalogue
from wire import operation as operations
from wire import records
from wire.errors import BadReply, CallFailed, OutcomeUnknown, Refused
from wire.operation import Operation, Request
from wire.transport import Answer, Transport

PAGE = 1000  # the most that the exchange gives in one answer (exchange REST, Limits)
_AUTHORIZATION_REFUSALS = frozenset({1001, 1002, 1003, 1004})


class UnknownOperation(ValueError):
    """There is no operation of that name in the catalogue."""


class WouldPayAtOnce(RuntimeError):
    """The withdrawal about to be sent does not say autoCommit=false: it would be paid without anybody's approval."""


class Calls:
    """One key at the exchange. `date_seen` gets the Date of every answer, `rejected` each refusal of the key, and
    `accepted` is called once, after the first call with which the exchange took the key.

    With the key's `budget` calls leave no faster than the exchange allows, and decisions on withdrawals before reads.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        date_seen: Callable[[datetime], None] | None = None,
        rejected: Callable[[Refused], None] | None = None,
        accepted: Callable[[], None] | None = None,
        budget: KeyBudget | None = None,
    ) -> None:
        self._transport = transport
        self._budget = budget
        self._date_seen = date_seen
        self._rejected = rejected
        self._accepted = accepted

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def call(self, operation: str, *, last_look: LastLook = str, **arguments: object) -> Any:
        """Call any operation of the catalogue by its name, with the parameters under their names; returns its record.

        None stands for an absent parameter. Raises `BadArgument` before anything is sent. Right before a call that is
        not a read, a sentence from `last_look` stops it as `Unreachable`, because nothing was sent.
        """
        row = _row(operation)
        answer = self._exchange(row, arguments, last_look)
        try:
            return records.decode(answer.body, row.result)
        except BadReply as problem:
            if row.method == "GET":
                raise
            raise OutcomeUnknown(f"Unreadable response: {problem.reason}", {"status": answer.status}) from problem

    def answer(self, operation: str, **arguments: object) -> Answer:
        """Call a read by its name and return the answer without decoding its body. Raises `UnknownOperation`."""
        row = _row(operation)
        if not row.reads:
            raise UnknownOperation(f"{operation} is not a read operation.")
        return self._exchange(row, arguments)

    def listing(self, operation: str, **arguments: object) -> Listing[Any]:
        """Call a read whose reply is a list and decode each element by itself, so that a bad one hides no other."""
        row = _row(operation)
        if row.method != "GET" or getattr(row.result, "__origin__", None) is not list:
            raise UnknownOperation(f"{operation} does not return a list.")
        (kind,) = row.result.__args__  # type: ignore[attr-defined]  # checked above: list[Record]
        return read_each(self._exchange(row, arguments).body, kind)

    # Sending ---------------------------------------------------------------------------------------------------------

    def _exchange(self, row: Operation, arguments: dict[str, object], last_look: LastLook = str) -> Answer:
        request = operations.bind(row, arguments)
        if row.name == "create_withdrawal":
            refuse_to_pay_at_once(request)
        wait_ms = arguments.get("wait")  # long polling: the exchange's own waiting comes on top of the call's time
        paced = PacedTransport(self._transport, self._budget, last_look=last_look)
        try:
            answer = paced.exchange(request, longer_ms=wait_ms if isinstance(wait_ms, int) else 0)
        except CallFailed as failure:
            self._hear_date(failure.date)
            if self._rejected is not None and isinstance(failure, Refused) and failure.code in _AUTHORIZATION_REFUSALS:
                self._rejected(failure)
            raise
        self._hear_date(answer.date)
        if self._accepted is not None and not row.public:
            accepted, self._accepted = self._accepted, None
            accepted()
        return answer

    def _hear_date(self, date: datetime | None) -> None:
        if date is not None and self._date_seen is not None:
            self._date_seen(date)


def _row(operation: str) -> Operation:
    row = catalogue.by_name.get(operation)
    if row is None:
        raise UnknownOperation(f"The exchange API has no operation {operation!r}.")
    return row


def refuse_to_pay_at_once(request: Request) -> None:
    """The last look at the bytes: exactly one autoCommit, it says false, and it travels in the body."""
    flags = [
        text for name, text in parse_qsl(request.body.decode("ascii"), keep_blank_values=True) if name == "autoCommit"
    ]
    if flags != ["false"] or request.query or request.method != "POST":
        raise WouldPayAtOnce("Payout not sent: without autoCommit=false, the exchange would execute it immediately.")
