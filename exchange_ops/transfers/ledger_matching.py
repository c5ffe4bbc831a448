"""Matching entries of the exchange's ledger to our transfers, and finding those that may belong to one.

An entry belongs to a transfer when its id is one that the exchange gave for it. Without an id the content decides:
type, currency, amount, an index above what was known before the call, a time inside the call's window, and no other
owner.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import Exists, OuterRef, Q, QuerySet

from desk import outbox
from desk.live import announcements
from exchange_ops.ledger.models import LedgerEntry, LedgerVersion
from exchange_ops.shared import clocks
from exchange_ops.shared.models import Account
from exchange_ops.transfers import machine, states
from exchange_ops.transfers.models import Transfer, TransferCall, TransferEvent
from exchange_ops.withdrawals.models import Withdrawal

OFFCHAIN, SWAP = "offchain", "swap"
OUT, IN = ("withdraw", "payout"), ("deposit", "payin")
WAITING = (*states.IN_FLIGHT, states.NOT_SEEN, states.CLOSED, states.INVESTIGATE)
EARLY = timedelta(seconds=5)  # how long before its request our own entry may seem to be created
LATE_FOR = timedelta(days=1)  # how long an unseen transfer is still looked for


@dataclass(frozen=True, slots=True)
class Leg:
    """One transaction that a transfer leaves in the ledger: of one of these types, in this currency."""

    types: tuple[str, ...]
    currency: str
    sub_type: str = ""


def legs(row: Transfer) -> tuple[Leg, ...]:
    """The transactions that a transfer leaves in our ledger: two for a conversion, one for every other kind.

    The types for the two wallets are documented (supplement 1.6). Those of the other kinds are not, so either word for
    the direction counts for them (exchange REST, Transaction).
    """
    if row.kind == states.BANK_TO_TRADING:
        return (Leg(("bankToExchange",), row.currency),)
    if row.kind == states.TRADING_TO_BANK:
        return (Leg(("exchangeToBank",), row.currency),)
    if row.kind == states.CONVERT:
        return Leg(OUT, row.currency, SWAP), Leg(IN, row.to_currency, SWAP)
    return (Leg(IN if row.kind == states.FROM_SUBACCOUNT else OUT, row.currency, OFFCHAIN),)


def link(*, entry: LedgerEntry, now: datetime) -> bool:
    """Join the entry to the transfer that caused it, and wake whatever waits for one like it; True when it is ours.

    Call it inside the transaction that changed the entry.
    """
    transfers = Transfer.objects.filter(account=entry.account_id)
    owner = transfers.filter(Q(exchange_id=entry.exchange_id) | Q(second_id=entry.exchange_id)).first()
    if owner is not None:
        adopt(owner, LedgerEntry.objects.filter(pk=entry.pk))
        entry.transfer, entry.foreign = owner, False
        _wake(owner, now)
        return True
    of_its_currency = Q(currency=entry.currency) | Q(to_currency=entry.currency)
    for row in transfers.filter(of_its_currency, amount=entry.amount, state__in=WAITING):
        _wake(row, now)
    return False


def adopt(row: Transfer, entries: QuerySet[LedgerEntry]) -> None:
    """Make these entries the transfer's own."""
    entries.update(transfer=row, foreign=False)
    announcements.announce(f"ledger:{row.account_id}")


def is_awaited(entry: LedgerEntry) -> bool:
    """Whether the entry may turn out to be a transfer whose answer we wait for."""
    transfers = Transfer.objects.filter(account=entry.account_id, state__in=states.IN_FLIGHT, amount=entry.amount)
    return any(_is_alike(entry, leg) for row in transfers for leg in legs(row))


def known_ids(*, account: Account, exchange_ids: Iterable[str]) -> set[str]:
    """Those of the ids that the exchange gave to transfers of ours."""
    ids = list(exchange_ids)
    transfers = Transfer.objects.filter(account=account).filter(Q(exchange_id__in=ids) | Q(second_id__in=ids))
    return {one for pair in transfers.values_list("exchange_id", "second_id") for one in pair if one}


def awaited_amounts(*, account: Account) -> set[Decimal]:
    """The amounts of transfers that wait for an entry like them."""
    return {*Transfer.objects.filter(account=account, state__in=WAITING).values_list("amount", flat=True)}


def candidates(row: Transfer, call: TransferCall, *, late: timedelta = timedelta(0)) -> Mapping[Leg, list[LedgerEntry]]:
    """The entries of our copy of the ledger that this call may have caused, for each leg."""
    window = Q(index__gt=call.watermark, created_at__gte=call.created_from, created_at__lte=call.created_until + late)
    entries = list(_free_entries(row).filter(window))
    return {leg: [entry for entry in entries if _is_alike(entry, leg)] for leg in legs(row)}


def lookalike_entries(row: Transfer) -> list[LedgerEntry]:
    """Entries since the request that look like this transfer, although it was never sent.

    Entries that our copy had before the request are left out. A desk whose rows fell back, after a restore or to a copy
    that lags, finds its own transfer in this way.
    """
    earlier_versions = LedgerVersion.objects.filter(entry=OuterRef("pk"), seen_at__lt=row.created_at)
    entries = _free_entries(row).filter(
        ~Exists(earlier_versions), transfer=None, created_at__gte=_asked_at_exchange(row)
    )
    entries = entries.exclude(exchange_id__in=_ids_of_others(row))
    return [entry for entry in entries if any(_is_alike(entry, leg) for leg in legs(row))]


def by_id(row: Transfer, ids: Iterable[str]) -> list[LedgerEntry]:
    """The entries with these ids, as far as our copy has them."""
    return list(LedgerEntry.objects.filter(account=row.account_id, exchange_id__in=[one for one in ids if one]))


def agrees(row: Transfer, entry: LedgerEntry) -> bool:
    """Whether an entry with the transfer's own id matches the request; what a conversion yields may be less a fee."""
    first, *others = legs(row)
    if entry.type in first.types and entry.currency == first.currency:
        return bool(entry.amount == row.amount)
    return any(entry.type in leg.types and entry.currency == leg.currency for leg in others)


def _asked_at_exchange(row: Transfer) -> datetime:
    """About when it was requested by the exchange's clock, rather a little earlier than later."""
    reading = clocks.believed(account=row.account)
    skew = timedelta(0) if reading is None else timedelta(milliseconds=reading.skew_ms)
    return row.created_at + min(skew, timedelta(0)) - EARLY


def _free_entries(row: Transfer) -> QuerySet[LedgerEntry]:
    """Entries of the transfer's amount without another known owner, in the order of the ledger."""
    entries = LedgerEntry.objects.filter(account=row.account_id, amount=row.amount, withdrawal=None)
    unmatched = entries.filter(Q(transfer=None) | Q(transfer=row)).exclude(exchange_id__in=_ids_given_to_others(row))
    return unmatched.order_by("index")


def _ids_of_others(row: Transfer) -> set[str]:
    """Ids of entries that two people found not to belong to an equal transfer."""
    events = TransferEvent.objects.filter(
        transfer__account=row.account_id, transfer__amount=row.amount, transfer__state=states.RESOLVED_NOT_MOVED
    )
    evidence = events.filter(to_state=states.INVESTIGATE).values_list("evidence", flat=True)
    return {entry["exchange_id"] for facts in evidence for entry in facts.get("candidates", ())}


def _is_alike(entry: LedgerEntry, leg: Leg) -> bool:
    """Whether type and currency match the leg, and nothing marks it as another kind of movement."""
    other = {OFFCHAIN, SWAP} - {leg.sub_type}
    same = entry.type in leg.types and entry.currency == leg.currency and entry.status != "failed"
    return same and entry.sub_type not in other and not entry.address and not entry.hash


def _ids_given_to_others(row: Transfer) -> list[str]:
    others = Transfer.objects.filter(account=row.account_id).exclude(pk=row.pk)
    ids = {one for pair in others.values_list("exchange_id", "second_id") for one in pair if one}
    payouts = Withdrawal.objects.filter(account=row.account_id, exchange_id__isnull=False)
    return sorted(ids | {str(one) for one in payouts.values_list("exchange_id", flat=True)})


def _wake(row: Transfer, now: datetime) -> None:
    """Have the machine process the row now if it waits for the ledger."""
    waits = row.state in WAITING or (row.state == states.DONE and row.ledger_seen_at is None)
    if not waits or row.state == states.SENDING:
        return
    if row.next_action_at is not None and row.next_action_at > now:
        machine.touch(row, next_action_at=now)
    outbox.wake(machine.ADVANCE_TASK, row.pk)
