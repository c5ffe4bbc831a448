"""What the desk does with each right, and what stops without a key: shown before somebody confirms that."""

from collections.abc import Callable
from dataclasses import dataclass

from exchange_ops.keys import rights
from exchange_ops.keys.models import ApiKey
from exchange_ops.wire import catalogue
from exchange_ops.wire.catalogue import Right

# In the words of the pages. `None` stands for the operations that any valid key may call.
USES: dict[Right | None, str] = {
    Right.ORDERS: "Orders can't be placed, replaced or cancelled; margin positions can't be changed or closed.",
    Right.HISTORY: "Trading balances, past orders and trades are no longer synced.",
    Right.PAYMENTS: "The ledger, the bank balances and the live stream are no longer synced; payouts can't be checked, "
    "and no transfers between wallets are possible.",
    Right.WITHDRAW: "Payouts can't be reserved, paid or released, and fees can't be estimated.",
    None: "Sub-accounts can't be listed, frozen or activated.",
}
# Counts, by the number of an account, the payouts that only a key with the right to withdraw can pay or release.
_under_way_counts: list[Callable[[int], int]] = []


@dataclass(frozen=True, slots=True)
class Loss:
    """A right that only this key has: what stops without it, and its operations (as "GET /account/balance")."""

    right: str
    sentence: str
    operations: tuple[str, ...]


def losses(key: ApiKey) -> list[Loss]:
    """What stops without this key; empty for a key that is not in use, or when other keys carry its rights."""
    if not key.active:
        return []
    others = [other for other in rights.usable(key.account).exclude(pk=key.pk) if other.active]
    carried = [right for right in Right if rights.carries(key, right)]
    lost: list[Right | None] = [right for right in carried if not any(rights.carries(other, right) for other in others)]
    if not others:
        lost.append(None)
    return [Loss(right.value if right else "any key", _sentence(key, right), operations_of(right)) for right in lost]


def operations_of(right: Right | None) -> tuple[str, ...]:
    """The operations of the catalogue that need the right; for None those that need any valid key."""
    rows = [row for row in catalogue.OPERATIONS if not row.public and row.right is right]
    return tuple(f"{row.method} {row.path.removeprefix(catalogue.PREFIX)}" for row in rows)


def _sentence(key: ApiKey, right: Right | None) -> str:
    waiting = _under_way(key) if right is Right.WITHDRAW else 0
    if not waiting:
        return USES[right]
    are = "1 payout is" if waiting == 1 else f"{waiting} payouts are"
    return f"{USES[right]} {are} in progress; those funds could no longer be paid out or released."


def register_under_way(count: Callable[[int], int]) -> None:
    """Declare how a room counts what it has under way for an account; called when the app is ready."""
    _under_way_counts.append(count)


def _under_way(key: ApiKey) -> int:
    return sum(count(key.account_id) for count in _under_way_counts)
