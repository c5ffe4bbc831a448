"""Which rights a key has, which of them it is meant for, and which key is chosen.

A right has two sources: what an admin declared when the key was added, and what the exchange answered to a worker. The
answer decides where there is one. A key is never used for a right that was not declared.
"""

from datetime import datetime, timedelta

from django.db.models import Q, QuerySet

from desk import clock
from exchange_ops.keys.models import ApiKey
from exchange_ops.shared.models import Account
from exchange_ops.wire.catalogue import Right

GRANTED, MISSING, UNKNOWN = "granted", "missing", "unknown"  # what the exchange answered about a right
AVOIDED_FOR = timedelta(minutes=10)  # after the exchange turned a key down, others are tried first


def granted(key: ApiKey) -> frozenset[Right]:
    """The rights that the key has: by the exchange's answer where there is one, else as declared."""
    return frozenset(
        right
        for right in Right
        if (answer := observed(key, right)) == GRANTED or (right.value in key.rights and answer == UNKNOWN)
    )


def observed(key: ApiKey, right: Right) -> str:
    """What the exchange answered about this right: granted, missing or unknown."""
    answer: str = key.observed.get(right.value, UNKNOWN)
    return answer


def carries(key: ApiKey, right: Right | None) -> bool:
    """Whether the right was declared for the key, and the exchange did not answer that it is missing."""
    return right is None or (right.value in key.rights and observed(key, right) != MISSING)


def excess(key: ApiKey) -> list[Right]:
    """The rights that the exchange grants although they were not declared."""
    return [right for right in Right if right.value not in key.rights and observed(key, right) == GRANTED]


def lacking(key: ApiKey) -> list[Right]:
    """The declared rights that the exchange refuses."""
    return [right for right in Right if right.value in key.rights and observed(key, right) == MISSING]


def usable(account: Account) -> QuerySet[ApiKey]:
    """The keys that open the account: those in use, and predecessors that are kept until their rotation is over."""
    live_rows = ApiKey.objects.filter(Q(active=True) | Q(kept_at__isnull=False), account=account, retired_at=None)
    return live_rows.exclude(sealed_secret="")


def drawbacks(key: ApiKey, now: datetime) -> tuple[bool, bool, bool, bool, int, int]:
    """A sort key: the drawbacks of a key, the most serious first; among equals the key with the fewest rights wins."""
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
    return key.is_turned_down and clock.is_fresh(key.last_problem_at, now, within=AVOIDED_FOR)
