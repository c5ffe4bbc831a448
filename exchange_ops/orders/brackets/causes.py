"""What a person has to look at of brackets: something that is open without a stop, and orders that nobody sees."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from django.db.models import Exists, OuterRef, Q, QuerySet

from desk.incidents.kinds import Cause
from exchange_ops.orders import states as order_states
from exchange_ops.orders.brackets import plan, situation, states
from exchange_ops.orders.brackets.models import Bracket
from exchange_ops.orders.models import Order

_OUT_OF_SIGHT: Final = (order_states.UNKNOWN, order_states.NOT_SEEN)


def without_a_stop(now: datetime, only: str) -> Iterator[Cause]:
    """What an entry opened, and no stop guards; also of one that was filled after its bracket had ended unfilled.

    `only` names one cause; empty for all of them.
    """
    late = Q(entry__cum_quantity__gt=0) | Q(entry__replacements__cum_quantity__gt=0)
    ended = Q(state=states.CLOSED, outcome=states.NOT_ENTERED) & late
    for row in _selected(Bracket.objects.filter(Q(state=states.UNGUARDED) | ended).distinct(), only):
        why = row.last_problem or f"The entry, {row.entry.reference}, was filled after the bracket had ended."
        sentence = (
            f"{row.reference}: a {row.side} entry in {row.symbol} is open without a stop that is known to work. {why} "
            "An operator can have the stop placed again, or close it by hand."
        )
        yield _cause(row, sentence)


def unclear(now: datetime, only: str) -> Iterator[Cause]:
    """Brackets with an order that may be at the exchange unseen, so that nobody knows what it opens or closes.

    What has no stop for that reason is told by `without_a_stop`. `only` names one cause; empty for all of them.
    """
    missing = Order.objects.filter(account=OuterRef("account"), symbol=OuterRef("symbol"), state__in=_OUT_OF_SIGHT)
    watched = Bracket.objects.filter(Exists(missing), state__in=states.WATCHED).exclude(state=states.UNGUARDED)
    for row in _selected(watched, only):
        if reasons := plan.unclear(situation.current(row, now=now)):
            yield _cause(
                row,
                f"{row.reference}, {row.symbol}: {reasons} An operator can compare the exchange's orders and end it.",
            )


def _selected(rows: QuerySet[Bracket], only: str) -> QuerySet[Bracket]:
    named = rows.filter(pk=only.rpartition(":")[2]) if only else rows
    return named.select_related("account", "entry").order_by("pk")


def _cause(row: Bracket, sentence: str) -> Cause:
    return Cause(row.subject, sentence, "bracket", str(row.pk), str(row.account_id))
