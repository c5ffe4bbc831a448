"""Sending one request from the console: a person asks, a worker sends it once, and the answer stays for a while.

Only questions are sent from here: an operation that moves money, orders or access is refused before a row is made, and
again before the bytes leave. A request whose worker died is not sent again: it shows that no answer came, and a person
may send it again.
"""

import re
from collections.abc import Collection, Mapping
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
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from wire.errors import CallFailed, Refused
from wire.params import MASK

TASK: Final = "exchange_ops.console_call"
MOST_UNDER_WAY: Final = 5  # requests of one person that have no answer yet
MOST_A_MINUTE: Final = 30  # requests of one person
LOST_AFTER: Final = timedelta(seconds=90)  # longer than any request takes
_WAKE_AGAIN: Final = timedelta(seconds=10)
_LOST: Final = "No response: the worker stopped. The request was read-only, so you can safely send it again."
MOST_CHARACTERS: Final = 200_000  # of a stored answer; a complete long listing is exported from its own page
_SECRET_MEMBER: Final = re.compile(
    r'("(?:\w*(?:secret|password|private_?key|mnemonic|authorization|api_?key|skey)\w*|\w*wif)"\s*:\s*)"(?:[^"\\]|\\.)*"',
    re.IGNORECASE | re.ASCII,
)
_State = ConsoleCall.State


class CannotSend(ValueError):
    """Nothing was sent; the text says why."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer: the HTTP status where there is one, the body, the duration, and secrets to mask in it."""

    body: bytes
    elapsed_ms: int
    status: int | None = None
    hidden: tuple[str, ...] = ()


class Send(Protocol):
    """Sends a request and returns the answer. Raises `CallFailed` and `CannotSend`."""

    def __call__(self, entry: Entry, *, account: Account | None, arguments: Mapping[str, object]) -> Reply: ...


def topic(call: ConsoleCall) -> str:
    """The topic that announces the answer."""
    return f"consolecall:{call.pk}"


def request(
    *, person: Person, account: Account | None, entry: Entry, texts: Mapping[str, str], request_key: str, now: datetime
) -> ConsoleCall:
    """Have a worker send this once, however often the form is submitted. Raises `CannotSend` and `BadArgument`."""
    if entry.elsewhere is not None:
        raise CannotSend(f"Not sent. {entry.elsewhere.sentence}")
    if entry.needs_key and account is None:
        raise CannotSend("Not sent: this request needs an API key, and no exchange account is set up yet.")
    if entry.needs_key and not rules.may_send_requests(person, account):
        raise CannotSend("Not sent: your role on this account does not allow this request.")
    read_arguments(entry, texts)
    existing = ConsoleCall.objects.filter(person=person, request_key=request_key).first()
    if existing is not None:
        return existing
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
            f"Not sent: {MOST_UNDER_WAY} of your requests are still awaiting a response. Try again once one completes."
        )
    lately = clock.recent("asked_at", now - timedelta(minutes=1), now=now)
    if mine.filter(lately).count() >= MOST_A_MINUTE:
        raise CannotSend(f"Not sent: limit of {MOST_A_MINUTE} requests per minute reached. Try again in a minute.")


def perform(call_id: int, *, now: datetime, send: Send) -> None:
    """Send one waiting request and store the answer, unless another worker has claimed it."""
    waiting = ConsoleCall.objects.filter(pk=call_id, state=_State.WAITING)
    if not waiting.update(state=_State.SENDING, claimed_at=now):
        return
    call = ConsoleCall.objects.select_related("account").get(pk=call_id)
    _close(call, **_outcome(call, send))


def sweep(*, now: datetime) -> None:
    """Wake a worker again for requests that wait too long, and close those whose worker died."""
    unclaimed = clock.older("asked_at", now - _WAKE_AGAIN, now=now)
    for call in ConsoleCall.objects.filter(unclaimed, state=_State.WAITING)[:100]:
        outbox.wake(TASK, call.pk)
    lost = clock.older("claimed_at", now - LOST_AFTER, now=now)
    for call in ConsoleCall.objects.filter(lost, state=_State.SENDING)[:100]:
        _close(call, state=_State.FAILED, problem=_LOST)


def _outcome(call: ConsoleCall, send: Send) -> dict[str, Any]:
    """The columns of the outcome."""
    entry = entries.entry(call.service, call.operation)
    if entry is None or entry.elsewhere is not None:
        return {"state": _State.FAILED, "problem": "Not sent: this request is not available in the console."}
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


def redacted(body: bytes, hidden: Collection[str] = ()) -> str:
    """The answer as text of bounded length with every secret masked; figures stay digit for digit."""
    text = body.decode("utf-8", "replace").replace("\x00", "\ufffd")
    text = _SECRET_MEMBER.sub(rf'\1"{MASK}"', text)
    for secret in hidden:
        if secret:
            text = text.replace(secret, MASK)
    return text[:MOST_CHARACTERS]
