"""How every call of the chain-data service leaves and comes back.

Its errors have an envelope of their own (`wire/refusals.py`). Its limits are told in headers of every answer: a call
that came too early waits for the end of the window when that lies within the call's own time, and otherwise says when
to try again. Nothing that changes the chain is ever sent twice.
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
from chaindata.wire.refusals import Case, Spoken
from wire import operation as operations
from wire import records as wire_records
from wire.errors import BadReply, CallFailed, OutcomeUnknown, Refused, Unreachable
from wire.operation import Operation, Request
from wire.transport import Answer, Transport

DEADLINE_S = 15
_WRAPPER = "retData"


class UnknownOperation(ValueError):
    """There is no operation of that name in the catalogue, or it is not one for this way of asking."""


class Declined(Refused):
    """The service said no to the question itself; `text` are its own words, cut and printable."""

    def __init__(self, spoken: Spoken, http_status: int) -> None:
        super().__init__(spoken.code or 0, spoken.text or f"status {http_status}", http_status=http_status)
        self.case = spoken.case
        self.text = self.message

    def __str__(self) -> str:
        return self.text


class Absent(Declined):
    """There is no such thing, as far as the service knows now: later there may be."""


class TooManyAtOnce(Declined):
    """More elements in one question than the service takes; asked in smaller pieces it may answer."""


def open_transport(
    *, base_url: str, deadline_s: int = DEADLINE_S, ca_file: str | None = None, private_hosts: Collection[str] = ()
) -> Transport:
    """A way to the service that understands what it says when it says no."""
    return Transport(
        base_url=base_url, deadline_s=deadline_s, failure_of=failure_of, ca_file=ca_file, private_hosts=private_hosts
    )


def failure_of(operation: Operation, came: Answer) -> CallFailed:
    """What an answer that is not 200 means for who asked (chain data, Errors; supplement 1.7)."""
    spoken = refusals.read(came.status, came.body)
    message = f"status {came.status}" + (f": {spoken.text}" if spoken.text else "")
    window = Window.of(came.headers)
    if spoken.case is Case.BUSY or (came.status == 503 and window.left == 0 and operation.reads):
        return Busy(message, until_s=window.ends_s)
    if spoken.case is Case.TOO_LARGE:
        return TooManyAtOnce(spoken, came.status)
    documented = bool(spoken.text) and 400 <= came.status < 600
    if not operation.reads:
        return _failure_of_acting(operation, came, spoken, message)
    if spoken.case is Case.ABSENT and documented:
        return Absent(spoken, came.status)
    if spoken.case is Case.AWAY:
        return Unreachable(message)
    return Declined(spoken, came.status) if documented else BadReply(message)


def _failure_of_acting(operation: Operation, came: Answer, spoken: Spoken, message: str) -> CallFailed:
    """A refusal is certain only of a single sending: of several, those before the refused one stay sent."""
    certain = 400 <= came.status < 500 and came.status != 408 and spoken.text
    if certain and operation.name != "send_raw_transactions":
        return Declined(spoken, came.status)
    return OutcomeUnknown(message, {"status": came.status, "elapsed_ms": came.elapsed_ms, "text": spoken.text})


class Calls:
    """The service, asked by the names of the catalogue. `unix_ms` and `sleep_ms` are the clock that limits go by."""

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
        """Let go of the connections."""
        self._transport.close()

    def call(self, operation: str, **arguments: object) -> Any:
        """Any operation of the catalogue by its name, with the parameters under their own names; gives its record.

        None stands for an absent parameter. Raises `BadArgument` before anything is sent.
        """
        row = _row(operation)
        answer = self.answer(operation, **arguments)
        try:
            return wire_records.decode(answer.body, row.result)
        except BadReply as problem:
            if row.reads:
                raise
            raise OutcomeUnknown(f"The answer can't be read: {problem.reason}", {"status": answer.status}) from None

    def answer(self, operation: str, **arguments: object) -> Answer:
        """The same, and the answer as it came: its body is not looked at yet."""
        row = _row(operation)
        if row.name in catalogue.WITH_PRIVATE_KEY:
            raise UnknownOperation(f"{operation} carries a private key: it has a way out of its own.")
        answer = self._exchange(operations.bind(row, arguments))
        return replace(answer, body=_flat(answer.body)) if operation == "get_slp_transaction" else answer

    def parts(self, operation: str, values: Sequence[Any], **more: object) -> dict[Any, bytes]:
        """A bulk read in pieces of 20: the body of the single form for each value, without those not answered.

        A piece that is too large for the service is halved.
        """
        found: dict[Any, bytes] = {}
        for piece in bulks.pieces(values):
            found |= self._piece(operation, piece, **more)
        return found

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
            left_ns = max(ends_ms - self._unix_ms(), 1) * 1_000_000
            try:
                answer = self._once(request, within_ns=left_ns)
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


def _without_nul(answer: Answer) -> Answer:
    """The answer with a mark in place of each NUL: anybody can name a token so, and must not hide the others by it."""
    if b"\\u0000" not in answer.body:
        return answer
    return replace(answer, body=wire_records.NUL.sub(rb"\1\\ufffd", answer.body))


def _row(operation: str) -> Operation:
    row = catalogue.by_name.get(operation)
    if row is None:
        raise UnknownOperation(f"The chain-data service has no operation {operation!r}.")
    return row


def _flat(body: bytes) -> bytes:
    """The details of a token's transaction in the documented form: the last servers wrap them (supplement 3)."""
    try:
        members = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
        if _WRAPPER not in members:
            return body
        return msgspec.json.encode(msgspec.json.decode(members.pop(_WRAPPER), type=dict[str, msgspec.Raw]) | members)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return body  # whoever reads it says what is wrong
