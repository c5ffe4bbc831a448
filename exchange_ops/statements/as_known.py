"""The bank balances of an account as the desk knew them at a moment: opening, and the ledger as read by then.

An entry counts in the newest version that the desk had read. What happened before the moment and was read after it
became known later, and stands beside. What the exchange itself reported then is that of the last reconciliation.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final

from django.db.models import Q, QuerySet

from desk.as_known.moments import Moment
from exchange_ops.evidence.as_known import transactions
from exchange_ops.ledger import directions
from exchange_ops.ledger.models import LedgerAside, LedgerEntry, LedgerVersion
from exchange_ops.portfolio import effects
from exchange_ops.shared import facts
from exchange_ops.shared.models import Account
from exchange_ops.statements import bank
from exchange_ops.statements.bank import Sum
from exchange_ops.statements.lines import ZERO
from exchange_ops.withdrawals.evidence import reconciliation

MOST_LISTED: Final = 100
GAPS: Final = (
    "The balances of the trading account. Each reading replaces the one before; the funds page has daily figures.",
    "The reserved part of a bank balance. It is replaced with each reading, and is included here.",
    "How far the ledger had been read at that moment. What was read by then is counted, whatever was missing.",
)


@dataclass(frozen=True, slots=True)
class KnownBalance:
    """One currency of the bank account, reserved amounts included, in that currency.

    `opening` is the balance before its first entry as noted by the moment, None without one. `moved` is what the
    entries known then add up to. `late` is what those dated before the moment and read after it do, and corrections.
    `reported` is what the exchange reported at the last reconciliation before the moment. `unknown_type` names a type
    of entry whose effect is not known.
    """

    currency: str
    opening: Decimal | None
    moved: Decimal
    late: Decimal
    late_count: int
    reported: Decimal | None
    unknown_type: str

    @property
    def balance(self) -> Decimal | None:
        """The balance as known then; None where it was not known."""
        return None if self.opening is None or self.unknown_type else self.opening + self.moved

    @property
    def balance_today(self) -> Decimal | None:
        """The balance at the moment by what is known today; None where it was not known then."""
        return None if self.balance is None else self.balance + self.late

    @property
    def reason(self) -> str:
        """Why there is no balance; empty where there is one."""
        if self.unknown_type:
            return f"The ledger had an entry of an unknown type, {self.unknown_type}."
        return "No opening balance was on record." if self.opening is None else ""


@dataclass(frozen=True, slots=True)
class KnownBalances:
    """One account at a moment. `reported_at` is when the exchange's own balances were read; None before the first time.

    `late` are the entries that became known later, the latest first, `MOST_LISTED` at most; `late_count` counts all of
    them. `unread` records could not be read at the moment.
    """

    account: Account
    lines: list[KnownBalance]
    reported_at: datetime | None
    late: list[LedgerEntry]
    late_count: int
    unread: int


def of(account: Account, moment: Moment) -> KnownBalances:
    """The bank balances of the account at a moment. A fixed number of queries."""
    changed = _as_read(account, moment)
    done_then = [entry for entry in changed if entry.status == effects.DONE]
    read_then = [*_sums_of(done_then), *bank.sums(effects.succeeded(account).filter(seen_at__lte=moment.at))]
    late_rows = _late(account, moment).exclude(pk__in=[entry.pk for entry in done_then])
    late, corrected = list(bank.sums(late_rows)), _corrections(done_then, moment)
    opening = facts.newest_at(account=account, name=reconciliation.OPENING, at=moment.at)
    reading = facts.newest_at(account=account, name=reconciliation.READING, at=moment.at)
    held = reading.value["held"] if reading else None
    waiting = LedgerAside.objects.filter(account=account, first_seen_at__lte=moment.at)
    return KnownBalances(
        account=account,
        lines=_lines(read_then, late, corrected, opening.value if opening else {}, held),
        reported_at=reading.noted_at if reading else None,
        late=list(late_rows.order_by("-updated_at", "-index")[:MOST_LISTED]),
        late_count=sum(one.count for one in late),
        unread=waiting.filter(Q(cleared_at=None) | Q(cleared_at__gt=moment.at)).count(),
    )


def _as_read(account: Account, moment: Moment) -> list[LedgerEntry]:
    """The entries that were known and have changed since, as they had been read by the moment."""
    rows = LedgerVersion.objects.filter(
        account=account, seen_at__lte=moment.at, entry__first_seen_at__lte=moment.at, entry__seen_at__gt=moment.at
    )
    return transactions.entries(transactions.split(rows.select_related("entry"), moment).then)


def _late(account: Account, moment: Moment) -> QuerySet[LedgerEntry]:
    """The entries dated up to the moment whose newest version was read after it."""
    return effects.succeeded(account).filter(seen_at__gt=moment.at, updated_at__lte=moment.at)


def _corrections(done_then: list[LedgerEntry], moment: Moment) -> list[tuple[str, Decimal]]:
    """By how much entries that counted then were corrected, by a version dated up to the moment and read after it."""
    now = LedgerEntry.objects.in_bulk([entry.pk for entry in done_then])
    differences = []
    for then in done_then:
        today = now[then.pk]
        if today.updated_at <= moment.at and (difference := _change(today) - _change(then)):
            differences.append((then.currency, difference))
    return differences


def _change(entry: LedgerEntry) -> Decimal:
    """How the entry changed the bank balance, its fee included; zero until it succeeded."""
    sums = _sums_of([entry] if entry.status == effects.DONE else [])
    return sum((one.change - one.fee for one in sums), ZERO)


def _sums_of(entries: Iterable[LedgerEntry]) -> Iterable[Sum]:
    for entry in entries:
        fee = entry.fee or ZERO if directions.of(entry.type) == directions.OUT else ZERO
        kind = directions.OTHER if directions.of(entry.type) == directions.OTHER else ""
        yield Sum(entry.currency, entry.type, kind, entry.amount, fee, 1, 0)


def _lines(
    read_then: Iterable[Sum],
    late: Iterable[Sum],
    corrected: Iterable[tuple[str, Decimal]],
    opening: dict[str, str],
    held: dict[str, str] | None,
) -> list[KnownBalance]:
    moved: defaultdict[str, Decimal] = defaultdict(lambda: ZERO)
    later: defaultdict[str, Decimal] = defaultdict(lambda: ZERO)
    counts: defaultdict[str, int] = defaultdict(int)
    strange: dict[str, str] = {}
    for one in read_then:
        moved[one.currency] += one.change - one.fee
        if directions.of(one.type) == directions.OTHER:
            strange[one.currency] = one.type
    for one in late:
        later[one.currency] += one.change - one.fee
        counts[one.currency] += one.count
    for code, difference in corrected:
        later[code] += difference
        counts[code] += 1
    codes = sorted({*moved, *later, *opening, *(held or ())})
    lines = [
        KnownBalance(
            currency=code,
            opening=Decimal(opening[code]) if code in opening else None,
            moved=moved[code],
            late=later[code],
            late_count=counts[code],
            reported=None if held is None else Decimal(held.get(code, "0")),
            unknown_type=strange.get(code, ""),
        )
        for code in codes
    ]
    return [line for line in lines if line.balance != 0 or line.moved or line.late_count or line.reported]
