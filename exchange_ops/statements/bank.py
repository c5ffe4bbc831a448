"""The bank wallet in a period: the opening figure of the reconciliation, and the ledger's lines since.

The exchange reports no opening balances. The first reconciliation keeps what the ledger does not explain as the balance
before the first entry (`withdrawals.evidence.reconciliation`); every later balance is that and the lines up to it. A
line counts once it succeeded, from its last change at the exchange on. Source: exchange REST, Transaction.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final

from django.db.models import Count, Min, Q, QuerySet

from desk.fields import ExactSum
from exchange_ops.ledger import directions
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.portfolio import effects
from exchange_ops.portfolio.models import BANK
from exchange_ops.reconciliation import statements
from exchange_ops.shared.models import Account
from exchange_ops.shared.periods import Period
from exchange_ops.statements.lines import HEADS, ZERO, Line
from exchange_ops.statements.support import Support

NO_OPENING: Final = "No opening balance is on record. The next reconciliation sets it."
BELOW_ZERO: Final = "The balance would be below zero: the ledger lacks an entry."


@dataclass(frozen=True, slots=True)
class Sum:
    """The lines of one currency, type and kind of movement: their sums, and how many have a fee."""

    currency: str
    type: str
    kind: str
    amount: Decimal
    fee: Decimal
    count: int
    fees: int

    @property
    def change(self) -> Decimal:
        """How the lines changed the bank wallet, without their fees; zero for a type without a known sign."""
        if directions.of(self.type) == directions.MOVED:
            return self.amount if self.type == effects.FROM_TRADING else -self.amount
        return ZERO if self.kind == directions.OTHER else directions.signed(self.type, amount=self.amount)


def lines(account: Account, period: Period, support: Support) -> Iterator[Line]:
    """A line for each currency that has movements in the period or a balance at one of its ends.

    None for a period before the first entry: what the balance was then is not known.
    """
    if support.is_before_all(period.ends):
        return
    rows = effects.succeeded(account)
    before = _net(sums(rows.filter(updated_at__lt=period.begins)))
    within: defaultdict[str, list[Sum]] = defaultdict(list)
    for one in sums(rows.filter(updated_at__gte=period.begins, updated_at__lt=period.ends)):
        within[one.currency].append(one)
    opening = statements.opening_of(account)
    unknown = _unknown_since(rows)
    for code in sorted({*opening, *before, *within}):
        line = Line(BANK, code)
        _count(line, within[code])
        expected = opening.get(code, ZERO) + before.get(code, ZERO)
        if not line.count and not expected:
            continue
        balances = _Balances(support, code in opening, unknown.get(code))
        balances.state(line, expected, period)
        yield line


def sums(rows: QuerySet[LedgerEntry]) -> Iterator[Sum]:
    """The rows added up in the database, exactly."""
    groups = rows.order_by().annotate(movement=directions.kind()).values("currency", "type", "movement")
    has_fee = Count("pk", filter=directions.has_fee())
    for group in groups.annotate(sum=ExactSum("amount"), fee_sum=ExactSum("fee"), lines=Count("pk"), fees=has_fee):
        fee = group["fee_sum"] or ZERO if directions.of(group["type"]) == directions.OUT else ZERO
        yield Sum(group["currency"], group["type"], group["movement"], group["sum"], fee, group["lines"], group["fees"])


def _net(groups: Iterator[Sum]) -> dict[str, Decimal]:
    totals: defaultdict[str, Decimal] = defaultdict(lambda: ZERO)
    for one in groups:
        totals[one.currency] += one.change - one.fee
    return totals


def _count(line: Line, groups: list[Sum]) -> None:
    for one in groups:
        line.movements[HEADS[one.kind]].add(one.change, one.count)
        if one.fees:
            line.movements[directions.FEES].add(-one.fee, one.fees)


def _unknown_since(rows: QuerySet[LedgerEntry]) -> dict[str, datetime]:
    """When a currency's first entry of an unknown type was dated: from then on its balance is not known."""
    strange = rows.exclude(type__in=list(directions.DIRECTIONS)).order_by()
    return dict(strange.values_list("currency").annotate(first=Min("updated_at")))


@dataclass(frozen=True, slots=True)
class _Balances:
    """What speaks against the balances of one currency."""

    support: Support
    has_opening: bool
    unknown_since: datetime | None

    def state(self, line: Line, expected: Decimal, period: Period) -> None:
        """Set the balances that are supported, and the reason where one is not."""
        closing = expected + line.moved
        reasons = (self._reason(period.begins, expected), self._reason(period.ends, closing))
        line.opening = None if reasons[0] else expected
        line.closing = None if reasons[1] else closing
        line.reason = reasons[0] or reasons[1]

    def _reason(self, moment: datetime, amount: Decimal) -> str:
        if reason := self.support.reason(moment):
            return reason
        if not self.has_opening:
            return NO_OPENING
        if self.unknown_since is not None and self.unknown_since < moment:
            return "The ledger has an entry of an unknown type: its effect on the balance is not known."
        return BELOW_ZERO if amount < 0 else ""


def of_period(account: Account, period: Period) -> QuerySet[LedgerEntry]:
    """The lines that moved money in the period."""
    condition = Q(updated_at__gte=period.begins, updated_at__lt=period.ends)
    return effects.succeeded(account).filter(condition)
