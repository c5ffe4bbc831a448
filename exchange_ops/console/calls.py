"""Sending one request from the console: a person asks, a worker sends it once, and the answer stays for a while.

Only what asks is sent from here: an operation that moves money, orders or access is refused before a row is made, and
once more before the bytes leave. A request whose worker ended with it is not sent again: it says that no answer came,
and a person presses again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

from django.db import IntegrityError, transaction

from desk import clock, outbox
from desk.live import announcements
from desk.models import Person
from exchange_ops.console import entries
from exchange_ops.console.entries import Entry
from exchange_ops.console.forms import read_arguments
from exchange_ops.console.models import ConsoleCall
from exchange_ops.console.redaction import redacted
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from wire.errors import CallFailed, Refused

TASK: Final = "exchange_ops.console_call"
MOST_UNDER_WAY: Final = 5  # requests of one person that have no answer yet
MOST_A_MINUTE: Final = 30  # requests of one person
LOST_AFTER: Final = timedelta(seconds=90)  # longer than any request takes
_WAKE_AGAIN: Final = timedelta(seconds=10)
_LOST: Final = "The worker ended before an answer came. It only asked: send it again."
_State = ConsoleCall.State


class CannotSend(ValueError):
    """Nothing was sent; the text says why."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: the status of HTTP where there is one, the body, and how long it took."""

    body: bytes
    elapsed_ms: int
    status: int | None = None
    hidden: tuple[str, ...] = ()


class Send(Protocol):
    """What sends a request and gives what came. Raises `CallFailed` and `CannotSend`."""

    def __call__(self, entry: Entry, *, account: Account | None, arguments: Mapping[str, object]) -> Reply: ...


def topic(call: ConsoleCall) -> str:
    """What a page follows to hear of the answer."""
    return f"consolecall:{call.pk}"


def request(
    *, person: Person, account: Account | None, entry: Entry, texts: Mapping[str, str], request_key: str, now: datetime
) -> ConsoleCall:
    """Have a worker send this, once however often the form is sent. Raises `CannotSend` and `BadArgument`."""
    if entry.elsewhere is not None:
        raise CannotSend(f"Nothing was sent. {entry.elsewhere.sentence}")
    if entry.needs_key and account is None:
        raise CannotSend("Nothing was sent: this needs a key, and no exchange account was set up yet.")
    if entry.needs_key and not rules.may_send_requests(person, account):
        raise CannotSend("Nothing was sent: your roles don't allow this for the account.")
    read_arguments(entry, texts)
    known = ConsoleCall.objects.filter(person=person, request_key=request_key).first()
    if known is not None:
        return known
    _refuse_too_many(person, now)
    try:
        with transaction.atomic():
            call = ConsoleCall.objects.create(
                person=person,
                account=account if entry.needs_key else None,
                request_key=request_key,
                service=entry.service,
                operation=entry.name,
                arguments=dict(texts),
                asked_at=now,
            )
            outbox.wake(TASK, call.pk)
    except IntegrityError:
        return ConsoleCall.objects.get(person=person, request_key=request_key)
    return call


def _refuse_too_many(person: Person, now: datetime) -> None:
    mine = ConsoleCall.objects.filter(person=person)
    if mine.filter(state__in=(_State.WAITING, _State.SENDING)).count() >= MOST_UNDER_WAY:
        raise CannotSend(
            f"Nothing was sent: {MOST_UNDER_WAY} of your requests have no answer yet. Wait for one of them."
        )
    if mine.filter(asked_at__gt=now - timedelta(minutes=1)).count() >= MOST_A_MINUTE:
        raise CannotSend(f"Nothing was sent: you sent {MOST_A_MINUTE} requests within a minute. Wait a minute.")


def perform(call_id: int, *, now: datetime, send: Send) -> None:
    """Send one request that waits, and keep what came back; nothing when somebody else has it."""
    waiting = ConsoleCall.objects.filter(pk=call_id, state=_State.WAITING)
    if not waiting.update(state=_State.SENDING, claimed_at=now):
        return
    call = ConsoleCall.objects.select_related("account").get(pk=call_id)
    _close(call, **_outcome(call, send))


def sweep(*, now: datetime) -> None:
    """Wake a worker again for what waits too long, and say of what was lost with its worker that no answer came."""
    for call in ConsoleCall.objects.filter(state=_State.WAITING, asked_at__lt=now - _WAKE_AGAIN)[:100]:
        outbox.wake(TASK, call.pk)
    for call in ConsoleCall.objects.filter(state=_State.SENDING, claimed_at__lt=now - LOST_AFTER)[:100]:
        _close(
            call, state=_State.FAILED, problem="The worker ended before an answer came. It only asked: send it again."
        )


def _outcome(call: ConsoleCall, send: Send) -> dict[str, Any]:
    """The columns that say what came of it."""
    entry = entries.entry(call.service, call.operation)
    if entry is None or entry.elsewhere is not None:
        return {"state": _State.FAILED, "problem": "Nothing was sent: this release sends no such request from here."}
    try:
        reply = send(entry, account=call.account, arguments=read_arguments(entry, call.arguments))
    except Refused as refusal:
        return {"state": _State.REFUSED, "problem": str(refusal)[:500], "status": refusal.http_status}
    except (CallFailed, ValueError, LookupError) as problem:
        return {"state": _State.FAILED, "problem": (str(problem) or type(problem).__name__)[:500]}
    return {
        "state": _State.ANSWERED,
        "status": reply.status,
        "elapsed_ms": reply.elapsed_ms,
        "answer": redacted(reply.body, reply.hidden),
        "answer_bytes": len(reply.body),
    }


def _close(call: ConsoleCall, **columns: Any) -> None:
    with transaction.atomic():
        under_way = ConsoleCall.objects.filter(pk=call.pk, state=_State.SENDING)
        if under_way.update(answered_at=clock.now(), **columns):
            announcements.announce(topic(call))
