"""Why no money can be moved to or from a sub-account."""

from exchange_ops.shared.models import Account
from exchange_ops.subaccounts import account_status
from exchange_ops.subaccounts.models import SubAccount
from exchange_ops.subaccounts.states import AS_FROZEN


def subaccount_problem(account: Account, number: int | None) -> str:
    """Why no money can be moved to or from this sub-account, or an empty text."""
    if number is None:
        return "Choose a sub-account."
    sub = SubAccount.objects.filter(account=account, exchange_id=number).first()
    status = None if sub is None else account_status.status_of(sub)
    if sub is None or status is None or status.name == account_status.GONE:
        return f"The exchange's list has no sub-account {number}."
    if status.name not in {account_status.OPEN, account_status.NEW}:
        return f"Sub-account {number} is not open ({status.label.lower()}), so no money moves to or from it."
    if sub.wanted == AS_FROZEN:
        return f"Sub-account {number} is about to be frozen, so no money moves to or from it."
    return ""
