"""Sending a transfer: read the account, claim, call once, and make the move that the outcome leads to.

The call can't be repeated and can't be taken back. So its row is committed first, the outcome is one of accepted,
refused, not sent or unknown, and unknown is resolved by reading the ledger (`recovery`), never by sending.
"""

from datetime import datetime, timedelta
from typing import Final

from django.db import transaction

from desk import clock
from desk.machines import calls, sending
from desk.machines.calls import Reply
from desk.machines.step_clock import Stopwatch
from desk.restores.of_machine import left_to_people
from exchange_ops.keys.clients import ClientFor
from exchange_ops.keys.store import NoUsableKey
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.market.models import Currency
from exchange_ops.policy import freezes
from exchange_ops.shared.backoff import QUEUE_PAUSES_S, pause
from exchange_ops.subaccounts import account_status
from exchange_ops.transfers import approvals, listings, machine, policy_evaluation, request_checks, snapshots, states
from exchange_ops.transfers import calls as transfer_calls
from exchange_ops.transfers.ledger_matching import adopt, lookalike_entries
from exchange_ops.transfers.models import Transfer, TransferCall, TransferEvent
from exchange_ops.transfers.snapshots import Snapshot

LOOK_AGAIN = timedelta(seconds=15)
PATIENCE = timedelta(seconds=60)  # for an account that does not stand still; after that it is sent without balances
LISTED_WITHIN = timedelta(seconds=2)
SENT_WITHIN = timedelta(hours=1)  # after it was cleared; what waited longer may not be wanted any more


def look_again(row: Transfer, *, now: datetime, client_for: ClientFor) -> None:
    """Give what waits for approvals a new digest when the rules or a freeze changed what it was judged by."""
    if policy_evaluation.still_holds(row):
        machine.touch(row, next_action_at=now + LOOK_AGAIN)
    else:
        judge_again(row, now=now)


def step(row: Transfer, *, now: datetime, client_for: ClientFor) -> None:
    """Moves 3 to 7, 15 and 16: snapshot, claim, one call, and the move that its outcome leads to."""
    watch = Stopwatch(now)
    if clock.has_passed(SENT_WITHIN, since=_cleared_at(row), now=now):
        _lapse(row, now)
        return
    if not policy_evaluation.still_holds(row) or (row.leaves and not approvals.stands(row)):
        judge_again(row, now=now)
        return
    if problem := _obstacle(row):
        _not_yet(row, problem, now)
        return
    _send(row, watch, client_for)


def _send(row: Transfer, watch: Stopwatch, client_for: ClientFor) -> None:
    """Read the account once more; unless that speaks against it, make the call."""
    now = watch.now()
    try:
        currencies = [code for code in (row.currency, row.to_currency) if code]
        patient = not clock.has_passed(PATIENCE, since=row.updated_at, now=now)
        before = snapshots.read(
            account=row.account, currencies=currencies, client_for=client_for, now=now, patient=patient
        )
        if problem := _older_one(row, watch.now(), client_for):
            machine.touch(row, next_action_at=watch.now() + LOOK_AGAIN, last_problem=problem)
            return
        if lookalikes := lookalike_entries(row):
            _call_people(row, lookalikes, before.watermark, watch.now())
            return
    except (snapshots.CannotRead, NoUsableKey) as problem:
        _not_yet(row, f"Not sent: {problem}", now)
        return
    sending.step(
        row,
        watch=watch,
        on_obstacle=lambda problem: _not_yet(row, f"Not sent: {problem}", now),
        open_client=lambda: client_for(row.account, transfer_calls.right_for(row)),
        claim=lambda _: sending.claim_or_wait(
            machine.MACHINE, row, lambda: _claimed(row, before, watch.now()), until=watch.now() + LOOK_AGAIN
        ),
        send=lambda client, last_look: transfer_calls.send(row, client, last_look),
        on_outcome=sending.by_outcome(_BY_OUTCOME),
    )


def _claimed(row: Transfer, before: Snapshot, now: datetime) -> TransferCall:
    return calls.claim(
        machine.MACHINE,
        row,
        event="send_claimed",
        to=states.SENDING,
        now=now,
        obstacle=lambda: freezes.late_obstacle(row.movement),
        prepare=lambda: transfer_calls.prepare(row, before=before, now=now),
        attempt=row.attempt + 1,
        last_problem=before.remark[:500],
        looks=0,
    )


def _not_yet(row: Transfer, problem: str, now: datetime) -> None:
    machine.touch(row, next_action_at=now + LOOK_AGAIN, last_problem=problem[:500])


def expires_at(row: Transfer) -> datetime:
    """Until when it may be sent: an hour after rules and people last cleared it, whatever was tried since."""
    return _cleared_at(row) + SENT_WITHIN


def _cleared_at(row: Transfer) -> datetime:
    events = TransferEvent.objects.filter(transfer=row, to_state=states.APPROVED).exclude(event="not_sent")
    return events.order_by("-version").values_list("at", flat=True).first() or row.created_at


def _lapse(row: Transfer, now: datetime) -> None:
    """Move 15: it is not sent any more."""
    if left_to_people(machine.MACHINE, row, now=now):
        return
    reason = row.last_problem or "No worker was available."
    machine.move(row, event="lapsed", to=states.LAPSED, now=now, last_problem=reason, evidence={"why": reason})


def _call_people(row: Transfer, lookalikes: list[LedgerEntry], watermark: int, now: datetime) -> None:
    """Move 16: the ledger shows it, and nothing here sent it."""
    ids = ", ".join(entry.exchange_id for entry in lookalikes)
    reason = (
        f"Not sent: after the request, a matching transfer of unknown origin appeared in the exchange's ledger ({ids})."
    )
    facts = {"candidates": [listings.facts_of(entry) for entry in lookalikes], "read_to_index": watermark}
    machine.move(
        row,
        event="seen_before_sending",
        to=states.INVESTIGATE,
        now=now,
        next_action_at=None,
        last_problem=reason[:500],
        evidence=facts,
    )
    listings.alarm(row)


def judge_again(row: Transfer, *, now: datetime) -> None:
    """A new digest under the rules in force; approvals of the old one no longer count."""
    blocked, columns = policy_evaluation.evaluate(row, now=now)
    if blocked:
        machine.touch(row, next_action_at=now + LOOK_AGAIN, last_problem=blocked[:500])
        return
    review = bool(columns["quorum_required"])
    machine.move(
        row,
        event="judged_again",
        to=states.REVIEW if review else states.APPROVED,
        now=now,
        next_action_at=now + LOOK_AGAIN if review else now,
        evidence={"trace": columns["policy_trace"]},
        last_problem="",
        **columns,
    )


def _obstacle(row: Transfer) -> str:
    """Why it may not be sent right now, or an empty text. It waits, and can be cancelled meanwhile."""
    if problem := freezes.obstacle(row.movement):
        return problem
    if problem := request_checks.currency_problem(row.kind, Currency.objects.filter(pk=row.currency).first()):
        return problem
    if row.kind in states.SUBACCOUNT_KINDS and (
        problem := account_status.subaccount_problem(row.account, row.subaccount_id)
    ):
        return problem
    under_way = Transfer.objects.filter(account=row.account_id, state__in=states.IN_FLIGHT, currency=row.currency)
    twin = under_way.filter(kind=row.kind).first() or under_way.filter(amount=row.amount).first()
    return f"{twin.reference} is a similar transfer in progress; this one starts after it." if twin else ""


def _older_one(row: Transfer, now: datetime, client_for: ClientFor) -> str:
    """Why a transfer that replaces another may not be sent, or an empty text: the older one may have moved after all.

    Checked right after the ledger was read, so that a late entry is seen before the same money moves again.
    """
    old = Transfer.objects.select_related("account").filter(pk=row.reissues_id or 0).first()
    if old is None:
        return ""
    if old.state == states.CLOSED:
        listings.look_for_latecomer(old, now=now, client_for=client_for)
    if old.state in {states.CLOSED, states.RESOLVED_NOT_MOVED}:
        return ""
    return (
        f"Not sent: {old.reference}, which this transfer replaces, has appeared in the exchange's ledger. The "
        "requester can withdraw this transfer."
    )


def _done(row: Transfer, reply: Reply, now: datetime) -> None:
    """Move 4: the ids that the exchange gave; the ledger has to show them within ten minutes."""
    first, second = (*reply.value, None)[:2]
    with transaction.atomic():
        machine.move(
            row,
            event="accepted",
            to=states.DONE,
            now=now,
            exchange_id=first,
            second_id=second,
            sent_at=now,
            lease_until=None,
            last_problem="",
            next_action_at=now + LISTED_WITHIN,
            evidence={"exchange_ids": list(reply.value)},
        )
        adopt(row, LedgerEntry.objects.filter(account=row.account_id, exchange_id__in=reply.value))


_BY_OUTCOME: Final[dict[str, calls.OnOutcome]] = {
    calls.ACCEPTED: _done,
    calls.REFUSED: calls.on_outcome(machine.MACHINE, "refused", states.REFUSED),
    calls.NOT_SENT: calls.on_outcome(
        machine.MACHINE, "not_sent", states.APPROVED, again=lambda row: pause(QUEUE_PAUSES_S, row.attempt)
    ),
    calls.UNKNOWN: calls.on_outcome(machine.MACHINE, "outcome_unknown", states.UNKNOWN),
}
# Move 7: the outcome is unknown until the ledger has been read.
lease_expired = calls.lease_expired(machine.MACHINE, event="outcome_unknown", to=states.UNKNOWN, looks=0)
