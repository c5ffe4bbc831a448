"""Sending a transfer: look at the account, claim, call once, and where the outcome leads.

The call can't be repeated and can't be taken back. So its row is committed first, the outcome is one of accepted,
refused, not sent or unknown, and unknown is resolved by reading the ledger (`transfer_watching`), never by sending.
"""

from datetime import datetime, timedelta

from django.db import transaction

from desk.machines import calls
from desk.machines.calls import Reply
from desk.machines.step_clock import Stopwatch
from exchange_ops.keys import store as keys
from exchange_ops.keys.clients import ClientFor
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.market.models import Currency
from exchange_ops.policy import freezes
from exchange_ops.shared.backoff import QUEUE_PAUSES_S, pause
from exchange_ops.subaccounts import obstacles
from exchange_ops.transfers import approvals, listings, snapshots
from exchange_ops.transfers import calls as sends
from exchange_ops.transfers import machine as kinds
from exchange_ops.transfers import mover as moves
from exchange_ops.transfers import policy_evaluation as judging
from exchange_ops.transfers import request_checks as requests
from exchange_ops.transfers.ledger_matching import adopt
from exchange_ops.transfers.models import Transfer, TransferCall

LOOK_AGAIN = timedelta(seconds=15)
PATIENCE = timedelta(seconds=60)  # for an account that does not stand still; then it is sent without that evidence
LISTED_WITHIN = timedelta(seconds=2)


def look_again(row: Transfer, *, now: datetime, client_for: ClientFor) -> None:
    """What waits for approvals gets a new digest when the rules or a freeze changed what it was judged by."""
    if judging.still_holds(row):
        moves.touch(row, next_action_at=now + LOOK_AGAIN)
    else:
        judge_again(row, now=now)


def step(row: Transfer, *, now: datetime, client_for: ClientFor) -> None:
    """Rows 3 to 7: snapshot, claim, one call, and where its outcome leads."""
    watch = Stopwatch(now)
    if not judging.still_holds(row) or (row.leaves and not approvals.stands(row)):
        judge_again(row, now=now)
        return
    if problem := _obstacle(row):
        moves.touch(row, next_action_at=now + LOOK_AGAIN, last_problem=problem)
        return
    try:
        currencies = [code for code in (row.currency, row.to_currency) if code]
        patient = now - row.updated_at < PATIENCE
        before = snapshots.take(
            account=row.account, currencies=currencies, client_for=client_for, now=now, patient=patient
        )
        if problem := _older_one(row, watch.now(), client_for):
            moves.touch(row, next_action_at=watch.now() + LOOK_AGAIN, last_problem=problem)
            return
        client = client_for(row.account, sends.right_for(row))
    except (snapshots.CannotRead, keys.NoUsableKey) as problem:
        moves.touch(row, next_action_at=now + LOOK_AGAIN, last_problem=f"Not sent: {problem}"[:500])
        return
    try:
        call = _claim(row, before, watch.now())
        if call is None:
            return
        reply = sends.make(call, row, client=client, watch=watch)
    finally:
        client.close()
    _settle(row, reply, watch.now())


def give_up_after_lease(row: Transfer, *, now: datetime, client_for: ClientFor) -> None:
    """Row 7: the worker that claimed it is gone; what it did is unknown until the ledger has been read."""
    if row.lease_until is not None and now < row.lease_until:
        moves.touch(row, next_action_at=row.lease_until)
        return
    problem = "The worker that sent it did not come back with an answer."
    moves.move(row, event="outcome_unknown", to="unknown", now=now, last_problem=problem, lease_until=None, looks=0)


def judge_again(row: Transfer, *, now: datetime) -> None:
    """A new digest under the rules in force; approvals of the old one no longer count."""
    blocked, columns = judging.judged(row, now=now)
    if blocked:
        moves.touch(row, next_action_at=now + LOOK_AGAIN, last_problem=blocked[:500])
        return
    review = bool(columns["quorum_required"])
    moves.move(
        row,
        event="judged_again",
        to="review" if review else "approved",
        now=now,
        next_action_at=now + LOOK_AGAIN if review else now,
        evidence={"trace": columns["policy_trace"]},
        last_problem="",
        **columns,
    )


def _obstacle(row: Transfer) -> str:
    """Why it may not be sent right now, or an empty text. It waits, and can be cancelled meanwhile."""
    if (frozen := freezes.active(row.account)) is not None:
        return f"The account is frozen: {frozen.reason}"[:500]
    if problem := requests.currency_problem(row.kind, Currency.objects.filter(pk=row.currency).first()):
        return problem
    if row.kind in kinds.SUBACCOUNT_KINDS and (problem := obstacles.subaccount_problem(row.account, row.subaccount_id)):
        return problem
    under_way = Transfer.objects.filter(account=row.account_id, state__in=kinds.IN_FLIGHT, currency=row.currency)
    twin = under_way.filter(kind=row.kind).first() or under_way.filter(amount=row.amount).first()
    return f"{twin.reference} is under way in the same lane, so this one waits for it." if twin else ""


def _older_one(row: Transfer, now: datetime, client_for: ClientFor) -> str:
    """Why a transfer that replaces another may not be sent: the older one moved after all, or may have. Else empty.

    Asked right after the ledger was read, so that what came late is seen before the same money moves again.
    """
    old = Transfer.objects.select_related("account").filter(pk=row.reissues_id or 0).first()
    if old is None:
        return ""
    if old.state == "closed":
        listings.look_for_latecomer(old, now=now, client_for=client_for)
    if old.state in {"closed", "resolved_not_moved"}:
        return ""
    return f"Not sent: {old.reference}, which it replaces, was seen at the exchange after all. It can be cancelled."


def _claim(row: Transfer, before: snapshots.Snapshot, now: datetime) -> TransferCall | None:
    """Row 3: the claim and the row of the call, durable before anything leaves. None when somebody was faster."""
    try:
        with transaction.atomic(durable=True):
            current = moves.lock(row.pk)
            if freezes.active(row.account) is not None:
                raise moves.CannotMove("The account was frozen in this moment.")
            moves.move(
                row,
                event="send_claimed",
                to="sending",
                now=now,
                attempt=row.attempt + 1,
                lease_epoch=current.lease_epoch + 1,
                lease_until=calls.lease(now),
                next_action_at=calls.lease(now),
                last_problem=before.remark[:500],
                looks=0,
            )
            return sends.prepare(row, before=before, now=now)
    except moves.CannotMove as lost:
        fresh = Transfer.objects.get(pk=row.pk)
        if fresh.state == "approved":
            moves.touch(fresh, next_action_at=now + LOOK_AGAIN, last_problem=str(lost)[:500])
        return None


def _settle(row: Transfer, reply: Reply, now: datetime) -> None:
    facts = {"outcome": reply.outcome, "code": reply.code, "problem": reply.problem}
    if reply.accepted:
        _done(row, reply, now)
    elif reply.outcome == TransferCall.REFUSED:
        moves.move(
            row,
            event="refused",
            to="refused",
            now=now,
            evidence=facts,
            last_problem=reply.problem[:500],
            lease_until=None,
        )
    elif reply.outcome == TransferCall.NOT_SENT:
        moves.move(
            row,
            event="not_sent",
            to="approved",
            now=now,
            evidence=facts,
            last_problem=reply.problem[:500],
            lease_until=None,
            next_action_at=now + pause(QUEUE_PAUSES_S, row.attempt),
        )
    else:
        moves.move(
            row,
            event="outcome_unknown",
            to="unknown",
            now=now,
            evidence=facts,
            last_problem=reply.problem[:500],
            lease_until=None,
        )


def _done(row: Transfer, reply: Reply, now: datetime) -> None:
    """Row 4: the ids the exchange gave; the ledger has to show them within ten minutes."""
    first, second = (*reply.value, None)[:2]
    with transaction.atomic():
        moves.move(
            row,
            event="accepted",
            to="done",
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
