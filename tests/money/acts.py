"""What a worker of the nursery can do: one call of the domain each, as tasks, commands and views make them."""

from decimal import Decimal
from typing import Any

from desk import clock
from desk.models import Person
from exchange_ops.domain import approvals, keys, transfers, withdrawals
from exchange_ops.models import Account, Withdrawal


def advance(*, withdrawal_id: int) -> bool:
    """One step of one row, as a task does it."""
    return withdrawals.advance(withdrawal_id=withdrawal_id, now=clock.now(), client_for=keys.client_for)


def advance_transfer(*, transfer_id: int) -> bool:
    """One step of one transfer, as a task does it."""
    return transfers.advance(transfer_id=transfer_id, now=clock.now(), client_for=keys.client_for)


def sweep_transfers() -> int:
    """Every transfer that is due, as beat and the following process do it."""
    return transfers.sweep(now=clock.now(), client_for=keys.client_for)


def sweep() -> int:
    """Everything that is due, as beat, the following process and `manage.py sweep` do it."""
    return withdrawals.sweep(now=clock.now(), client_for=keys.client_for)


def request(*, username: str, request_key: str, **wanted: Any) -> int:
    """Ask for a payout, as the form does it."""
    row = withdrawals.request(
        initiator=Person.objects.get(username=username),
        account=Account.objects.get(),
        currency=wanted["currency"],
        amount=Decimal(wanted["amount"]),
        address=wanted["address"],
        payment_id="",
        include_fee=False,
        reason="An invoice of a supplier",
        request_key=request_key,
        now=clock.now(),
    )
    return int(row.pk)


def approve(*, withdrawal_id: int, username: str, code: str) -> str:
    """One approval with its code, as the page does it."""
    row = approvals.approve(
        withdrawal_id=withdrawal_id,
        person=Person.objects.get(username=username),
        digest=Withdrawal.objects.get(pk=withdrawal_id).digest,
        answer={"kind": "totp", "code": code},
        comment="",
        session_key="session-of-a-worker",
        now=clock.now(),
    )
    return str(row.state)


def reject(*, withdrawal_id: int, username: str) -> str:
    """One person's no."""
    person = Person.objects.get(username=username)
    row = approvals.reject(withdrawal_id=withdrawal_id, person=person, reason="Not ours", now=clock.now())
    return str(row.state)


ALL = {
    "advance": advance,
    "advance_transfer": advance_transfer,
    "sweep": sweep,
    "sweep_transfers": sweep_transfers,
    "request": request,
    "approve": approve,
    "reject": reject,
}
