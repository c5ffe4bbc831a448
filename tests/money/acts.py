"""What a worker of the nursery can do: one call of the domain each, as tasks, commands and views make them."""

import threading
from decimal import Decimal
from typing import Any

from desk import clock
from desk.models import Person
from exchange_ops.followers import AccountFollower
from exchange_ops.keys import store as keys
from exchange_ops.shared.models import Account
from exchange_ops.streams.follower import Rhythm
from exchange_ops.transfers import workflow as transfers
from exchange_ops.wire.session import Pace
from exchange_ops.withdrawals import workflow as withdrawals
from exchange_ops.withdrawals.decisions import approvals
from exchange_ops.withdrawals.models import Withdrawal

# A follower that notices and repairs in tenths of seconds what takes others half a minute.
CHAOS_RHYTHM = Rhythm(
    pace=Pace(answer_ms=700, silence_ms=500, recheck_ms=400),
    ping_ms=150,
    look_ms=50,
    first_pause_ms=20,
    longest_pause_ms=100,
    turned_down_pause_ms=200,
)


def advance(*, withdrawal_id: int) -> bool:
    """One step of one row, as a task does it."""
    return withdrawals.advance(withdrawal_id, now=clock.now(), client_for=keys.client_for)


def advance_transfer(*, transfer_id: int) -> bool:
    """One step of one transfer, as a task does it."""
    return transfers.advance(transfer_id, now=clock.now(), client_for=keys.client_for)


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


def follow(*, ws_url: str, seconds: int) -> None:
    """The account's stream, as the following process hears it, for so long or until it is killed."""
    follower = AccountFollower(Account.objects.get(), base_url=ws_url, now=clock.now, rhythm=CHAOS_RHYTHM)
    end = threading.Timer(seconds, follower.stop)
    end.daemon = True
    end.start()
    follower.run()


ALL = {
    "follow": follow,
    "advance": advance,
    "advance_transfer": advance_transfer,
    "sweep": sweep,
    "sweep_transfers": sweep_transfers,
    "request": request,
    "approve": approve,
    "reject": reject,
}
