"""How well the movements of a period are proven, what differs, and what the reconciliation after its end found.

The balance equation of a reconciliation is cumulative: one that agrees after the closing proves the closing as well, as
long as every line between is in the ledger.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from django.db.models import Count, Exists, F, Max, Min, OuterRef, Q, QuerySet

from desk.incidents import kinds
from desk.incidents.models import Incident
from desk.models import Person
from exchange_ops.ledger import quarantine, sync
from exchange_ops.ledger.models import LedgerAside, LedgerEntry, LedgerVersion
from exchange_ops.orders.models import AccountTrade
from exchange_ops.portfolio import effects
from exchange_ops.reconciliation import scheduled_checks, statements
from exchange_ops.shared import alarms, facts
from exchange_ops.shared.models import Account, Fact
from exchange_ops.shared.periods import Period
from exchange_ops.statements import bank
from exchange_ops.withdrawals import models as payouts
from exchange_ops.withdrawals.evidence import reconciliation

REFUTED: Final = (payouts.ABSENT, payouts.WRONG, payouts.NOT_PROVEN, payouts.BLOCK_LEFT)
NOT_YET, AGREES, DIFFERS = "not yet", "agrees", "differs"
MOST_LISTED: Final = 1_000  # differing deposits that are looked up


@dataclass(frozen=True, slots=True)
class Proof:
    """How many ledger entries of the period are proven, and by what; each is counted once.

    `on_chain`: payouts proven on the chain. `by_exchange`: in the exchange's own listing, not on the chain.
    `by_stream`: notified by the exchange, and not compared with its listing yet. `differing` of them differ
    from the chain.
    """

    entries: int
    on_chain: int
    by_exchange: int
    by_stream: int
    differing: int


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What the first reconciliation after the closing found. `differences` are by currency, of the bank wallet."""

    state: str
    at: datetime | None
    differences: dict[str, Decimal]
    not_verifiable: tuple[str, ...]
    incidents: tuple[Incident, ...]


@dataclass(frozen=True, slots=True)
class Late:
    """Records dated before the period ended that were read after it, and when the last of them was.

    `before` of them are dated before the period began, and read after that: they changed its opening.
    """

    count: int
    before: int
    first: datetime | None
    last: datetime | None


def proof(account: Account, period: Period) -> Proof:
    """The proof of the period's ledger entries, from a few queries."""
    listed = LedgerVersion.objects.filter(entry=OuterRef("pk"), index=OuterRef("index"), source=sync.REST)
    rows = bank.of_period(account, period).alias(is_read=Exists(listed))
    is_listed = Q(is_read=True) | _compared(account)
    on_chain = Q(withdrawal__proof__standing=payouts.PROVEN)
    refuted = Q(withdrawal__proof__standing__in=REFUTED) | Q(pk__in=_differing_deposits(account))
    counts = rows.aggregate(
        entries=Count("pk"),
        on_chain=Count("pk", filter=on_chain),
        by_exchange=Count("pk", filter=is_listed),
        both=Count("pk", filter=on_chain & is_listed),
        differing=Count("pk", filter=refuted),
    )
    by_exchange = counts["by_exchange"] - counts["both"]
    by_stream = counts["entries"] - counts["on_chain"] - by_exchange
    return Proof(counts["entries"], counts["on_chain"], by_exchange, by_stream, counts["differing"])


def _compared(account: Account) -> Q:
    """Entries of the stream that the last reconciliation looked for in the whole listing, and did not miss.

    It puts aside what the listing lacks (`settling.keep_unlisted`), so while a record waits nothing is claimed.
    """
    reading = facts.newest(account=account, name=reconciliation.READING)
    if reading is None or quarantine.waiting(account=account):
        return Q(pk__in=[])
    return Q(index__lte=int(reading.value["through"]), seen_at__lt=reading.noted_at - sync.SETTLING)


def reconciled(account: Account, period: Period, *, person: Person) -> Reconciled:
    """What the first reconciliation at or after the closing found, and the incidents that were open at the closing."""
    cause = scheduled_checks.name_of(account)
    rows = Incident.objects.filter(kind=alarms.RECONCILIATION, cause__in=(cause, f"{cause}:late"))
    rows = rows.filter(created_at__lt=period.ends).filter(Q(gone_at=None) | Q(gone_at__gte=period.ends))
    incidents = tuple(rows.filter(kinds.seen_by(person)).order_by("pk"))
    readings = Fact.objects.filter(account=account, name=reconciliation.READING, noted_at__gte=period.ends)
    reading = readings.order_by("noted_at", "pk").first()
    if reading is None:
        return Reconciled(NOT_YET, None, {}, (), incidents)
    figures = statements.at(account, reading)
    unknown = tuple(code for code, line in figures.items() if line.unknown_type)
    differences = {code: line.difference for code, line in figures.items() if line.difference}
    return Reconciled(DIFFERS if differences else AGREES, reading.noted_at, differences, unknown, incidents)


def late(account: Account, period: Period) -> Late:
    """The records that changed a statement of the period made at its end, or its opening."""
    newest = LedgerVersion.objects.filter(account=account, index=F("entry__index"), entry__status=effects.DONE)
    versions = newest.filter(entry__updated_at__lt=period.ends)
    trades = AccountTrade.objects.filter(account=account, timestamp__lt=period.ends)
    entry = LedgerEntry.objects.filter(account=account, index=OuterRef("index"), updated_at__lt=period.ends)
    settled = LedgerAside.objects.filter(Exists(entry), account=account).exclude(settled_as="")
    counts = [
        _late(versions, "entry__updated_at", "seen_at", period),
        _late(trades, "timestamp", "read_at", period),
        _late(settled, "first_seen_at", "cleared_at", period),
    ]
    return Late(
        sum(one.count for one in counts),
        sum(one.before for one in counts),
        min((one.first for one in counts if one.first), default=None),
        max((one.last for one in counts if one.last), default=None),
    )


def _late(rows: QuerySet[Any], dated: str, read: str, period: Period) -> Late:
    earlier = Q(**{f"{dated}__lt": period.begins, f"{read}__gte": period.begins})
    within = Q(**{f"{dated}__gte": period.begins, f"{read}__gte": period.ends})
    counts = rows.filter(earlier | within).aggregate(
        count=Count("pk"), before=Count("pk", filter=earlier), first=Min(read), last=Max(read)
    )
    return Late(counts["count"], counts["before"], counts["first"], counts["last"])


def _differing_deposits(account: Account) -> list[str]:
    """The entries of deposits that differ from the chain at this moment, by the causes of their incidents."""
    rows = Incident.objects.filter(kind=alarms.DEPOSIT_DIFFERS, scope=str(account.pk), gone_at=None)
    return [cause.rpartition(":")[2] for cause in rows.values_list("cause", flat=True)[:MOST_LISTED]]
