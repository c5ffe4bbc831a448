"""Sends requests and says what came of them.

`read` asks: one session of keep-alive connections, repeated on passing failures within one total deadline.
`send` acts: once, in a session of its own, never repeated, never redirected; whatever is not certain is
`OutcomeUnknown`. Nothing is taken from the environment: no proxy, no netrc, no key log.
"""

import os
import re
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from decimal import Decimal

import msgspec

from wire import records
from wire.credentials import Credentials, base64_text
from wire.deadline import Deadline
from wire.errors import BadReply, CallFailed, OutcomeUnknown, Refused, Unreachable
from wire.http_exchange import Answer, Line, Lost, roundtrip
from wire.operation import MASK, Operation, Request
from wire.sessions import Sending

__all__ = ["Answer", "Credentials", "Transport", "Understanding"]

_PAUSES_MS = (50, 250, 1000)  # before the second, third and fourth attempt of a read
_PASSING = frozenset({502, 503, 504})
_EXCERPT = 300  # characters of an odd answer that are kept as evidence
_CONSIDERED = 2**16  # bytes of it that are searched for what we hide: more than the excerpt, so that none is cut in two
_AUTHORIZATION = re.compile(r"\b(basic|hs256)\s+[A-Za-z0-9+/=_-]{16,}", re.IGNORECASE)
_HEADERS = {"Accept": "application/json", "User-Agent": "countersign"}


class _ErrorBody(msgspec.Struct):
    code: int
    message: str | None = None
    description: str | None = None


class _Envelope(msgspec.Struct):
    error: _ErrorBody


Understanding = Callable[[Operation, Answer], CallFailed]
"""What an answer that is not 200 means, for a service with an envelope of its own; it sees nothing that we hide."""


_before_waiting: list[Callable[[], None]] = []


def before_waiting(act: Callable[[], None]) -> None:
    """Declare what this process does before each call waits for an answer, in the thread of the call.

    A process with many threads gives back there what others need meanwhile, such as a connection to the database.
    """
    if act not in _before_waiting:
        _before_waiting.append(act)


class Transport:
    """Calls to one outside service.

    `refusals` are the codes after which it is certain that nothing was done; without them no `send` is ever called
    refused. With `failure_of` that alone says what the service's own errors mean. `deadline_s` is the total time of one
    call, repetitions included. The service lies in the public network, or its host is one of `private_hosts`. Safe for
    threads; `close` it.
    """

    def __init__(
        self,
        *,
        base_url: str,
        credentials: Credentials | None = None,
        deadline_s: int | Decimal = 25,
        refusals: frozenset[int] = frozenset(),
        failure_of: Understanding | None = None,
        ca_file: str | None = None,
        private_hosts: Collection[str] = (),
        unix_s: Callable[[], int] = lambda: int(time.time()),
    ) -> None:
        self._line = Line(base_url, ca_file, private_hosts)
        self._credentials = credentials
        self._deadline_ns = int(deadline_s * 1_000_000_000)
        self._refusals = refusals
        self._failure_of = failure_of
        self._unix_s = unix_s
        self._session = self._line.new_session()
        self._process = os.getpid()

    def close(self) -> None:
        """Closes the kept connections."""
        self._session.close()

    @property
    def deadline_ns(self) -> int:
        """The total time of one call, in nanoseconds, when the call names none."""
        return self._deadline_ns

    # Asking ----------------------------------------------------------------------------------------------------------

    def read(self, request: Request, *, within_ns: int | None = None) -> Answer:
        """Asks, and asks again after failed connections and 502, 503, 504, while the deadline (`within_ns`) allows.

        The answer has status 200; its records are for the caller to decode. Raises `Refused`, `BadReply` for an answer
        that is not documented, `Unreachable` when there is none: try later.
        """
        if not request.operation.reads:
            raise ValueError(f"{request.operation.name} is not a read")
        if self._process != os.getpid():  # connections are not shared with the process that this one was forked from
            self._session, self._process = self._line.new_session(), os.getpid()
        sending = self._sending(request)
        _prepare_to_wait()
        with Deadline(self._deadline_ns if within_ns is None else within_ns) as deadline:
            came = roundtrip(self._session.ask, sending, deadline)
            for pause_ms in _PAUSES_MS:
                passing = came.passing if isinstance(came, Lost) else came.status in _PASSING
                if not (passing and request.operation.repeatable and deadline.left_ns > pause_ms * 1_000_000):
                    break
                time.sleep(pause_ms / 1000)
                came = roundtrip(self._session.ask, sending, deadline)
        if isinstance(came, Lost):
            raise Unreachable(came.reason) if came.passing else BadReply(came.reason)
        return self._read_answer(request, came)

    def _read_answer(self, request: Request, came: Answer) -> Answer:
        if came.status == 200:
            return came
        if self._failure_of is not None:
            raise _dated(self._failure_of(request.operation, self._without_hidden(request, came)), came)
        error = _error_of(came)
        if error is not None and 400 <= came.status < 500:
            raise self._refused(request, error, came)
        sentence = f"status {came.status}" + (f", {self._refused(request, error, came)}" if error else "")
        if came.status >= 500 or came.status in (408, 429):
            raise _dated(Unreachable(sentence), came)
        raise _dated(BadReply(f"{sentence}: {self._excerpt(request, came)}"), came)

    # Acting ----------------------------------------------------------------------------------------------------------

    def send(self, request: Request, *, within_ns: int | None = None) -> Answer:
        """Acts once: a connection of its own, no repetition, no redirect. The answer decodes as the operation's result.

        Raises `Refused` for the error body with a code of `refusals`; `Unreachable` only when no connection was made;
        `OutcomeUnknown` for everything else that is not the documented reply.
        """
        if request.operation.reads:
            raise ValueError(f"{request.operation.name} is a read")
        sending = self._sending(request)
        length_ns = self._deadline_ns if within_ns is None else within_ns
        _prepare_to_wait()
        with self._line.new_session() as session, Deadline(length_ns) as deadline:
            came = roundtrip(session.act, sending, deadline)
        if isinstance(came, Lost):
            if came.unsent:
                raise Unreachable(came.reason)
            raise OutcomeUnknown(came.reason, {"elapsed_ms": came.elapsed_ms})
        return self._send_answer(request, came)

    def _send_answer(self, request: Request, came: Answer) -> Answer:
        reason = f"status {came.status}"
        if came.status == 200:
            try:
                records.decode(came.body, request.operation.result)
            except BadReply as problem:
                reason = problem.reason
            else:
                return came
        elif self._failure_of is not None:
            raise _dated(self._failure_of(request.operation, self._without_hidden(request, came)), came)
        error = _error_of(came)
        if error is not None and 400 <= came.status < 500 and error.code in self._refusals:
            raise self._refused(request, error, came)
        evidence: dict[str, object] = {
            "status": came.status,
            "elapsed_ms": came.elapsed_ms,
            "body": self._excerpt(request, came),
        }
        if error is not None:
            evidence["code"] = error.code
        raise _dated(OutcomeUnknown(self._clean(request, reason), evidence), came)

    # Both ------------------------------------------------------------------------------------------------------------

    def _sending(self, request: Request) -> Sending:
        return Sending(request.method, self._line.prefix + request.target, self._headers(request), request.body)

    def _headers(self, request: Request) -> dict[str, str]:
        headers = dict(_HEADERS)
        if request.operation.reads:
            headers["Accept-Encoding"] = "gzip"
        if request.body:
            headers["Content-Type"] = request.content_type
        if self._credentials is not None and not request.operation.public:
            headers["Authorization"] = self._credentials.authorization(
                method=request.method,
                target=self._line.prefix + request.target,
                body=request.body,
                unix_s=self._unix_s(),
            )
        return headers

    def _refused(self, request: Request, error: _ErrorBody, came: Answer) -> CallFailed:
        texts = self._clean(request, error.message), self._clean(request, error.description)
        return _dated(Refused(error.code, *texts, http_status=came.status), came)

    def _excerpt(self, request: Request, came: Answer) -> str:
        return self._clean(request, came.body[:_CONSIDERED].decode("utf-8", "replace"))

    def _without_hidden(self, request: Request, came: Answer) -> Answer:
        """The answer without the texts of sensitive parameters, in whichever case it repeats them."""
        body = came.body[:_CONSIDERED].decode("utf-8", "replace")
        for each in request.hidden:
            body = re.sub(re.escape(each), MASK, body, flags=re.IGNORECASE)
        return replace(came, body=body.encode())

    def _clean(self, request: Request, text: str | None) -> str:
        """A text of the other side, fit for logs and pages: short, printable, without what we hide."""
        text, hidden = text or "", request.hidden
        if self._credentials is not None:
            secret = self._credentials.secret.reveal()
            hidden += (secret, base64_text(f"{self._credentials.login}:{secret}"))
        for each in hidden:
            text = text.replace(each, MASK)
        text = _AUTHORIZATION.sub(MASK, text)
        return "".join(character if character.isprintable() else " " for character in text)[:_EXCERPT]


def _prepare_to_wait() -> None:
    for act in _before_waiting:
        act()


def _error_of(came: Answer) -> _ErrorBody | None:
    try:
        return msgspec.json.decode(came.body, type=_Envelope).error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _dated(problem: CallFailed, came: Answer) -> CallFailed:
    problem.date = came.date
    return problem
