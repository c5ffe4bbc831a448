"""Fetching the answers that somebody is interested in: one worker for each question, many questions in one call.

A worker claims the rows that it fetches by a conditional update, so that a question is asked once however many
processes are woken for it. A worker that dies loses its claim after a while; an answer that arrives later is dropped.
"""

import secrets
from collections.abc import Callable
from datetime import datetime

from chaindata.cache import answers, lookups, questions
from chaindata.cache.freshness import FRESHNESS
from chaindata.cache.lookups import Changes
from chaindata.cache.models import ChainAnswer
from chaindata.cache.service import TimeBudget
from chaindata.client import ChainClient
from chaindata.wire import catalogue
from desk.live import announcements

OpenClient = Callable[[], ChainClient]

MOST_PIECES = 5  # bulk calls of one task; the sweep finds the rest
MOST_SWEPT = 40  # rows that one sweep looks at


def fetch(*, answer_id: int, now: datetime, open_client: OpenClient, budget: TimeBudget | None = None) -> int:
    """Fetch one answer that is due and, in the same call, others of its kind. Returns how many were fetched."""
    row = ChainAnswer.objects.filter(pk=answer_id).first()
    if row is None or FRESHNESS.get(row.operation) is None:
        return 0
    budget = budget or TimeBudget()
    client, count = None, 0
    try:
        for _ in range(MOST_PIECES if questions.freshness(row.operation).bulk else 1):
            claimed = [] if budget.is_over else _claim(row, now)
            if not claimed:
                break
            client = client or open_client()
            outcomes = lookups.ask(client, claimed, now, budget)  # outside of any transaction
            for each in claimed:
                _write(each, outcomes[each.pk])
            count += len(claimed)
    finally:
        if client is not None:
            client.close()
    return count


def fetch_due(*, now: datetime, open_client: OpenClient, budget: TimeBudget | None = None) -> int:
    """Fetch everything that is due and of interest, up to a limit. Returns how many were fetched."""
    budget = budget or TimeBudget()
    count, bulk_operations = 0, set()
    for pk, operation in answers.due(now=now).values_list("pk", "operation")[:MOST_SWEPT]:
        policy = FRESHNESS.get(operation)
        if policy is None or (policy.bulk and operation in bulk_operations):
            continue
        bulk_operations.add(operation)
        count += fetch(answer_id=pk, now=now, open_client=open_client, budget=budget)
    return count


# Claims --------------------------------------------------------------------------------------------------------------


def _claim(row: ChainAnswer, now: datetime) -> list[ChainAnswer]:
    """Claim the row that this worker was woken for and, if there is a bulk call, others of its kind.

    After the first bulk call the row itself is no longer due, so that only others are claimed.
    """
    free = answers.unclaimed(now) & answers.is_due(now)
    keys = list(ChainAnswer.objects.filter(free, pk=row.pk).values_list("pk", flat=True))
    if questions.freshness(row.operation).bulk:
        others = answers.due(now=now).filter(operation=row.operation).exclude(pk=row.pk)
        keys += others.values_list("pk", flat=True)[: catalogue.BULK - len(keys)]
    token = secrets.token_hex(16)
    if not ChainAnswer.objects.filter(free, pk__in=keys).update(
        claimed_by=token, claimed_until=now + answers.CLAIMED_FOR
    ):
        return []
    return list(ChainAnswer.objects.filter(claimed_by=token).order_by("pk"))


def _write(row: ChainAnswer, changes: Changes) -> None:
    """Store the outcome, unless this worker has lost its claim meanwhile."""
    mine = ChainAnswer.objects.filter(pk=row.pk, claimed_by=row.claimed_by)
    if mine.update(claimed_by="", claimed_until=None, **changes):
        announcements.announce(f"chain-answer:{row.key}")
