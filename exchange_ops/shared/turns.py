"""Accounts in turn: each round of a sweep begins with another account, so none is always behind one that hangs."""

from collections import Counter
from typing import Final

from exchange_ops.shared.models import Account

_rounds: Final[Counter[str]] = Counter()


def accounts(sweep: str) -> list[Account]:
    """All accounts in the order of this round of the sweep of this name; the next round begins with the next one."""
    rows = list(Account.objects.order_by("pk"))
    if not rows:
        return rows
    start = _rounds[sweep] % len(rows)
    _rounds[sweep] += 1
    return [*rows[start:], *rows[:start]]
