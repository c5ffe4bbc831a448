"""Asking the exchange for a new deposit address: once, with a row before the call, and never again by a machine.

It moves no money, but each one counts against the five of a day, so a lost answer is resolved by reading the exchange's
list of addresses. `machine` moves its states.
"""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet

from desk.machines import calls
from desk.machines.queue import Queue
from desk.machines.requests import LONGEST_KEY, Once
from desk.machines.step_clock import SEND_WITHIN, Stopwatch
from exchange_ops.addresses import deposits, machine, states
from exchange_ops.addresses.models import AddressRequest, DepositAddress
from exchange_ops.addresses.states import OPEN_REQUESTS, SPENT_REQUESTS
from exchange_ops.client import ExchangeClient
from exchange_ops.keys import answering, clients
from exchange_ops.keys.clients import ClientFor
from exchange_ops.keys.store import NoUsableKey
from exchange_ops.market.models import Currency
from exchange_ops.shared import rules
from exchange_ops.shared.calls import reply_of
from exchange_ops.shared.models import Account
from exchange_ops.wire import records
from exchange_ops.wire.catalogue import Right
from wire.errors import BadReply, CallFailed
from wire.operation import BadArgument

if TYPE_CHECKING:
    from desk.models import Person

ADVANCE_TASK = machine.ADVANCE_TASK
NEW_A_DAY, DAY = 5, timedelta(hours=24)
LIMIT_EXCEEDED = 20003
LOOKS_S = (5, 15, 30, 60, 60)  # pauses between two searches for an address whose answer was lost
QUIET = timedelta(minutes=2)  # from the send until its absence means that none was made
_UNREADABLE = (CallFailed, BadArgument, NoUsableKey)


class CannotAsk(Exception):
    """No new address was asked for; the text is the sentence for the person."""


def request(
    *,
    initiator: "Person",
    account: Account,
    currency: str,
    request_key: str,
    now: datetime,
    via: str = "page",
    session_key: str = "",
) -> AddressRequest:
    """Request a new address. The same `request_key` of the same person always gives the same row. Raises CannotAsk."""
    once = Once(
        AddressRequest.objects.filter(initiator=initiator, request_key=request_key),
        is_same=lambda row: (row.account_id, row.currency) == (account.pk, currency),
        refusal=_sent_before,
    )
    if (earlier := once.earlier()) is not None:
        return earlier
    if not rules.may_request(initiator, account):
        raise CannotAsk("No new address was requested: only operators can request one.")
    if not 0 < len(request_key) <= LONGEST_KEY:
        raise CannotAsk("No new address was requested: the form is incomplete. Reload the page and try again.")
    if problem := problem_of(account=account, currency=currency, now=now):
        raise CannotAsk(f"No new address was requested. {problem}")
    row = AddressRequest(initiator=initiator, account=account, currency=currency, request_key=request_key)
    row.initiated_via = via
    try:
        return once.store(lambda: machine.create(row, event="asked", now=now, actor=initiator, session_key=session_key))
    except IntegrityError:
        raise CannotAsk("No new address was requested: a colleague has just requested one.") from None


def problem_of(*, account: Account, currency: str, now: datetime) -> str:
    """Why no new address of this currency can be requested now, or an empty text."""
    if problem := deposits.problem_of(Currency.objects.filter(pk=currency).first()):
        return problem
    if AddressRequest.objects.filter(account=account, currency=currency, state__in=OPEN_REQUESTS).exists():
        return f"An earlier request for a new {currency} address is still pending."
    opens_at = next_at(account=account, currency=currency, now=now)
    if opens_at is None:
        return ""
    return (
        f"The exchange issues at most {NEW_A_DAY} new {currency} addresses per 24 hours, and that limit has been "
        f"reached. You can request the next one from {opens_at:%Y-%m-%d %H:%M:%S} UTC."
    )


def remaining_today(*, account: Account, currency: str, now: datetime) -> int:
    """How many more may be requested today, as far as this desk knows."""
    return max(0, NEW_A_DAY - _spent_requests(account, currency, now).count())


def next_at(*, account: Account, currency: str, now: datetime) -> datetime | None:
    """When the next new address may be requested; None when one may be requested now."""
    requests_sent = list(_spent_requests(account, currency, now).order_by("-sent_at")[:NEW_A_DAY])
    oldest = requests_sent[-1].sent_at if len(requests_sent) == NEW_A_DAY else None
    return oldest + DAY if oldest is not None else None


def _ask(row: AddressRequest, *, now: datetime, client_for: ClientFor) -> None:
    """Read the list, claim, send once. Where the list can't be read, nothing is sent."""
    watch = Stopwatch(now)
    try:
        with clients.client(client_for, account=row.account, right=Right.PAYMENTS) as client:
            known_addresses = deposits.as_texts(_listed_addresses(client, row.currency))
            now, send_by = watch.now(), watch.now() + SEND_WITHIN
            claim: dict[str, Any] = {"known": known_addresses, "sent_at": now, "send_by": send_by, "moves_money": False}
            calls.claim(
                machine.MACHINE, row, event="sending", to=states.SENDING, now=now, prepare=lambda: None, **claim
            )
            last_look = lambda: calls.too_late(watch, send_by)  # noqa: E731
            reply = reply_of(lambda: client.create_deposit_address(currency=row.currency, last_look=last_look))
    except _UNREADABLE as failure:
        if row.state != states.REQUESTED:  # once claimed, only the outcome of the call decides
            raise
        _move(row, "not_sent", now=watch.now(), last_problem=answering.sentence_of(failure))
        return
    _BY_OUTCOME[reply.outcome](row, reply, watch.now())


def _on_accepted(row: AddressRequest, reply: calls.Reply, now: datetime) -> None:
    record: records.DepositAddress = reply.value
    if not deposits.keepable(record):
        _on_unknown(
            row, calls.Reply(calls.UNKNOWN, problem="The exchange returned an invalid address (too long)."), now
        )
        return
    with transaction.atomic():
        address = deposits.keep(account=row.account, currency=row.currency, record=record, now=now)
        DepositAddress.objects.filter(account=row.account, currency=row.currency).update(is_current=False)
        DepositAddress.objects.filter(pk=address.pk).update(is_current=True)
        _move(row, "made", now=now, made=address, answered_at=now, evidence={"address": address.address})
    deposits.ask(account=row.account, currency=row.currency, person=None, now=now, anew=True)


def _on_refused(row: AddressRequest, reply: calls.Reply, now: datetime) -> None:
    problem = reply.problem
    if reply.code == LIMIT_EXCEEDED:
        problem = f"The exchange issues at most {NEW_A_DAY} new addresses per 24 hours: {problem}"
    columns = {"error_code": reply.code, "last_problem": problem[:500]}
    _move(row, "refused", now=now, answered_at=now, **columns)


def _on_not_sent(row: AddressRequest, reply: calls.Reply, now: datetime) -> None:
    _move(row, "not_sent", now=now, last_problem=reply.problem[:500])


def _on_unknown(row: AddressRequest, reply: calls.Reply, now: datetime) -> None:
    if row.state == states.UNKNOWN:
        _wait(row, now, looks=row.looks + 1, problem=reply.problem)
        return
    soon = now + timedelta(seconds=LOOKS_S[0])
    _move(row, "unknown", now=now, next_action_at=soon, last_problem=reply.problem[:500])


_BY_OUTCOME: Final[dict[str, calls.OnOutcome]] = {
    calls.ACCEPTED: _on_accepted,
    calls.REFUSED: _on_refused,
    calls.NOT_SENT: _on_not_sent,
    calls.UNKNOWN: _on_unknown,
}


def _on_lease_expired(row: AddressRequest, *, now: datetime, client_for: ClientFor) -> None:
    """The worker that sent it died: nobody knows what the exchange answered."""
    problem = "The worker stopped before the exchange's response was saved."
    _on_unknown(row, calls.Reply(calls.UNKNOWN, problem=problem), now)


def _look_for_address(row: AddressRequest, *, now: datetime, client_for: ClientFor) -> None:
    """Look for an address that was not listed before the call; if none appears, none was made."""
    watch = Stopwatch(now)
    try:
        with clients.client(client_for, account=row.account, right=Right.PAYMENTS) as client:
            addresses = _listed_addresses(client, row.currency)
    except _UNREADABLE as failure:
        _wait(row, watch.now(), looks=row.looks, problem=answering.sentence_of(failure))
        return
    addresses_before = set(row.known)
    new_addresses = [
        one for one, name in zip(addresses, deposits.as_texts(addresses), strict=True) if name not in addresses_before
    ]
    if new_addresses:
        _on_accepted(row, calls.Reply(calls.ACCEPTED, value=new_addresses[0]), watch.now())
    elif row.looks + 1 >= len(LOOKS_S) and row.sent_at is not None and watch.now() - row.sent_at >= QUIET:
        _move(row, "absent", now=watch.now(), looks=row.looks + 1)
    else:
        _wait(row, watch.now(), looks=row.looks + 1, problem=row.last_problem)


def _wait(row: AddressRequest, now: datetime, *, looks: int, problem: str) -> None:
    pause = LOOKS_S[min(looks, len(LOOKS_S) - 1)]
    machine.touch(row, looks=looks, last_problem=problem[:500], next_action_at=now + timedelta(seconds=pause))


def _listed_addresses(client: ExchangeClient, currency: str) -> list[records.DepositAddress]:
    listing = client.get_deposit_addresses(currency=currency)
    if listing.asides:
        raise BadReply(f"an address is unreadable: {listing.asides[0].reason}")
    return list(listing.records)


def _spent_requests(account: Account, currency: str, now: datetime) -> QuerySet[AddressRequest]:
    return AddressRequest.objects.filter(
        account=account, currency=currency, state__in=SPENT_REQUESTS, sent_at__gt=now - DAY
    )


def _sent_before(_: AddressRequest) -> CannotAsk:
    return CannotAsk(
        "No new address was requested: this form was already submitted for another currency. Reload the page and "
        "try again."
    )


def _move(row: AddressRequest, to: str, *, now: datetime, **columns: Any) -> None:
    """A worker's move, named by the state that it leads to; raises CannotMove when the row moved on."""
    problem = columns.get("last_problem", "")
    evidence = columns.pop("evidence", {}) | ({"problem": problem} if problem else {})
    machine.move(row, event=to, to=to, now=now, evidence=evidence, **columns)


QUEUE: Final = Queue(
    machine.MACHINE,
    {"asked": _ask, "sending": _on_lease_expired, "unknown": _look_for_address},
    # Rows that were claimed before a claim said when to go on with them.
    also_due=lambda now: Q(state=states.SENDING, lease_until__lte=now),
    read_with=("account",),
    lane=("account_id", "state"),
)
advance, look, sweep, due = QUEUE.advance, QUEUE.look, QUEUE.sweep, QUEUE.due
