"""Questions that a form asks the exchange while it is filled in: is this address our own, and what will the fee be.

The page writes a row and goes on; a worker fills it in and announces it; the page reads the row again. One row is one
question: however often it is asked, and by whom, it is sent once as long as its answer is fresh.
"""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from desk import questions
from exchange_ops.addresses.models import AddressCheck, FeeEstimate
from exchange_ops.client import ExchangeClient
from exchange_ops.keys import answering
from exchange_ops.keys.answering import PROBLEM_FOR, WAITED_FOR
from exchange_ops.keys.clients import ClientFor
from exchange_ops.shared.amounts import storable
from exchange_ops.shared.models import Account
from exchange_ops.wire.catalogue import Right

if TYPE_CHECKING:
    from desk.models import Person

ADDRESS_TASK, FEE_TASK = "exchange_ops.check_address", "exchange_ops.estimate_fee"
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
    """Ask the exchange and store its answer; does nothing when the question is answered already."""

    def read(client: ExchangeClient, row: AddressCheck) -> dict[str, bool]:
        return {"is_own": client.is_own_address(address=row.address)}

    answering.fill(OWN_ADDRESS, check_id, right=Right.PAYMENTS, read=read, client_for=client_for, now=now)


def fill_fee(*, estimate_id: int, client_for: ClientFor, now: datetime) -> None:
    """Ask the exchange and store its answer; does nothing when the question is answered already."""

    def read(client: ExchangeClient, row: FeeEstimate) -> dict[str, Any]:
        fee = client.estimate_withdrawal(currency=row.currency, amount=row.amount)
        if storable(fee) and fee >= 0:
            return {"fee": fee}
        return {"problem": "The exchange returned an invalid fee estimate."}

    answering.fill(FEE, estimate_id, right=Right.WITHDRAW, read=read, client_for=client_for, now=now)
