"""Deposits of the chain's coin, compared with the chain: what the exchange says of each, and what its transaction says.

A worker keeps looking at the transactions of recent deposits, so that their answers are read from rows here. A
difference stays until both agree again or a person closes its incident, however old the deposit is by then.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from django.db.models import QuerySet

from chaindata.cache import answers
from chaindata.cache.answers import Reading
from chaindata.explorer import transaction as explorer
from chaindata.shared import addresses
from chaindata.wire.hashing import is_display_hex
from chaindata.wire.records.chain import Transaction
from desk.incidents.kinds import Cause
from desk.incidents.models import Incident
from desk.templatetags.desk import kept_amount
from exchange_ops.addresses.destinations import CHAIN_CODE
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.market.models import Currency
from exchange_ops.shared import alarms

LOOK_TASK: Final = "exchange_ops.compare_deposits"
LOOKED_AT_FOR: Final = timedelta(days=7)
MOST: Final = 100  # deposits that are compared, beside those that differ
SETTLES: Final = timedelta(minutes=2)  # after a change at the exchange, in which the chain's answer may be older
ANNOUNCED: Final = timedelta(minutes=10)  # in which a payment that the exchange has heard of reaches our node
LATE_BLOCKS: Final = 6  # more than the exchange wants, and it still has not credited
LONGEST_PAGE: Final[int] = Incident._meta.get_field("page").max_length or 0
_OPERATION: Final = "get_transaction_details"
_WAITING, _CREDITED = ("created", "pending"), "success"


def look(*, now: datetime) -> int:
    """Keep the transactions of these deposits looked at; how many there are. Asks nobody by itself."""
    return len(answers.read_many([(_OPERATION, {"txid": txid}) for txid in _txids(_compared(now))], now=now))


def causes(now: datetime, only: str) -> Iterator[Cause]:
    """Each deposit about which the exchange and the chain differ."""
    rows = _compared(now)
    txids = _txids(rows)
    kept = answers.stored([(_OPERATION, {"txid": txid}) for txid in txids], now=now)
    found = dict(zip(txids, kept, strict=True))
    needed = Currency.objects.filter(code=CHAIN_CODE).values_list("payin_confirmations", flat=True).first() or 0
    for row in rows:
        reading = found.get(row.hash.lower())
        said = difference(row, reading, needed=needed, now=now) if reading is not None else ""
        if said and only in {"", _key(row)}:
            yield Cause(_key(row), said, _page(row), scope=str(row.account_id))


def difference(row: LedgerEntry, reading: Reading, *, needed: int, now: datetime) -> str:
    """What differs, in a sentence; nothing when they agree, or as long as one of them may only be slower.

    `needed` are the confirmations that the exchange credits a deposit at.
    """
    paid, is_settled = kept_amount(row.amount, row.currency), now - row.updated_at >= SETTLES
    record: Transaction | None = reading.record
    if reading.freshness == "missing":
        return _unknown(row, paid, is_settled=is_settled, now=now)
    if record is None or not is_settled:
        return ""
    return _depth(row, paid, explorer.confirmations(record, now=now), needed) or _wrong_amount(row, record)


_ASK: Final = "Ask the exchange before the money is used."
_CHASE: Final = "Ask the exchange to credit it, and name the transaction."


def _unknown(row: LedgerEntry, paid: str, *, is_settled: bool, now: datetime) -> str:
    """The chain knows no such transaction."""
    status, nothing = row.status.lower(), f"and the chain has no transaction {row.hash[:12]}. {_ASK}"
    if status == _CREDITED and is_settled:
        return f"The exchange credited {paid}, {nothing}"
    if status in _WAITING and now - row.first_seen_at >= ANNOUNCED:
        return f"The exchange expects {paid}, {nothing}"
    return ""


def _depth(row: LedgerEntry, paid: str, depth: int, needed: int) -> str:
    """It is less deep, or deeper, than what the exchange says."""
    status = row.status.lower()
    if status == _CREDITED:
        loose = f"The exchange credited {paid}, and its transaction {row.hash[:12]} is in no block. {_ASK}"
        return loose if needed and not depth else ""
    if status in _WAITING and depth >= needed + LATE_BLOCKS:
        return f"The exchange has not credited {paid}, and its transaction is {depth} blocks deep. {_CHASE}"
    if status not in _WAITING and depth:
        return f"At the exchange the deposit of {paid} is {status}, and its transaction is in a block. {_CHASE}"
    return ""


def _wrong_amount(row: LedgerEntry, record: Transaction) -> str:
    """Several deposits may be paid by one transaction: together they are what it pays to the address."""
    if row.status.lower() != _CREDITED:
        return ""
    try:
        printed = addresses.printed(row.address)
    except addresses.NotAnAddress:
        return ""
    made = [explorer.making(each) for each in record.vout]
    came = sum((each.coins for each in made if each.addresses == [printed]), Decimal(0))
    same = LedgerEntry.objects.filter(account_id=row.account_id, type=row.type, currency=row.currency)
    same = same.filter(hash__iexact=row.hash, address=row.address)
    credited = row.amount if came == row.amount else sum((each.amount for each in same), Decimal(0))
    if came == credited:
        return ""
    said, paid = kept_amount(credited, row.currency), kept_amount(came, row.currency)
    return f"The exchange credited {said}, and transaction {row.hash[:12]} pays {paid} to the address. {_ASK}"


def _compared(now: datetime) -> list[LedgerEntry]:
    """The newest deposits of the last days, and those that differed before."""
    rows: QuerySet[LedgerEntry] = LedgerEntry.objects.filter(type="payin", currency=CHAIN_CODE).exclude(hash="")
    recent = rows.filter(updated_at__gte=now - LOOKED_AT_FOR).order_by("-updated_at", "-pk")[:MOST]
    going_on = Incident.objects.filter(kind=alarms.DEPOSIT_DIFFERS, gone_at=None).values_list("cause", flat=True)
    differed = rows.filter(pk__in=[cause.rpartition(":")[2] for cause in going_on])
    return list({row.pk: row for row in (*recent, *differed)}.values())


def _txids(rows: list[LedgerEntry]) -> list[str]:
    return list(dict.fromkeys(txid for row in rows if is_display_hex(txid := row.hash.lower())))


def _page(row: LedgerEntry) -> str:
    """The deposits to its address, found by the end of it: an incident keeps a short address, and no whole hash."""
    page = "deposits?text="
    end = "".join(each for each in row.address if each.isascii() and each.isalnum())[len(page) - LONGEST_PAGE :]
    return f"{page}{end}" if end and row.address.endswith(end) else "deposits"


def _key(row: LedgerEntry) -> str:
    return f"deposit:{row.pk}"
