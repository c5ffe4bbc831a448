"""Which rights a key has, which of them it is meant for, and what speaks against taking it.

Two sources tell of a right: what an admin said when the key was added, and what the exchange answered when a worker
asked it. The answer counts where there is one. A key is never used for a right that it was not meant for.
"""

from datetime import datetime, timedelta

from django.db.models import Q, QuerySet

from exchange_ops.keys.models import ApiKey
from exchange_ops.shared.models import Account
from exchange_ops.wire.catalogue import Right

GRANTED, MISSING, UNKNOWN = "granted", "missing", "unknown"  # what the exchange answered about a right
AVOIDED_FOR = timedelta(minutes=10)  # after the exchange turned a key down, others are tried first


def granted(key: ApiKey) -> frozenset[Right]:
    """The rights that the key has: what the exchange answered where it was asked, else what was said of it."""
    return frozenset(
        right
        for right in Right
        if (seen := observed(key, right)) == GRANTED or (right.value in key.rights and seen == UNKNOWN)
    )


def observed(key: ApiKey, right: Right) -> str:
    """What the exchange answered about this right: granted, missing or unknown."""
    seen: str = key.observed.get(right.value, UNKNOWN)
    return seen


def carries(key: ApiKey, right: Right | None) -> bool:
    """Whether the key is meant for this right, and the exchange did not say that it lacks it."""
    return right is None or (right.value in key.rights and observed(key, right) != MISSING)


def excess(key: ApiKey) -> list[Right]:
    """The rights that the exchange grants although the key was not meant to have them."""
    return [right for right in Right if right.value not in key.rights and observed(key, right) == GRANTED]


def lacking(key: ApiKey) -> list[Right]:
    """The rights that the key was said to have and the exchange refuses."""
    return [right for right in Right if right.value in key.rights and observed(key, right) == MISSING]


def usable(account: Account) -> QuerySet[ApiKey]:
    """The keys that open the account: those in use, and predecessors that are kept until their rotation is over."""
    live_rows = ApiKey.objects.filter(Q(active=True) | Q(kept_at__isnull=False), account=account, retired_at=None)
    return live_rows.exclude(sealed_secret="")


def drawbacks(key: ApiKey, now: datetime) -> tuple[bool, bool, bool, bool, int, int]:
    """What speaks against a key, the gravest first; between equals the one with the fewest rights is taken."""
    return (
        key.same_account is False,
        was_turned_down(key, now),
        not key.active,
        key.probed_at is None,
        len(granted(key)),
        key.pk,
    )


def was_turned_down(key: ApiKey, now: datetime) -> bool:
    """Whether the exchange turned the key down so recently that others are tried first."""
    return key.is_turned_down and key.last_problem_at is not None and now - key.last_problem_at < AVOIDED_FOR
