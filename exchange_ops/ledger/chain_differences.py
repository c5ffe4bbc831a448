"""Deposits of the chain's coin, compared with the chain: the exchange's record of each, and its transaction.

A worker keeps the transactions of recent deposits fresh, so that their answers are read from rows here. A difference
stays until both agree again or a person closes its incident, however old the deposit is by then.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from django.db.models import QuerySet

from chaindata.cache import answers
from chaindata.cache.answers import Reading
from chaindata.explorer import transaction
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

TASK: Final = "exchange_ops.compare_deposits"
LOOKED_AT_FOR: Final = timedelta(days=7)
MOST: Final = 100  # deposits that are compared, in addition to those that differ
GRACE_PERIOD: Final = timedelta(minutes=2)  # after a change at the exchange, in which the chain's answer may be older
ANNOUNCED: Final = timedelta(minutes=10)  # in which a payment that the exchange has heard of reaches our node
LATE_BLOCKS: Final = 6  # above the confirmations that the exchange requires, without a credit
LONGEST_PAGE: Final[int] = Incident._meta.get_field("page").max_length or 0
_OPERATION: Final = "get_transaction_details"
_WAITING, _CREDITED = ("created", "pending"), "success"


def refresh(*, now: datetime) -> int:
    """Renew the interest in the transactions of these deposits; returns how many there are. Calls nobody itself."""
    return len(answers.read_many([(_OPERATION, {"txid": txid}) for txid in _txids(_compared(now))], now=now))


def causes(now: datetime, only: str) -> Iterator[Cause]:
    """The deposits on which the exchange and the chain differ."""
    rows = _compared(now)
    txids = _txids(rows)
    readings = answers.stored([(_OPERATION, {"txid": txid}) for txid in txids], now=now)
    reading_by_txid = dict(zip(txids, readings, strict=True))
    needed = Currency.objects.filter(code=CHAIN_CODE).values_list("payin_confirmations", flat=True).first() or 0
    for row in rows:
        reading = reading_by_txid.get(row.hash.lower())
        sentence = difference(row, reading, needed=needed, now=now) if reading is not None else ""
        if sentence and only in {"", _key(row)}:
            yield Cause(_key(row), sentence, _page(row), scope=str(row.account_id))


def difference(row: LedgerEntry, reading: Reading, *, needed: int, now: datetime) -> str:
    """What differs, in a sentence; empty when they agree, or while one of them may only be slower.

    `needed` is the number of confirmations at which the exchange credits a deposit.
    """
    paid, is_settled = kept_amount(row.amount, row.currency), now - row.updated_at >= GRACE_PERIOD
    record: Transaction | None = reading.record
    if reading.freshness == "missing":
        return _unknown(row, paid, is_settled=is_settled, now=now)
    if record is None or not is_settled:
        return ""
    return _depth(row, paid, transaction.confirmations(record, now=now), needed) or _wrong_amount(row, record)


_ASK: Final = "Contact the exchange before using the funds."
_CHASE: Final = "Ask the exchange to credit the deposit, quoting the transaction ID."


def _unknown(row: LedgerEntry, paid: str, *, is_settled: bool, now: datetime) -> str:
    """The problem when the chain has no such transaction."""
    status, nothing = row.status.lower(), f"but transaction {row.hash[:12]} is not on-chain. {_ASK}"
    if status == _CREDITED and is_settled:
        return f"The exchange credited {paid}, {nothing}"
    if status in _WAITING and now - row.first_seen_at >= ANNOUNCED:
        return f"The exchange expects {paid}, {nothing}"
    return ""


def _depth(row: LedgerEntry, paid: str, depth: int, needed: int) -> str:
    """The problem when the transaction's depth does not fit the exchange's status."""
    status = row.status.lower()
    if status == _CREDITED:
        loose = f"The exchange credited {paid}, but its transaction {row.hash[:12]} is not in a block. {_ASK}"
        return loose if needed and not depth else ""
    if status in _WAITING and depth >= needed + LATE_BLOCKS:
        return f"The exchange has not credited {paid}, although its transaction has {depth} confirmations. {_CHASE}"
    if status not in _WAITING and depth:
        return f"The exchange shows the deposit of {paid} as {status}, although its transaction is in a block. {_CHASE}"
    return ""


def _wrong_amount(row: LedgerEntry, record: Transaction) -> str:
    """One transaction may pay several deposits: their sum has to be what it pays to the address."""
    if row.status.lower() != _CREDITED:
        return ""
    try:
        printed = addresses.printed(row.address)
    except addresses.NotAnAddress:
        return ""
    outputs = [transaction.making(each) for each in record.vout]
    paid_amount = sum((each.coins for each in outputs if each.addresses == [printed]), Decimal(0))
    same = LedgerEntry.objects.filter(account_id=row.account_id, type=row.type, currency=row.currency)
    same = same.filter(hash__iexact=row.hash, address=row.address)
    credited = row.amount if paid_amount == row.amount else sum((each.amount for each in same), Decimal(0))
    if paid_amount == credited:
        return ""
    credited_text, paid = kept_amount(credited, row.currency), kept_amount(paid_amount, row.currency)
    return f"The exchange credited {credited_text}, but transaction {row.hash[:12]} pays {paid} to the address. {_ASK}"


def _compared(now: datetime) -> list[LedgerEntry]:
    """The newest deposits of the last days, and those with an open difference."""
    rows: QuerySet[LedgerEntry] = LedgerEntry.objects.filter(type="payin", currency=CHAIN_CODE).exclude(hash="")
    recent = rows.filter(updated_at__gte=now - LOOKED_AT_FOR).order_by("-updated_at", "-pk")[:MOST]
    open_causes = Incident.objects.filter(kind=alarms.DEPOSIT_DIFFERS, gone_at=None).values_list("cause", flat=True)
    differing = rows.filter(pk__in=[cause.rpartition(":")[2] for cause in open_causes])
    return list({row.pk: row for row in (*recent, *differing)}.values())


def _txids(rows: list[LedgerEntry]) -> list[str]:
    return list(dict.fromkeys(txid for row in rows if is_display_hex(txid := row.hash.lower())))


def _page(row: LedgerEntry) -> str:
    """The list of deposits, searched by the end of the address: an incident's page has no room for a whole one."""
    page = "deposits?text="
    end = "".join(each for each in row.address if each.isascii() and each.isalnum())[len(page) - LONGEST_PAGE :]
    return f"{page}{end}" if end and row.address.endswith(end) else "deposits"


def _key(row: LedgerEntry) -> str:
    return f"deposit:{row.pk}"
