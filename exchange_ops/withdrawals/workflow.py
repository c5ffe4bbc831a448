"""The interface of withdrawals: request one, cancel one, run its next step, and run everything that is due.

The row is the queue. A step reads the row, makes at most one call that can change the exchange, and moves the row on;
`advance` runs one step of one row, `sweep` everything that is due, in any process that may call out.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import partial
from itertools import count, zip_longest
from typing import TYPE_CHECKING, Any, Final

import structlog
from django.db import transaction
from django.db.models import Q, QuerySet

from desk.actions import attachments
from desk.fields import plain
from desk.machines import mover
from desk.machines.lanes import LANES, WAIT_S, Job
from desk.machines.queue import MOST_STEPS, Queue, Step
from desk.machines.requests import Once
from desk.machines.step_clock import Stopwatch
from desk.machines.table import NONE
from exchange_ops.addresses import destinations
from exchange_ops.addresses.destinations import Destination
from exchange_ops.keys.clients import ClientFor
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.shared import clocks, turns
from exchange_ops.shared.backoff import READ_PAUSES_S, pause
from exchange_ops.shared.models import Account
from exchange_ops.shared.problems import FORM
from exchange_ops.withdrawals import machine, request_checks, rules, states
from exchange_ops.withdrawals.evidence import ledger_lookup
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.request_checks import CannotRequest
from exchange_ops.withdrawals.steps import (
    committing,
    drafting,
    hold_monitor,
    hold_recovery,
    holding,
    orphans,
    releasing,
    settlement,
)

if TYPE_CHECKING:
    from desk.models import Person

STEPS: Final[dict[str, Step]] = {
    states.DRAFT: drafting.submit,
    states.REVIEW: drafting.look_again,
    states.QUEUED: holding.step,
    states.HOLDING: holding.lease_expired,
    states.HOLD_UNKNOWN: hold_recovery.step,
    states.HELD: hold_monitor.step,
    states.COMMITTING: committing.step,
    states.COMMIT_UNKNOWN: committing.find_out,
    states.ROLLING_BACK: releasing.step,
    states.COMMITTED: settlement.step,
    states.SENT: settlement.step,
    states.SETTLED: settlement.step,
    states.VERIFIED: settlement.step,
}
# Orders to pay and to release come before everything else when calls are scarce; releases have a worker of their own.
QUEUE: Final = Queue(
    machine.MACHINE,
    STEPS,
    urgency=(
        states.COMMITTING,
        states.ROLLING_BACK,
        states.HELD,
        states.COMMIT_UNKNOWN,
        states.HOLD_UNKNOWN,
        states.HOLDING,
    ),
    read_with=("account", "initiator"),
    after_failure=pause(READ_PAUSES_S, len(READ_PAUSES_S)),
    most_steps=MOST_STEPS,
)
RELEASING = "rolling_back"

_log = structlog.get_logger(__name__)
_rounds = count()
__all__ = [
    "CannotCancel",
    "CannotRequest",
    "advance",
    "cancel",
    "due",
    "in_turn",
    "latch_deadlines",
    "look",
    "record",
    "request",
    "sweep",
    "sweep_others",
    "sweep_releases",
    "unsaved",
]


class CannotCancel(Exception):
    """It was not cancelled; the text is the sentence for the person."""


def request(
    *,
    initiator: "Person",
    account: Account,
    currency: str,
    amount: Decimal,
    address: str,
    payment_id: str,
    include_fee: bool,
    reason: str,
    request_key: str,
    now: datetime,
    file: attachments.File | None = None,
    via: str = "page",
    session_key: str = "",
) -> Withdrawal:
    """Request a payout. The same `request_key` of the same person always gives the same row.

    `amount` is in the currency: with `include_fee` it leaves the account, else it arrives. `file` is attached together
    with the request, or neither is stored. Raises CannotRequest.
    """
    row = unsaved(
        initiator=initiator,
        account=account,
        currency=currency,
        amount=amount,
        address=address,
        payment_id=payment_id,
        include_fee=include_fee,
        reason=reason,
        request_key=request_key,
        via=via,
    )
    if (earlier := _once(row).earlier()) is not None:
        return earlier
    return record(row, request_checks.check(row, now=now), now=now, session_key=session_key, file=file)


def unsaved(
    *,
    initiator: "Person",
    account: Account,
    currency: str,
    amount: Decimal,
    address: str,
    payment_id: str,
    include_fee: bool,
    reason: str,
    request_key: str,
    via: str = "page",
) -> Withdrawal:
    """The row of a request before its checks (`request_checks.check`); nothing is written."""
    return Withdrawal(
        initiator=initiator,
        initiated_via=via,
        request_key=request_key,
        account=account,
        currency=currency,
        amount=plain(amount) if isinstance(amount, Decimal) and amount.is_finite() else amount,
        include_fee=include_fee,
        address=address,
        payment_id=payment_id.strip(),
        reason=reason.strip(),
    )


def record(
    row: Withdrawal,
    destination: Destination,
    *,
    now: datetime,
    session_key: str = "",
    evidence: Mapping[str, Any] | None = None,
    file: attachments.File | None = None,
) -> Withdrawal:
    """Record a request whose checks gave this destination, once for its person and key.

    `evidence` stays with its first event; `file` is attached with it. Raises CannotRequest where the key was used for
    something else.
    """
    once = _once(row)
    row.address, row.payment_id = destination.address, destination.payment_id
    facts: dict[str, Any] = {"now": now, "session_key": session_key, "evidence": evidence}

    def create() -> Withdrawal:
        with transaction.atomic():
            created = machine.create(row, actor=row.initiator, **facts)
            if file is not None:
                attachments.attach(
                    subject=created.subject,
                    person=created.initiator,
                    file=file,
                    request_key=f"payout:{created.request_key}",
                    now=now,
                    session_key=session_key,
                )
            return created

    return once.store(create)


def cancel(*, withdrawal_id: int, person: "Person", reason: str, now: datetime, session_key: str = "") -> Withdrawal:
    """Cancel a request: at once before the exchange was asked, later by releasing the hold. Raises CannotCancel."""
    try:
        with transaction.atomic():
            row = machine.lock(withdrawal_id)
            if not rules.may_cancel(person, row):
                raise CannotCancel("Only the requester can withdraw this request.")
            if not row.is_cancellable:
                raise CannotCancel(f"This request can no longer be withdrawn: {row.label[0].lower()}{row.label[1:]}.")
            is_held = row.state == states.HELD
            latch = {"decision": states.ROLLBACK, "decided_by": person, "decided_at": now}
            decision: dict[str, Any] = latch if is_held else {}
            return machine.move(
                row,
                event="cancelled",
                to=states.ROLLING_BACK if is_held else states.CANCELLED,
                now=now,
                actor=person,
                session_key=session_key,
                evidence={"reason": reason.strip()[: request_checks.LONGEST_REASON]} if reason.strip() else {},
                last_problem=f"Cancelled by {person}: {reason.strip() or 'no reason given'}"[:500],
                **decision,
            )
    except Withdrawal.DoesNotExist:
        raise CannotCancel("Request not found.") from None
    except mover.CannotMove:
        raise CannotCancel("The status has just changed. Refresh and try again.") from None


def advance(withdrawal_id: int, *, now: datetime, client_for: ClientFor) -> bool:
    """Run one step of one row if it is due; True when there was something to do. Losing a race is no error."""
    account = Account.objects.filter(withdrawals=withdrawal_id).first()
    if account is None:
        return False
    return QUEUE.advance(withdrawal_id, now=now, due=due(account=account, now=now), client_for=client_for)


def sweep(*, now: datetime, client_for: ClientFor) -> int:
    """Run everything that is due in all accounts, in any process that may call out; returns the number of steps."""
    return sweep_releases(now=now, client_for=client_for) + sweep_others(now=now, client_for=client_for)


def sweep_releases(*, now: datetime, client_for: ClientFor) -> int:
    """Run every release that is due, and nothing else, so that no other call keeps it waiting. Returns the number of
    steps.

    Deadlines are latched before anything is asked of the exchange, so that a slow answer can't delay a rollback.
    """
    watch, steps, jobs = Stopwatch(now), latch_deadlines(now=now), []
    for account in turns.accounts("releases"):
        releases = due(account=account, now=now).filter(state=RELEASING).order_by("next_action_at", "pk")
        jobs += [
            _job(account, RELEASING, number, watch, client_for) for number in releases.values_list("pk", flat=True)
        ]
        jobs.append(Job(("orphans", account.pk), "release", partial(_release_orphans, account, watch, client_for)))
    return steps + LANES.put(jobs, wait_s=WAIT_S)


def sweep_others(*, now: datetime, client_for: ClientFor) -> int:
    """Run everything that is due except releases; returns the number of steps.

    Each kind of each account has a lane of its own. Besides, kinds take turns, one row each, and every sweep begins
    with another kind and another account, so that a call that hangs holds up no other for long where there are no
    threads either.
    """
    watch, steps, begin = Stopwatch(now), latch_deadlines(now=now), next(_rounds)
    jobs: list[Job] = []
    for account in turns.accounts("payouts"):
        rows = list(due(account=account, now=now).exclude(state=RELEASING).values_list("state", "pk"))
        kinds = {number: state for state, number in rows}
        order = in_turn(rows, begin=begin)
        jobs += [_job(account, kinds[number], number, watch, client_for) for number in order]
    return steps + LANES.put(jobs, wait_s=WAIT_S)


def look(withdrawal_id: int, *, now: datetime, client_for: ClientFor) -> None:
    """Run one step of one row, in the lane of its account and state, if it is due."""
    row = Withdrawal.objects.filter(pk=withdrawal_id).values_list("account_id", "state").first()
    if row is not None:
        watch = Stopwatch(now)
        run = lambda: int(advance(withdrawal_id, now=watch.now(), client_for=client_for))  # noqa: E731
        LANES.put([Job((Withdrawal.__name__, *row), withdrawal_id, run)])


def in_turn(rows: Sequence[tuple[str, int]], *, begin: int) -> list[int]:
    """The numbers of the rows, interleaved by kind: the first of each kind, then the second of each, and so on.

    `rows` are pairs of kind and number. Kinds keep the order in which they first appear, rotated to begin at `begin`.
    """
    kinds: dict[str, list[int]] = {}
    for kind, number in rows:
        kinds.setdefault(kind, []).append(number)
    if not kinds:
        return []
    lanes = [*kinds.values()]
    start = begin % len(lanes)
    turns = zip_longest(*lanes[start:], *lanes[:start])
    return [number for turn in turns for number in turn if number is not None]


def latch_deadlines(*, now: datetime) -> int:
    """Order the rollback of every hold that nobody decided on in time. It calls nobody, so any process may do it."""
    latched = 0
    for account in Account.objects.order_by("pk"):
        exchange_now = clocks.exchange_now(account=account, now=now)
        late = Withdrawal.objects.filter(
            account=account, state=states.HELD, decision=NONE, rollback_at__lte=exchange_now
        )
        for row in late.select_related("account", "initiator"):
            try:
                hold_monitor.end_by_time(row, now=now, exchange_now=exchange_now)
                latched += 1
            except mover.CannotMove as lost:
                _log.info("withdrawals.latch_lost", withdrawal=row.pk, reason=str(lost))
    return latched


def due(*, account: Account, now: datetime) -> QuerySet[Withdrawal]:
    """Rows of the account that a worker has to process now, by our clock or by a deadline in the exchange's time."""
    exchange_now = clocks.exchange_now(account=account, now=now)
    by_deadline = Q(state=states.HELD, rollback_at__lte=exchange_now) | Q(
        state=states.COMMITTING, put_stop_at__lte=exchange_now
    )
    entries_failed = LedgerEntry.objects.filter(
        account=account, type="payout", status=ledger_lookup.OVER, withdrawal__state__in=settlement.REPORTED_PAID
    )
    success_is_revoked = Q(state__in=settlement.REPORTED_PAID, pk__in=entries_failed.values("withdrawal"))
    entries_with_hash = LedgerEntry.objects.filter(
        account=account, type="payout", withdrawal__state=states.SETTLED
    ).exclude(hash="")
    hash_is_late = Q(state=states.SETTLED, hash="", pk__in=entries_with_hash.values("withdrawal"))
    return QUEUE.due(now=now, when=by_deadline | success_is_revoked | hash_is_late).filter(account=account)


def _job(account: Account, state: str, number: int, watch: Stopwatch, client_for: ClientFor) -> Job:
    run = partial(_advance_at, client_for=client_for)
    return QUEUE.job(number, (account.pk, state), watch, run)


def _advance_at(number: int, at: datetime, *, client_for: ClientFor) -> bool:
    return advance(number, now=at, client_for=client_for)


def _release_orphans(account: Account, watch: Stopwatch, client_for: ClientFor) -> int:
    if watch.passed() > QUEUE.sweep_for:
        return 0
    return orphans.release_all(account=account, now=watch.now(), client_for=client_for)


def _once(row: Withdrawal) -> Once[Withdrawal]:
    names = ("account", "currency", "amount", "include_fee", "payment_id", "reason")
    content, address = {name: getattr(row, name) for name in names}, row.address
    return Once(
        Withdrawal.objects.filter(initiator=row.initiator, request_key=row.request_key),
        is_same=lambda earlier: _is_same(earlier, content, address),
        refusal=_sent_before,
    )


def _is_same(row: Withdrawal, content: Mapping[str, object], address: str) -> bool:
    differs = any(getattr(row, name) != value for name, value in content.items() if name != "address")
    return not differs and _same_destination(row, address)


def _sent_before(row: Withdrawal) -> CannotRequest:
    return CannotRequest(
        {FORM: f"Not requested: this form was already submitted with different content, as {row.reference}."}
    )


def _same_destination(earlier: Withdrawal, address: str) -> bool:
    return destinations.same_address(code=earlier.currency, one=earlier.address, other=address.strip())
