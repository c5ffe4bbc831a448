"""Queries of withdrawals: with the event that ended each, by their ending, and how many are under way."""

from typing import Any

from django.db.models import F, OuterRef, QuerySet, Subquery

from exchange_ops.withdrawals import endings, states
from exchange_ops.withdrawals.models import Withdrawal, WithdrawalEvent

# States in which the exchange holds money that only a key with the right to withdraw can pay or release.
UNDER_WAY = (
    states.HOLDING,
    states.HOLD_UNKNOWN,
    states.HELD,
    states.COMMITTING,
    states.COMMIT_UNKNOWN,
    states.ROLLING_BACK,
)


def with_ends(rows: QuerySet[Withdrawal]) -> QuerySet[Withdrawal]:
    """The rows with `ended_by` and `ended_by_person`, so that `Withdrawal.end` needs no query for each row."""
    ending = WithdrawalEvent.objects.filter(withdrawal=OuterRef("pk"), event__in=endings.EVENTS)
    newest = ending.order_by("-version")
    return rows.annotate(
        ended_by=Subquery(newest.values("event")[:1]), ended_by_person=Subquery(newest.values("actor")[:1])
    )


def ended_as(rows: QuerySet[Withdrawal], name: str) -> QuerySet[Withdrawal]:
    """Only the rows with this ending; `name` is one of `endings.ENDS`."""
    with_ending: QuerySet[Any] = with_ends(rows.filter(state__in=endings.SHARED))
    matches = with_ending.filter(ended_by=endings.ENDS[name].event)
    if name == endings.WITHDRAWN:
        return matches.filter(ended_by_person=F("initiator"))
    return matches.exclude(ended_by_person=F("initiator")) if name == endings.CALLED_OFF else matches


def under_way(account_id: int) -> int:
    """How many payouts of the account only a key with the right to withdraw can pay or release."""
    return Withdrawal.objects.filter(account=account_id, state__in=UNDER_WAY).count()
