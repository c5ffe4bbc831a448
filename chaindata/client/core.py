"""How every call of the chain-data service is sent, and how its answer is read.

Errors come in an envelope of their own (`wire/refusals.py`). Headers of every answer state the limits: a call that came
too early waits for the end of the window if the call's deadline allows, and otherwise says when to try again. Nothing
that changes the chain is ever sent twice.
"""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import msgspec

from chaindata.client import bulks
from chaindata.client.limits import Busy, Window, await_window
from chaindata.wire import catalogue, refusals
from chaindata.wire.refusals import Case, ErrorReply
from wire import records
from wire.errors import BadReply, CallFailed, OutcomeUnknown, Refused, Unreachable
from wire.operation import Operation, Request, bind
from wire.transport import Answer, Transport

DEADLINE_S = 15
_WRAPPER = "retData"


class UnknownOperation(ValueError):
    """There is no operation of that name in the catalogue, or it can't be called in this way."""


class Declined(Refused):
    """The service rejected the question itself; `text` is what it said, shortened and printable."""

    def __init__(self, error: ErrorReply, http_status: int) -> None:
        super().__init__(error.code or 0, error.text or f"status {http_status}", http_status=http_status)
        self.case = error.case
        self.text = self.message

    def __str__(self) -> str:
        return self.text


class Absent(Declined):
    """There is no such thing, as far as the service knows now; later there may be."""


class TooManyAtOnce(Declined):
    """More elements in one question than the service takes; in smaller pieces it may answer."""


def open_transport(
    *, base_url: str, deadline_s: int = DEADLINE_S, ca_file: str | None = None, private_hosts: Collection[str] = ()
) -> Transport:
    """A transport to the service that understands its error answers."""
    return Transport(
        base_url=base_url, deadline_s=deadline_s, failure_of=failure_of, ca_file=ca_file, private_hosts=private_hosts
    )


def failure_of(operation: Operation, answer: Answer) -> CallFailed:
    """What an answer other than 200 means for the caller (chain data, Errors; supplement 1.7)."""
    error = refusals.read(answer.status, answer.body)
    message = f"status {answer.status}" + (f": {error.text}" if error.text else "")
    window = Window.from_headers(answer.headers)
    if error.case is Case.BUSY or (answer.status == 503 and window.remaining == 0 and operation.reads):
        return Busy(message, until_s=window.ends_s)
    if error.case is Case.TOO_LARGE:
        return TooManyAtOnce(error, answer.status)
    is_documented = bool(error.text) and 400 <= answer.status < 600
    if not operation.reads:
        return _failure_of_acting(operation, answer, error, message)
    if error.case is Case.ABSENT and is_documented:
        return Absent(error, answer.status)
    if error.case is Case.AWAY:
        return Unreachable(message)
    return Declined(error, answer.status) if is_documented else BadReply(message)


def _failure_of_acting(operation: Operation, answer: Answer, error: ErrorReply, message: str) -> CallFailed:
    """A refusal is certain only for a single transaction: of several, those before the refused one were sent."""
    certain = 400 <= answer.status < 500 and answer.status != 408 and error.text
    if certain and operation.name != "send_raw_transactions":
        return Declined(error, answer.status)
    return OutcomeUnknown(message, {"status": answer.status, "elapsed_ms": answer.elapsed_ms, "text": error.text})


class Calls:
    """Calls by the names of the catalogue. `unix_ms` and `sleep_ms` are the clock for the limits."""

    def __init__(
        self,
        transport: Transport,
        *,
        date_seen: Callable[[datetime], None] | None = None,
        unix_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        sleep_ms: Callable[[int], None] = lambda length_ms: time.sleep(length_ms / 1000),
    ) -> None:
        self._transport = transport
        self._date_seen = date_seen
        self._unix_ms = unix_ms
        self._sleep_ms = sleep_ms

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def call(self, operation: str, **arguments: object) -> Any:
        """Call any operation of the catalogue by its name, with its parameters by theirs. Returns its record.

        None stands for an absent parameter. Raises `BadArgument` before anything is sent.
        """
        row = _row(operation)
        answer = self.answer(operation, **arguments)
        try:
            return records.decode(answer.body, row.result)
        except BadReply as problem:
            if row.reads:
                raise
            raise OutcomeUnknown(f"Unreadable response: {problem.reason}", {"status": answer.status}) from None

    def answer(self, operation: str, **arguments: object) -> Answer:
        """The same, but returns the answer as it came, its body not decoded."""
        row = _row(operation)
        if row.name in catalogue.WITH_PRIVATE_KEY:
            raise UnknownOperation(f"{operation} carries a private key: it has a way out of its own.")
        answer = self._exchange(bind(row, arguments))
        return replace(answer, body=_flat(answer.body)) if operation == "get_slp_transaction" else answer

    def parts(self, operation: str, values: Sequence[Any], **more: object) -> dict[Any, bytes]:
        """A bulk read in pieces of 20: the body of the single form for each value that was answered.

        A piece that is too large for the service is halved.
        """
        elements: dict[Any, bytes] = {}
        for piece in bulks.pieces(values):
            elements |= self._piece(operation, piece, **more)
        return elements

    def _piece(self, operation: str, values: list[Any], **more: object) -> dict[Any, bytes]:
        try:
            answer = self.answer(operation, **{bulks.BULKS[operation].array: values}, **more)
        except TooManyAtOnce:
            if len(values) == 1:
                raise
            half = len(values) // 2
            return self._piece(operation, values[:half], **more) | self._piece(operation, values[half:], **more)
        return bulks.parts(operation, values, answer.body)

    # One way out -----------------------------------------------------------------------------------------------------

    def _exchange(self, request: Request) -> Answer:
        ends_ms = self._unix_ms() + self._transport.deadline_ns // 1_000_000
        while True:
            remaining_ns = max(ends_ms - self._unix_ms(), 1) * 1_000_000
            try:
                answer = self._once(request, within_ns=remaining_ns)
            except Busy as busy:
                self._hear_date(busy.date)
                await_window(busy, ends_ms=ends_ms, unix_ms=self._unix_ms, sleep_ms=self._sleep_ms)
            except CallFailed as failure:
                self._hear_date(failure.date)
                raise
            else:
                self._hear_date(answer.date)
                return _without_nul(answer)

    def _once(self, request: Request, *, within_ns: int) -> Answer:
        if request.operation.reads:
            return self._transport.read(request, within_ns=within_ns)
        return self._transport.send(request, within_ns=within_ns)

    def _hear_date(self, date: datetime | None) -> None:
        if date is not None and self._date_seen is not None:
            self._date_seen(date)


class ChainClient(Calls):
    """The service: `call`, `answer` and `parts` ask by the names of the catalogue, `send_raw_transaction` acts.

    Reads raise `Absent`, `Declined`, `Busy`, `Unreachable` or `BadReply`. What changes the chain raises `Declined`
    (nothing was done), `Unreachable` (nothing was sent) or `OutcomeUnknown`: find out by looking. `BadArgument` names a
    parameter that is out of its bounds, before anything is sent. Not for use by two threads at once.

    Whoever sends looks for the transaction first, and after a lost answer again (`broadcasts`). Nothing is sent twice.
    Source: chain data, Raw transactions; supplement 1.2, 1.8, 8.
    """

    def send_raw_transaction(self, *, raw: str) -> str:
        """Send a transaction, once. Returns its id as the service names it.

        One that is too long for a URL travels in a body. Raises `Declined` if it was refused, `Unreachable` if it was
        not sent, as is always so if it is too long for a body, too, and `OutcomeUnknown`.
        """
        if len(raw) > catalogue.MOST_HEX_IN_BODY:
            raise Unreachable("the transaction exceeds the chain-data service's limit")
        txids: str | list[str]
        if len(raw) > catalogue.MOST_HEX_IN_PATH:
            txids = self._send_long(raw)
        else:
            txids = self.call("send_raw_transaction", hex=raw)
        if isinstance(txids, str):
            return txids
        if len(txids) != 1:
            raise OutcomeUnknown(f"One transaction was sent, but the service returned {len(txids)} IDs.")
        return txids[0]

    def _send_long(self, raw: str) -> list[str]:
        """Send in the bulk form. A refusal there leaves the fate of earlier transactions open; here there are none."""
        try:
            txids: list[str] = self.call("send_raw_transactions", hexes=[raw])
        except OutcomeUnknown as failure:
            status, text = failure.evidence.get("status"), failure.evidence.get("text")
            if isinstance(status, int) and 400 <= status < 500 and status != 408 and isinstance(text, str) and text:
                raise Declined(ErrorReply(Case.WRONG, text), status) from None
            raise
        return txids


def _without_nul(answer: Answer) -> Answer:
    """The answer with a mark in place of each NUL: a token with one in its name must not make the others unreadable."""
    if b"\\u0000" not in answer.body:
        return answer
    return replace(answer, body=records.NUL.sub(rb"\1\\ufffd", answer.body))


def _row(operation: str) -> Operation:
    row = catalogue.by_name.get(operation)
    if row is None:
        raise UnknownOperation(f"The chain-data service has no operation {operation!r}.")
    return row


def _flat(body: bytes) -> bytes:
    """The details of a token's transaction in the documented form; newer servers wrap them (supplement 3)."""
    try:
        members = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
        if _WRAPPER not in members:
            return body
        return msgspec.json.encode(msgspec.json.decode(members.pop(_WRAPPER), type=dict[str, msgspec.Raw]) | members)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return body  # decoding it reports what is wrong
