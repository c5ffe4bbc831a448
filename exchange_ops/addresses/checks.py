"""Questions that a form asks the exchange while it is being filled in: is this address our own, what will the fee be.

The page writes a row and goes on; a worker fills it in and announces it; the page reads the row again. One row is one
question: however often and by whomever it is asked, it goes out once as long as its answer is fresh.
"""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from desk import questions
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

ADDRESS_TASK, FEE_TASK = "exchange_ops.check_address", "exchange_ops.estimate_fee"
WAITED_FOR = timedelta(seconds=30)  # a question without an answer is asked again after this
PROBLEM_FOR = timedelta(seconds=5)  # a question that failed may be tried again soon
FAILURES = (CallFailed, BadArgument, keys.NoUsableKey)  # what comes of a question instead of an answer
OWN_ADDRESS = questions.Rule(
    model=AddressCheck,
    task=ADDRESS_TASK,
    topic="addresscheck:{row.pk}",
    fresh_for=timedelta(minutes=10),
    problem_for=PROBLEM_FOR,
    lost_after=WAITED_FOR,
    asked_anew={"is_own": None, "problem": ""},
)
FEE = questions.Rule(
    model=FeeEstimate,
    task=FEE_TASK,
    topic="feeestimate:{row.pk}",
    fresh_for=timedelta(minutes=1),
    problem_for=PROBLEM_FOR,
    lost_after=WAITED_FOR,
)


def ask_address(
    *, account: Account, currency: str, address: str, person: "Person | None", now: datetime
) -> AddressCheck:
    """Whether the address belongs to the account itself; `address` is in normal form. Announces addresscheck:<id>."""
    return OWN_ADDRESS.ask(account=account, currency=currency, address=address, person=person, now=now)


def ask_fee(*, account: Account, currency: str, amount: Decimal, person: "Person | None", now: datetime) -> FeeEstimate:
    """What a withdrawal of the amount would cost. Announces feeestimate:<id>."""
    return FEE.ask(account=account, currency=currency, amount=amount, person=person, now=now)


def fill_address(*, check_id: int, client_for: ClientFor, now: datetime) -> None:
    """Ask the exchange and write its answer; nothing happens when the question has its answer already."""
    row = OWN_ADDRESS.waiting().select_related("account").filter(pk=check_id).first()
    if row is None:
        return
    is_own, problem = None, ""
    try:
        with clients.client(client_for, account=row.account, right=Right.PAYMENTS) as client:
            is_own = client.is_own_address(address=row.address)
    except FAILURES as failure:
        problem = sentence_of(failure)
    OWN_ADDRESS.answer(row, now=now, problem=problem, is_own=is_own)


def fill_fee(*, estimate_id: int, client_for: ClientFor, now: datetime) -> None:
    """Ask the exchange and write its answer; nothing happens when the question has its answer already."""
    row = FEE.waiting().select_related("account").filter(pk=estimate_id).first()
    if row is None:
        return
    answer, problem = {}, ""
    try:
        with clients.client(client_for, account=row.account, right=Right.WITHDRAW) as client:
            fee = client.estimate_withdrawal(currency=row.currency, amount=row.amount)
        if storable(fee) and fee >= 0:
            answer = {"fee": fee}
        else:
            problem = "The exchange named a fee that can't be one."
    except FAILURES as failure:
        problem = sentence_of(failure)
    FEE.answer(row, now=now, problem=problem, **answer)


def sentence_of(failure: Exception) -> str:
    """What a person is told when a question could not be answered."""
    if isinstance(failure, Refused):
        return f"The exchange did not answer this: {failure}"[:300]
    if isinstance(failure, CallFailed):
        return f"The exchange can't be asked at the moment ({failure})."[:300]
    return str(failure)[:300]
