"""What is to leave an account, as the rules are asked about it: a payout that is typed or requested, or a transfer."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from exchange_ops.shared.models import Account
from exchange_ops.withdrawals.models import Withdrawal

if TYPE_CHECKING:
    from desk.models import Person


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """What is to leave an account, typed or requested: `amount` of `currency`, to whom, and by whom it is requested.

    `address` is in normal form; without a `payment_id` the recipient is not readable yet. For a transfer to another
    user `address` is the user's name and `payment_id` the kind of name. `number` is that of the request, among those of
    `source`. `fee` is in `currency`. `before` are payouts of the same batch that are judged as if requested already.
    """

    account: Account
    currency: str
    amount: Decimal
    address: str = ""
    payment_id: str | None = None
    number: int | None = None
    source: str = Withdrawal.name
    requester: "Person | None" = None
    fee: Decimal | None = None
    requested_at: datetime | None = None
    before: "tuple[Intent, ...]" = ()

    def pays_same(self, other: "Intent") -> bool:
        """Whether both pay the same recipient; both have their addresses in normal form."""
        mine, theirs = ((each.account.pk, each.address, each.payment_id) for each in (self, other))
        return mine == theirs

    @classmethod
    def of(cls, row: Withdrawal, *, fee: Decimal | None) -> "Intent":
        """That of a request."""
        return cls(
            account=row.account,
            currency=row.currency,
            amount=row.amount,
            address=row.address,
            payment_id=row.payment_id,
            number=row.pk,
            requester=row.initiator,
            fee=fee,
            requested_at=row.created_at,
        )
