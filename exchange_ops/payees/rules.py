"""Who may add payees, approve them and remove them."""

from typing import TYPE_CHECKING

from desk.people import roles
from exchange_ops.payees.models import Payee
from exchange_ops.shared.models import Account
from exchange_ops.shared.rules import may

if TYPE_CHECKING:
    from desk.models import Person


def may_add(person: "Person", at: Account | int | None = None) -> bool:
    """Operators and treasury add payees."""
    return may(person, roles.OPERATOR, roles.TREASURY, at=at)


def may_decide(person: "Person", row: Payee | None = None) -> bool:
    """Treasury approves, rejects and removes payees of its accounts."""
    return may(person, roles.TREASURY, at=None if row is None else row.account_id)
