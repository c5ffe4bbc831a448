"""Removing answers that nobody has read for long, or that are too many or too large together; the least recently read
first.

Nothing is lost: an answer is fetched again when somebody reads it. Rows are deleted in small batches, each in a
transaction of its own; the next run continues where an interrupted one stopped.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Sum

from chaindata.cache.models import ChainAnswer
from chaindata.headers.models import ChainHeader

BATCH = 500
MOST_BATCHES = 40  # of one run
BRANCHES_KEPT_FOR = timedelta(days=90)  # headers that left the chain
_MEGABYTE = 2**20


def purge(*, now: datetime, batch: int = BATCH, most_batches: int = MOST_BATCHES) -> int:
    """Remove what exceeds the settings, up to a limit. Returns how many answers were removed."""
    ChainHeader.objects.filter(is_active=False, seen_at__lt=now - BRANCHES_KEPT_FOR).delete()
    removed = 0
    for _ in range(most_batches):
        keys = _oldest(_too_much(now), batch)
        if not keys:
            break
        removed += ChainAnswer.objects.filter(pk__in=keys).delete()[0]
    return removed


def _too_much(now: datetime) -> int:
    """How many of the oldest answers have to be removed now."""
    every = ChainAnswer.objects.all()
    late = every.filter(asked_at__lt=now - timedelta(days=settings.CHAIN_ANSWERS_KEPT_DAYS)).count()
    over = every.count() - settings.CHAIN_ANSWERS_KEPT
    size = every.aggregate(total=Sum("size"))["total"] or 0
    heavy = 1 if size > settings.CHAIN_ANSWERS_MEGABYTES * _MEGABYTE else 0
    return max(late, over, heavy * BATCH // 10)


def _oldest(count: int, batch: int) -> list[int]:
    return list(
        ChainAnswer.objects.order_by("asked_at", "pk").values_list("pk", flat=True)[: max(0, min(count, batch))]
    )
