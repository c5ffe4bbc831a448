"""Questions that a form asks the exchange while it is being filled in: is this address our own, what will the fee be.

The page writes a row and goes on; a worker fills it in and announces it; the page reads the row again. One row is one
question: however often and by whomever it is asked, it goes out once as long as its answer is fresh.
"""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from django.db.models import Q

from desk import outbox
from desk.live import announcements
from exchange_ops.addresses.models import AddressCheck, FeeEstimate
from exchange_ops.keys import clients
from exchange_ops.keys import store as keys
from exchange_ops.keys.clients import ClientFor
from exchange_ops.shared.amounts import storable
from exchange_ops.shared.models import Account
from exchange_ops.wire.catalogue import Right
from wire.errors import CallFailed, Refused
from wire.operation import BadArgument

if TYPE_CHECKING:
    from desk.models import Person

FRESH_FOR = timedelta(minutes=10)  # an answer younger than this is not asked for again
FEE_FRESH_FOR = timedelta(minutes=1)
PROBLEM_FRESH_FOR = timedelta(seconds=5)  # a question that failed may be tried again soon
WAITED_FOR = timedelta(seconds=30)  # a question without an answer is asked again after this
ADDRESS_TASK, FEE_TASK = "exchange_ops.check_address", "exchange_ops.estimate_fee"


def ask_address(
    *, account: Account, currency: str, address: str, person: "Person | None", now: datetime
) -> AddressCheck:
    """Whether the address belongs to the account itself; `address` is in normal form. Announces addresscheck:<id>."""
    row, made = AddressCheck.objects.get_or_create(
        account=account,
        currency=currency,
        address=address,
        defaults={"requested_by": person, "requested_at": now},
    )
    asked = {"answered_at": None, "is_own": None, "problem": "", "requested_at": now, "requested_by": person}
    if made or AddressCheck.objects.filter(_due(now, FRESH_FOR), pk=row.pk).update(**asked):
        outbox.wake(ADDRESS_TASK, row.pk)
        row.refresh_from_db()
    return row


def ask_fee(*, account: Account, currency: str, amount: Decimal, person: "Person | None", now: datetime) -> FeeEstimate:
    """What a withdrawal of the amount would cost. Announces feeestimate:<id>."""
    row, made = FeeEstimate.objects.get_or_create(
        account=account,
        currency=currency,
        amount=amount,
        defaults={"requested_by": person, "requested_at": now},
    )
    asked = {"answered_at": None, "problem": "", "requested_at": now, "requested_by": person}
    if made or FeeEstimate.objects.filter(_due(now, FEE_FRESH_FOR), pk=row.pk).update(**asked):
        outbox.wake(FEE_TASK, row.pk)
        row.refresh_from_db()
    return row


def fill_address(*, check_id: int, client_for: ClientFor, now: datetime) -> None:
    """Ask the exchange and write its answer; nothing happens when the question has its answer already."""
    row = AddressCheck.objects.select_related("account").filter(pk=check_id, answered_at=None).first()
    if row is None:
        return
    answer: dict[str, object] = {"is_own": None, "problem": ""}
    try:
        with clients.client(client_for, account=row.account, right=Right.PAYMENTS) as client:
            answer["is_own"] = client.is_own_address(address=row.address)
    except (CallFailed, BadArgument, keys.NoUsableKey) as failure:
        answer["problem"] = sentence_of(failure)
    AddressCheck.objects.filter(pk=row.pk, answered_at=None).update(answered_at=now, **answer)
    announcements.announce(f"addresscheck:{row.pk}")


def fill_fee(*, estimate_id: int, client_for: ClientFor, now: datetime) -> None:
    """Ask the exchange and write its answer; nothing happens when the question has its answer already."""
    row = FeeEstimate.objects.select_related("account").filter(pk=estimate_id, answered_at=None).first()
    if row is None:
        return
    answer: dict[str, object]
    try:
        with clients.client(client_for, account=row.account, right=Right.WITHDRAW) as client:
            fee = client.estimate_withdrawal(currency=row.currency, amount=row.amount)
        possible = storable(fee) and fee >= 0
        answer = {"fee": fee, "problem": ""} if possible else {"problem": "The exchange named a fee that can't be one."}
    except (CallFailed, BadArgument, keys.NoUsableKey) as failure:
        answer = {"problem": sentence_of(failure)}
    FeeEstimate.objects.filter(pk=row.pk, answered_at=None).update(answered_at=now, **answer)
    announcements.announce(f"feeestimate:{row.pk}")


def sentence_of(failure: Exception) -> str:
    """What a person is told when a question could not be answered."""
    if isinstance(failure, Refused):
        return f"The exchange did not answer this: {failure}"[:300]
    if isinstance(failure, CallFailed):
        return f"The exchange can't be asked at the moment ({failure})."[:300]
    return str(failure)[:300]


def _due(now: datetime, fresh_for: timedelta) -> Q:
    """Questions whose answer is old, or was a failure, or never came."""
    return (
        Q(answered_at__lte=now - fresh_for)
        | (~Q(problem="") & Q(answered_at__lte=now - PROBLEM_FRESH_FOR))
        | Q(answered_at=None, requested_at__lte=now - WAITED_FOR)
    )
