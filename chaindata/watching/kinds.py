"""The incidents of watched addresses, read from rows.

Every transaction that spends is an incident of its own, because only somebody with the key can make one. All payments
to an address are one incident, because anybody can pay anybody.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Count, F, OuterRef, Q, Subquery, Sum
from django.db.models.functions import Coalesce

from chaindata.watching import states
from chaindata.watching.models import ChainMovement, WatchedAddress
from chaindata.wire import decoding
from desk import clock
from desk.incidents.kinds import Cause, Kind, Severity
from desk.templatetags.desk import kept_amount

SPENT: Final = "watched-spent"
RECEIVED: Final = "watched-received"
UNREAD: Final = "watched-unread"
UNREAD_AFTER: Final = timedelta(minutes=10)
PAGE: Final = "chain-watched-address"
CURRENCY: Final = "BCH"
_ENDS: Final = "Resolves once someone reviews the movement on the watched address's page and gives a reason."


def kind_of(row: ChainMovement) -> str:
    """The kind of incident that a movement causes, alone or with others."""
    return SPENT if row.spends else RECEIVED


def key_of(row: ChainMovement) -> str:
    """The key of that incident's cause."""
    return row.subject if row.spends else row.watched.subject


def _number(only: str) -> Q:
    return Q(pk=only.rpartition(":")[2]) if only else Q()


def _spent(now: datetime, only: str) -> Iterator[Cause]:
    rows = ChainMovement.objects.filter(_number(only), state=states.TO_REVIEW, spends=True).select_related("watched")
    for row in rows.order_by("pk"):
        amount = kept_amount(decoding.coins(abs(row.change_sat)), CURRENCY)
        way = "left" if row.change_sat < 0 else "were spent and returned to"
        sentence = (
            f"{amount} {way} the watched address {row.watched.title}, in transaction {row.txid[:12]}. "
            "Find out who signed it, then review it and give a reason."
        )
        yield Cause(row.subject, sentence, PAGE, str(row.watched_id))


def _received(now: datetime, only: str) -> Iterator[Cause]:
    unreviewed = Q(movements__state=states.TO_REVIEW, movements__spends=False)
    rows = WatchedAddress.objects.filter(_number(only)).filter(unreviewed)
    last = ChainMovement.objects.filter(watched=OuterRef("pk"), state=states.TO_REVIEW, spends=False).order_by("-pk")
    newest = Subquery(last.values("txid")[:1])
    rows = rows.annotate(count=Count("movements"), sum_sat=Sum("movements__change_sat"), newest=newest)
    for row in rows.order_by("pk"):
        many = "1 transaction" if row.count == 1 else f"{row.count} transactions"
        amount = kept_amount(decoding.coins(row.sum_sat), CURRENCY)
        sentence = (
            f"{many} paid {amount} to the watched address {row.title} (latest: {row.newest[:12]}). "
            "Review it and give a reason."
        )
        yield Cause(row.subject, sentence, PAGE, str(row.pk))


def _unread(now: datetime, only: str) -> Iterator[Cause]:
    rows = WatchedAddress.objects.filter(_number(only), state=states.WATCHED)
    dated = rows.annotate(since=Coalesce(F("read_at"), F("created_at")))
    for row in dated.filter(clock.older("since", now - UNREAD_AFTER, now=now)).order_by("pk"):
        sentence = (
            f"The watched address {row.title} has not synced for more than ten minutes: new movements may be missing."
        )
        yield Cause(row.subject, f"{sentence} {row.last_problem}".strip(), PAGE, str(row.pk))


KINDS: Final[tuple[Kind, ...]] = (
    Kind(
        SPENT,
        "Funds left a watched address",
        Severity.HIGH,
        states.REVIEWERS,
        _spent,
        closable=False,
        ends=_ENDS,
    ),
    Kind(
        RECEIVED,
        "Payment to a watched address",
        Severity.MEDIUM,
        states.REVIEWERS,
        _received,
        closable=False,
        ends=_ENDS,
    ),
    Kind(
        UNREAD,
        "Watched address not synced",
        Severity.MEDIUM,
        states.REVIEWERS,
        _unread,
        grace_period=timedelta(seconds=90),  # long enough for the first reading after a start
    ),
)
