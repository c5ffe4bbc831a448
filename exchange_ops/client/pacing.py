"""Calls leave when there is a place in the budget; a read that is told 429 waits and asks again.

One total time covers waiting, asking again and the call itself: the transport's own deadline, and on top of it what the
call asks the exchange itself to wait. What acts is never sent again, and waits for a fifth of its time at most: the
rest is for its answer, because a call that is cut short has an unknown outcome.
"""

import time
from collections.abc import Callable

from exchange_ops.client.budgets import Budget, KeyBudget, NoPlace, urgency_of
from wire.errors import CallFailed, OutcomeUnknown, Refused, Unreachable
from wire.operation import Request
from wire.transport import Answer, Transport

LastLook = Callable[[], str]
"""Asked right before the first byte of a call that acts, after any wait: what it says stops the call."""

TOO_MANY = 429
_MS = 1_000_000
# The part of its time that a call that acts may wait for its place. Of the usual 25 seconds it is five: a place is free
# again one second after an answer, so they come round several times, and whoever still has none by then meets a jam
# that is better told than waited for. Four fifths are left for the answer.
_WAITING_PART = 5


class PacedTransport:
    """The way of one call out of a transport, behind the budget of its key; without a budget it leaves at once."""

    def __init__(self, transport: Transport, budget: KeyBudget | None, *, last_look: LastLook = str) -> None:
        self._transport = transport
        self._budget = budget
        self._last_look = last_look

    def exchange(self, request: Request, *, longer_ms: int = 0) -> Answer:
        """Read or send, as the operation is; raises what the transport raises, and `Unreachable` without a place."""
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
            raise NoPlaceInTime("too many calls are on their way already; this one was not sent") from None
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
