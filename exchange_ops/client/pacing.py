"""Calls leave when the budget has a place for them; a read that is answered 429 waits and is sent again.

One total time covers waiting, repeating and the call itself: the transport's own deadline plus the time that the call
asks the exchange to wait. A call that acts is never sent again, and waits at most a fifth of its time for a place: the
rest is for its answer, because a call that is cut short has an unknown outcome.
"""

import time
from collections.abc import Callable

from exchange_ops.client.budgets import Budget, KeyBudget, NoPlace, urgency_of
from wire.errors import CallFailed, OutcomeUnknown, Refused, Unreachable
from wire.operation import Request
from wire.transport import Answer, Transport

LastLook = Callable[[], str]
"""Called right before the first byte of a call that acts, after any wait: a sentence stops the call."""

TOO_MANY = 429
_MS = 1_000_000
# The part of its time that a call that acts may wait for its place: of the usual 25 seconds five. A place is free again
# one second after an answer, so several become free in that time; a call that still has none meets a jam that is better
# reported than waited for. Four fifths remain for the answer.
_WAITING_PART = 5


class PacedTransport:
    """Sends one call through a transport within the budget of its key; without a budget it leaves at once."""

    def __init__(self, transport: Transport, budget: KeyBudget | None, *, last_look: LastLook = str) -> None:
        self._transport = transport
        self._budget = budget
        self._last_look = last_look

    def exchange(self, request: Request, *, longer_ms: int = 0) -> Answer:
        """Read or send, depending on the operation; raises like the transport, and `Unreachable` without a place."""
        total_ns = self._transport.deadline_ns + longer_ms * _MS
        if self._budget is None:
            return self._leave(request, total_ns)
        budget = self._budget.budget_for(request.operation)
        ends_ns = time.monotonic_ns() + total_ns
        if request.method != "GET":
            return self._in_turn(request, budget, ends_ns, patience_ns=total_ns // _WAITING_PART)
        last_failure: CallFailed | None = None
        while True:
            try:
                return self._in_turn(request, budget, ends_ns, patience_ns=ends_ns - time.monotonic_ns())
            except NoPlaceInTime:
                if last_failure is None:
                    raise
                raise last_failure from None
            except CallFailed as failure:
                if not _is_too_many(failure):
                    raise
                last_failure = failure

    def _in_turn(self, request: Request, budget: Budget, ends_ns: int, *, patience_ns: int) -> Answer:
        try:
            with budget.place(urgency_of(request.operation), within_ns=patience_ns):
                answer = self._leave(request, ends_ns - time.monotonic_ns())
        except NoPlace:
            raise NoPlaceInTime("not sent: too many requests in progress") from None
        except CallFailed as failure:
            (budget.refused if _is_too_many(failure) else budget.answered)()
            raise
        budget.answered()
        return answer

    def _leave(self, request: Request, within_ns: int) -> Answer:
        if request.method == "GET":
            return self._transport.read(request, within_ns=within_ns)
        if problem := self._last_look():
            raise HeldBack(problem)
        return self._transport.send(request, within_ns=within_ns)


class HeldBack(Unreachable):
    """The last look before the send found a reason not to: it was not sent."""


class NoPlaceInTime(Unreachable):
    """The budget had no place for the call within its time: it was not sent."""


def _is_too_many(failure: CallFailed) -> bool:
    match failure:
        case Refused(code=code, http_status=status):
            return TOO_MANY in (code, status)
        case OutcomeUnknown(evidence=evidence):
            return evidence.get("status") == TOO_MANY
        case Unreachable(reason=reason):
            return reason.startswith(f"status {TOO_MANY}")
    return False
