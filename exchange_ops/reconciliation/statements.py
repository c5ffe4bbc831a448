"""The figures of an account for its page: as of the last reconciliation, from the desk's own copy of the ledger.

A reconciliation reads balances and ledger at one moment and keeps both ends of it: the balances, and the newest index
of the ledger. The lines up to that index are counted here, so that figures and balances are of the same moment. The
exchange is not asked.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

import msgspec
from django.db.models import QuerySet

from desk import clock
from desk.fields import ExactSum
from desk.incidents import queries
from desk.incidents.models import Incident
from desk.models import Person
from exchange_ops.ledger import walks
from exchange_ops.ledger.models import LedgerEntry, LedgerVersion
from exchange_ops.reconciliation import scheduled_checks
from exchange_ops.shared import alarms, facts
from exchange_ops.shared.models import Account, CheckRun, Fact
from exchange_ops.wire import records
from exchange_ops.withdrawals.evidence import figures, reconciliation
from exchange_ops.withdrawals.evidence.figures import Figures

STALE_AFTER: Final = 2 * scheduled_checks.RECONCILE_EVERY
AGREES, DIFFERS, STALE, UNPROVABLE, PAST = "agrees", "differs", "stale", "unprovable", "past"
WORDS: Final = {
    AGREES: "Agrees",
    DIFFERS: "Differs",
    STALE: "Out of date",
    UNPROVABLE: "Not verifiable",
    PAST: "Not compared",
}


@dataclass(frozen=True, slots=True)
class Line:
    """One currency in the days of the page, and whether it agrees.

    `difference` is what the exchange reports, less what the ledger says. It is None unless both were compared at one
    moment that is fresh enough: it is never zero unread.
    """

    figures: Figures
    state: str
    difference: Decimal | None = None
    reason: str = ""

    @property
    def label(self) -> str:
        """The state in words."""
        return WORDS[self.state]

    @property
    def reported(self) -> Decimal | None:
        """What the exchange reported, where the days reach to that moment."""
        return None if self.state == PAST else self.figures.reported


@dataclass(frozen=True, slots=True)
class Statement:
    """The figures of one account. Without `read_at` it was never reconciled, and there are no lines.

    `ledger_at` is when its ledger was last read to the end; `through` is the newest index that is counted. `findings`
    are those of the last check, whatever they are about; `problem` says why the last try came to no answer.
    """

    account: Account
    read_at: datetime | None
    through: int
    ledger_at: datetime | None
    is_stale: bool
    lines: list[Line] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    problem: str = ""
    incident: Incident | None = None

    @property
    def differing(self) -> int:
        """How many currencies differ."""
        return sum(line.state == DIFFERS for line in self.lines)


def of(account: Account, *, person: Person, first: datetime | None, after: datetime | None, now: datetime) -> Statement:
    """The statement of the lines from `first` until before `after`, each None where the days are open."""
    reading = facts.newest(account=account, name=reconciliation.READING)
    run = CheckRun.objects.filter(name=scheduled_checks.name_of(account)).first()
    read_at = None if reading is None else reading.noted_at
    is_stale = not clock.is_fresh(read_at, now, within=STALE_AFTER)
    return Statement(
        account=account,
        read_at=read_at,
        through=0 if reading is None else int(reading.value["through"]),
        ledger_at=walks.read_at(account=account),
        is_stale=is_stale,
        lines=[] if reading is None else list(_lines(account, reading, first, after, is_stale=is_stale)),
        findings=list(run.findings) if run is not None and run.held is False else [],
        problem="" if run is None else run.problem,
        incident=_incident(account, person),
    )


def at(account: Account, reading: Fact) -> dict[str, Figures]:
    """The figures of every line up to a reading, by currency, and what the exchange reported then."""
    return figures.by_currency(
        _counted(account, int(reading.value["through"]), None, None), held=_held(reading), opening=opening_of(account)
    )


def _held(reading: Fact) -> dict[str, Decimal]:
    return {code: Decimal(text) for code, text in reading.value["held"].items()}


def opening_of(account: Account) -> dict[str, Decimal]:
    """The balance of each currency before its first entry, as the first reconciliation noted it."""
    fact = facts.newest(account=account, name=reconciliation.OPENING)
    return {} if fact is None else {code: Decimal(text) for code, text in fact.value.items()}


def _lines(
    account: Account, reading: Fact, first: datetime | None, after: datetime | None, *, is_stale: bool
) -> Iterator[Line]:
    opening, held = opening_of(account), _held(reading)
    through, is_past = int(reading.value["through"]), after is not None and after <= reading.noted_at
    overall = at(account, reading)
    if first is not None:
        before = figures.by_currency(_counted(account, through, None, first), held=held, opening=opening)
        opening |= {code: line.closing for code, line in before.items() if line.closing is not None}
    # Days that reach the reading have all of its lines, also where the exchange's clock is ahead of ours.
    within = figures.by_currency(
        _counted(account, through, first, after if is_past else None), held=held, opening=opening
    )
    for code, line in overall.items():
        of_days = within.get(code) or Figures(code, line.reported, opening.get(code))
        yield _judged(of_days, line, is_stale=is_stale, is_past=is_past)


def _judged(of_days: Figures, overall: Figures, *, is_stale: bool, is_past: bool) -> Line:
    if overall.unknown_type:
        reason = f"The exchange's ledger has entries of an unknown type: {overall.unknown_type!r}."
        return Line(of_days, UNPROVABLE, reason=reason)
    if is_past:
        return Line(of_days, PAST, reason="The last sync was after the end of this period.")
    if is_stale:
        return Line(of_days, STALE, reason="The last exchange balance is too old to compare.")
    if overall.opening is None:
        remainder = overall.reported - overall.net
        reason = (
            "The balance does not match its transactions, and no opening balance is on record." if remainder else ""
        )
        return Line(of_days, DIFFERS if remainder else AGREES, remainder, reason)
    return Line(of_days, DIFFERS if overall.difference else AGREES, overall.difference)


def _counted(account: Account, through: int, first: datetime | None, after: datetime | None) -> Iterator[figures.Line]:
    """The lines of these days as they were at the reading; those that changed since, in the version of that time."""
    rows = LedgerEntry.objects.filter(account=account, index__lte=through)
    yield from _sums(_of_days(rows, first, after))
    later = LedgerVersion.objects.filter(account=account, index__lte=through, entry__index__gt=through)
    newest = {version.entry_id: version for version in later.order_by("index").select_related("entry")}
    for version in newest.values():
        record = msgspec.convert(version.content, records.Transaction, strict=False)
        if (first is None or record.updated_at >= first) and (after is None or record.updated_at < after):
            fee = version.entry.fee if record.fee is None else record.fee
            yield _Sum(record.currency, record.type, record.status, record.amount, fee)


def _of_days(rows: QuerySet[LedgerEntry], first: datetime | None, after: datetime | None) -> QuerySet[LedgerEntry]:
    """By the day of a line's last change at the exchange, as the ledger page has it."""
    rows = rows.filter(updated_at__gte=first) if first else rows
    return rows.filter(updated_at__lt=after) if after else rows


def _sums(rows: QuerySet[LedgerEntry]) -> Iterable[Any]:
    groups = rows.order_by().values("currency", "type", "status").annotate(sum=ExactSum("amount"), fees=ExactSum("fee"))
    for group in groups:
        yield _Sum(group["currency"], group["type"], group["status"], group["sum"] or Decimal(0), group["fees"])


@dataclass(frozen=True, slots=True)
class _Sum:
    currency: str
    type: str
    status: str
    amount: Decimal
    fee: Decimal | None


def _incident(account: Account, person: Person) -> Incident | None:
    cause = scheduled_checks.name_of(account)
    rows = queries.unresolved(person).filter(kind=alarms.RECONCILIATION, cause__startswith=cause)
    return next((row for row in rows if row.cause in {cause, f"{cause}:late"}), None)
