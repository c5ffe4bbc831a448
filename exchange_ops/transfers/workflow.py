"""The interface of transfers: request one, cancel one, run its next step, and run everything that is due.

The row is the queue, as for withdrawals. But there is no second phase: the one call moves the money. So a machine sends
it once and never again; what became of a lost answer is read from the ledger (`recovery`).
"""

from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction
from django.db.models import QuerySet

from desk.fields import plain
from desk.machines.queue import MOST_STEPS, Queue, Step
from desk.machines.requests import Once
from exchange_ops.shared.models import Account
from exchange_ops.shared.problems import FORM
from exchange_ops.transfers import (
    listings,
    machine,
    policy_evaluation,
    recovery,
    request_checks,
    rules,
    sending,
    states,
)
from exchange_ops.transfers.models import Transfer
from exchange_ops.transfers.request_checks import CannotTransfer
from exchange_ops.withdrawals.request_checks import LONGEST_REASON

if TYPE_CHECKING:
    from desk.models import Person

STEPS: Final[dict[str, Step]] = {
    states.REVIEW: sending.look_again,
    states.APPROVED: sending.step,
    states.SENDING: sending.lease_expired,
    states.UNKNOWN: recovery.find_out,
    states.DONE: listings.look_for_listing,
    states.INVESTIGATE: listings.look_for_listing,
    states.NOT_SEEN: listings.look_for_latecomer,
    states.CLOSED: listings.look_for_latecomer,
}
QUEUE: Final = Queue(
    machine.MACHINE,
    STEPS,
    urgency=(states.UNKNOWN, states.SENDING, states.APPROVED, states.DONE),
    read_with=("account", "initiator"),
    lane=("account_id", "state"),
    most_steps=MOST_STEPS,
)
advance, look, sweep, due = QUEUE.advance, QUEUE.look, QUEUE.sweep, QUEUE.due

__all__ = ["CannotCancel", "CannotTransfer", "advance", "cancel", "due", "newest", "request", "submit", "sweep"]


class CannotCancel(Exception):
    """It was not cancelled; the text is the sentence for the person."""


def request(
    *,
    initiator: "Person",
    account: Account,
    kind: str,
    currency: str,
    amount: Decimal,
    reason: str,
    request_key: str,
    now: datetime,
    to_currency: str = "",
    by: str = "",
    identifier: str = "",
    subaccount_id: int | None = None,
    via: str = "page",
    session_key: str = "",
) -> Transfer:
    """Request a transfer. The same `request_key` of the same person always gives the same row.

    `amount` is of `currency`. `to_currency` is for `convert`, `by` and `identifier` for `to_user`, `subaccount_id` (the
    exchange's number) for the two kinds about sub-accounts; what a kind does not need is ignored. The row is in state
    `review` when approvals are needed, else in `approved`, and a worker goes on. Raises CannotTransfer.
    """
    content = {
        "account": account,
        "kind": kind,
        "currency": currency,
        "amount": plain(amount) if isinstance(amount, Decimal) and amount.is_finite() else amount,
        "reason": reason.strip(),
        **_target(kind, to_currency=to_currency, by=by, identifier=identifier, subaccount_id=subaccount_id),
    }
    once = Once(
        Transfer.objects.filter(initiator=initiator, request_key=request_key),
        is_same=lambda row: all(getattr(row, name) == value for name, value in content.items()),
        refusal=_sent_before,
    )
    if (earlier := once.earlier()) is not None:
        return earlier
    request_checks.refuse_asker(initiator, account)
    row = Transfer(initiator=initiator, initiated_via=via, request_key=request_key, **content)
    return once.store(lambda: submit(row, now=now, session_key=session_key))


def submit(row: Transfer, *, now: datetime, session_key: str = "") -> Transfer:
    """Store a new transfer as a draft and evaluate it by the rules, in one transaction. Raises CannotTransfer."""
    request_checks.check(row, now=now)
    with transaction.atomic():
        machine.create(row, now=now, actor=row.initiator, session_key=session_key)
        blocked, columns = policy_evaluation.evaluate(row, now=now)
        if blocked:
            raise CannotTransfer({FORM: blocked})
        return machine.move(
            row,
            event="submitted",
            to=states.REVIEW if columns["quorum_required"] else states.APPROVED,
            now=now,
            next_action_at=now,
            actor=row.initiator,
            session_key=session_key,
            evidence={"trace": columns["policy_trace"]},
            **columns,
        )


def cancel(*, transfer_id: int, person: "Person", reason: str, now: datetime, session_key: str = "") -> Transfer:
    """Cancel a request that the exchange was not asked for yet. Raises CannotCancel."""
    try:
        with transaction.atomic():
            row = machine.lock(transfer_id)
            if not rules.may_cancel_transfer(person, row):
                raise CannotCancel("Only the requester can withdraw this request.")
            if row.state not in {states.REVIEW, states.APPROVED}:
                raise CannotCancel(f"This request can no longer be withdrawn: {row.label[0].lower()}{row.label[1:]}.")
            return machine.move(
                row,
                event="cancelled",
                to=states.CANCELLED,
                now=now,
                actor=person,
                session_key=session_key,
                evidence={"reason": reason.strip()[:LONGEST_REASON]} if reason.strip() else {},
                last_problem=f"Cancelled by {person}: {reason.strip() or 'no reason given'}"[:500],
                decided_by=person,
                decided_at=now,
            )
    except Transfer.DoesNotExist:
        raise CannotCancel("Transfer not found.") from None
    except machine.CannotMove:
        raise CannotCancel("The status has just changed. Refresh and try again.") from None


def newest() -> QuerySet[Transfer]:
    """All transfers, newest first, with the rows that lists and pages show beside them."""
    return Transfer.objects.select_related("account", "initiator").order_by("-created_at", "-pk")


def _target(kind: str, *, to_currency: str, by: str, identifier: str, subaccount_id: int | None) -> dict[str, Any]:
    """Where the money goes: the fields that the kind needs, with the others empty."""
    to_user, convert = kind == states.TO_USER, kind == states.CONVERT
    return {
        "to_currency": to_currency if convert else "",
        "by": by if to_user else "",
        "identifier": identifier.strip() if to_user else "",
        "subaccount_id": subaccount_id if kind in states.SUBACCOUNT_KINDS else None,
    }


def _sent_before(row: Transfer) -> CannotTransfer:
    return CannotTransfer(
        {FORM: f"Not requested: this form was already submitted with different content, as {row.reference}."}
    )
