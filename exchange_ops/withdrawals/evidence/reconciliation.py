"""Whether our copy of the ledger agrees with the exchange, and the exchange with itself, as far as that can be known.

Four questions: does our copy hold the newest version of every transaction and none besides; was anything missing that
we thought complete; does the bank balance of each currency move by exactly what the transactions say; and are the
reserved amounts explained by payouts that are under way. The exchange does not report opening balances, so the first
reconciliation stores the remainder as the opening figure, and later ones must arrive at it again. A currency that comes
later begins with zero. What differs is named by its transactions, or by the last check that agreed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from django.db.models import Max

from exchange_ops.client import PAGE, Aside, ExchangeClient
from exchange_ops.ledger import quarantine, settling, sync, walks
from exchange_ops.ledger.models import LedgerEntry, LedgerVersion
from exchange_ops.shared import facts
from exchange_ops.shared.models import Account, Fact
from exchange_ops.wire import records
from exchange_ops.withdrawals import states
from exchange_ops.withdrawals.decisions import open_holds
from exchange_ops.withdrawals.evidence import copy_differences, figures, ledger_matching
from exchange_ops.withdrawals.evidence.copy_differences import Finding, named
from exchange_ops.withdrawals.evidence.figures import OUTGOING, Figures
from exchange_ops.withdrawals.models import Withdrawal
from wire.values import decimal_text, grouped_text

OPENING, READING = "reconciliation.opening", "reconciliation.reading"
READINGS = 4  # until the account stands still for the length of one reading
ZERO = Decimal(0)

UNDER_WAY = frozenset({"created", "pending"})
HELD_STATES = (states.HELD, states.COMMITTING, states.ROLLING_BACK)


@dataclass(frozen=True, slots=True)
class Reading:
    """What the exchange reported at one moment: its newest transactions by id, and its bank balances by currency."""

    transactions: Mapping[str, records.Transaction]
    balances: Mapping[str, records.Balance]
    asides: tuple[Aside, ...]


class CannotReconcile(Exception):
    """Nothing can be said; the sentence says why."""


class LedgerIsBeingRead(CannotReconcile):
    """Nothing can be said yet: a long history is being read, and what is not here yet is no difference."""


def reconcile(*, account: Account, client: ExchangeClient, now: datetime) -> list[Finding]:
    """Read everything once more and compare. Raises `CannotReconcile`, or what the client raises."""
    if walks.is_being_read(account=account, now=now):
        raise LedgerIsBeingRead(f"Not yet. {walks.sentence(account=account)}")
    reading = _read(client)
    versions_read = LedgerVersion.objects.filter(account=account, index__lte=sync.watermark(account=account))
    newest = versions_read.aggregate(newest=Max("pk"))["newest"] or 0
    differing = set(copy_differences.ids(account, reading.transactions))
    transactions = sorted(reading.transactions.values(), key=lambda record: record.index)
    asides: tuple[Aside, ...] = reading.asides
    quarantined = 0
    for place in range(0, max(len(transactions), 1), PAGE):
        page = transactions[place : place + PAGE]
        outcome = sync.apply(account=account, transactions=page, asides=asides, source=sync.REST, now=now)
        asides, quarantined = (), quarantined + outcome.asides
    if not quarantined:
        quarantine.clear_read(account=account, after_index=0, began=now, now=now)
    late = list(versions_read.filter(pk__gt=newest).order_by("index").values_list("entry__exchange_id", flat=True))
    if not reading.asides:  # only a listing that was read whole shows what it lacks
        settling.keep_unlisted(account=account, listed=reading.transactions, seen_before=now - sync.SETTLING, now=now)
    return [
        _completeness(account, reading, late),
        copy_differences.finding(account, reading.transactions, before=differing),
        _asides(account, reading),
        *_movements(account, reading, now),
        *_reserved(reading),
        _open_holds(account, reading),
        _closed_holds(account, reading),
    ]


def _read(client: ExchangeClient) -> Reading:
    """Read all transactions between two equal readings of the balances, so that both show the same moment."""
    before = _bank(client)
    for _ in range(READINGS):
        transactions: dict[str, records.Transaction] = {}
        asides: list[Aside] = []
        for page in client.transactions_after(index=0):
            asides += page.asides
            transactions |= {record.id: record for record in page.records}
        after = _bank(client)
        if before == after:
            return Reading(transactions, after, tuple(asides))
        before = after
    raise CannotReconcile("The account is too active for a consistent snapshot. Try again when there is less activity.")


def _bank(client: ExchangeClient) -> dict[str, records.Balance]:
    listing = client.get_balances()
    if listing.asides:
        raise CannotReconcile(f"A balance could not be read: {listing.asides[0].reason}.")
    return {entry.currency: entry for entry in listing.records}


def _completeness(account: Account, reading: Reading, late: Sequence[str]) -> Finding:
    own_index = dict(LedgerEntry.objects.filter(account=account).values_list("exchange_id", "index"))
    exchange_index = {exchange_id: record.index for exchange_id, record in reading.transactions.items()}
    overruled = set(settling.overruled(account))  # which record holds, two people have settled
    missing = [one[0] for one in exchange_index.items() - overruled if one[0] not in own_index]
    surplus = [one[0] for one in own_index.items() - overruled if one[0] not in exchange_index]
    # A higher index is the newer version (document 1, Transaction): where the stream was ahead, the copy is right.
    older = [
        exchange_id
        for exchange_id in exchange_index.keys() & own_index.keys()
        if own_index[exchange_id] < exchange_index[exchange_id]
    ]
    if late:
        sentence = f"Record versions missing from our ledger, now added: {named(late)}."
    elif missing or surplus or older:
        sentence = (
            f"Transactions missing from our ledger: {named(missing)}; unknown to the exchange: "
            f"{named(surplus)}; outdated: {named(older)}."
        )
    else:
        return Finding("transactions", True, f"All {len(exchange_index)} transactions are up to date.")
    return Finding("transactions", False, sentence)


def _asides(account: Account, reading: Reading) -> Finding:
    count = quarantine.waiting(account=account)
    if count or reading.asides:
        return Finding("unread records", False, f"{max(count, len(reading.asides))} records could not be read.")
    return Finding("unread records", True, "All records were read.")


def _movements(account: Account, reading: Reading, now: datetime) -> Iterable[Finding]:
    """The balance equation: what is held, less every completed movement, has to be the opening balance."""
    opening_fact, previous = (facts.newest(account=account, name=name) for name in (OPENING, READING))
    opening: dict[str, str] = dict(opening_fact.value) if opening_fact is not None else {}
    held = {code: entry.available + entry.reserved for code, entry in reading.balances.items()}
    amounts = {code: Decimal(text) for code, text in opening.items()}
    agreed: dict[str, str] = {}
    for line in figures.by_currency(reading.transactions.values(), held=held, opening=amounts).values():
        if line.unknown_type:
            yield Finding(line.currency, True, f"Not verifiable: unknown transaction type {line.unknown_type!r}.")
            continue
        if line.opening is None and previous is not None and _is_new(account, line.currency, previous):
            line.opening, opening[line.currency] = ZERO, "0"
        finding = _against_opening(line, opening)
        if not finding.agrees and previous is not None:
            at = previous.value.get("agreed", {}).get(line.currency, previous.noted_at.isoformat())
            agreed[line.currency] = at
            last = f" Last agreed {datetime.fromisoformat(at).astimezone(UTC):%Y-%m-%d %H:%M} UTC."
            finding = replace(finding, sentence=finding.sentence + last)
        yield finding
    if opening_fact is None or dict(opening_fact.value) != opening:
        facts.note(account=account, name=OPENING, value=opening, now=now)
    through = max((record.index for record in reading.transactions.values()), default=0)
    value: dict[str, Any] = {"through": through, "held": _texts(held), **({"agreed": agreed} if agreed else {})}
    facts.note(account=account, name=READING, value=value, now=now)


def _is_new(account: Account, code: str, previous: Fact) -> bool:
    """Whether the currency came after an earlier check, which found none of it and no transaction: it began at zero."""
    if code in previous.value["held"]:
        return False
    rows = LedgerVersion.objects.filter(account=account, entry__currency=code)
    return not rows.filter(index__lte=previous.value["through"]).exists()


def _texts(amounts: Mapping[str, Decimal]) -> dict[str, str]:
    return {code: decimal_text(amount) for code, amount in sorted(amounts.items())}


def _against_opening(line: Figures, opening: dict[str, str]) -> Finding:
    """Compare with the opening figure; a currency without one gets it now, unless it would be below zero."""
    code, remainder = line.currency, line.reported - line.net
    if line.opening is None and remainder < 0:
        return Finding(
            code, False, f"The balance is {grouped_text(-remainder)} {code} lower than its transactions imply."
        )
    if line.opening is None:
        opening[code] = decimal_text(remainder)
        return Finding(code, True, f"Opening balance: {opening[code]} {code}.")
    if line.difference:
        return Finding(code, False, f"{grouped_text(line.difference)} {code} not explained by any transaction.")
    return Finding(code, True, "The bank balance matches its transactions.")


def _reserved(reading: Reading) -> Iterable[Finding]:
    """What is reserved against the payouts that are under way, amount and fee."""
    for code, entry in sorted(reading.balances.items()):
        explained = sum(
            (
                record.amount + (record.fee or ZERO)
                for record in reading.transactions.values()
                if record.currency == code and record.type in OUTGOING and record.status in UNDER_WAY
            ),
            ZERO,
        )
        if entry.reserved == explained:
            continue
        difference = grouped_text(entry.reserved - explained)
        yield Finding(f"{code} reserved", False, f"{difference} {code} reserved without a pending payout.")


def _open_holds(account: Account, reading: Reading) -> Finding:
    """Our open holds have to be at the exchange, and a hold there has to be a request's or a probe's of ours."""
    holds = Withdrawal.objects.filter(account=account, state__in=HELD_STATES).exclude(exchange_id=None)
    missing = [
        row.reference
        for row in holds
        if (record := reading.transactions.get(row.exchange_id or "")) is None
        or (row.state == states.HELD and record.status not in UNDER_WAY)
    ]
    if missing:
        return Finding("open holds", False, f"Holds open in Countersign but not at the exchange: {', '.join(missing)}.")
    hold_ids = {record.id for record in reading.transactions.values() if _is_hold(record)}
    unmatched = LedgerEntry.objects.filter(account=account, exchange_id__in=hold_ids, withdrawal=None)
    foreign_entries = [
        entry
        for entry in unmatched.select_related("account")
        if not (ledger_matching.is_of_probe(entry) or ledger_matching.may_be_awaited(entry))
    ]
    if foreign_entries:
        return Finding(
            "open holds",
            False,
            f"{len(foreign_entries)} pending payouts at the exchange were not requested in Countersign.",
        )
    return Finding("open holds", True, f"{len(hold_ids)} pending payouts at the exchange, all known here.")


def _closed_holds(account: Account, reading: Reading) -> Finding:
    """A closed request must have no hold left: its money would still be reserved."""
    about = "holds of closed requests"
    if rows := list(open_holds.closed_requests(account)):
        return Finding(about, False, " ".join(map(open_holds.sentence, rows)))
    return Finding(about, True, "No closed request has money reserved at the exchange.")


def _is_hold(record: records.Transaction) -> bool:
    return record.type in OUTGOING and record.status in UNDER_WAY
