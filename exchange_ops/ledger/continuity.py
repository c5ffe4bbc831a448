"""Whether the exchange still gives the ledger that was copied: its newest known transactions, asked at each reading.

Another database behind the same address would look like a ledger without news, and indexes that begin anew would never
reach the watermark. So the newest transactions of the copy are asked for by their ids before anything is read: that
costs one call, depends on no page and no index, and finds an entry that has changed since. What never changes of a
transaction (exchange REST, Transaction: id, type, currency, createdAt) has to be the same, and its index, which only
grows, no lower. Nothing of the copy is changed by what is found.

When all of them are other or absent, and the ledger isn't empty, the account is frozen at once. When only some are, or
the ledger is empty as while an exchange starts, the reading fails, and the account is frozen when none succeeded for
`DOUBT_LASTS`.

A stream's records are compared as well (`require_same`), before they are stored: a known transaction that is another
one, or a known index with another id. Such a message is kept aside; the next reading finds out what is true.

Two treasurers accept the exchange's ledger by lifting that freeze, which says so in the text that they sign. From then
on only what was read after it is compared, and the next walk begins at the first index.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction

from desk.audit import trail
from exchange_ops.client import ExchangeClient
from exchange_ops.ledger import sync, walks
from exchange_ops.ledger.models import LedgerEntry, LedgerVersion, Watermark
from exchange_ops.policy import freezes
from exchange_ops.policy.models import Freeze
from exchange_ops.shared.models import Account
from exchange_ops.wire import records
from wire.errors import CallFailed, Refused

NEWEST: Final = 3
ACCEPTS: Final = "Lifting this freeze accepts its present ledger, and all of it is read again."  # signed by both
ACCEPTED: Final = "accepted ledger"
DOUBT_LASTS: Final = timedelta(minutes=1)
NO_SUCH_TRANSACTION: Final = 20004  # exchange REST, Errors
TIMES_AGREE_WITHIN: Final = timedelta(seconds=1)  # stream and listing may round differently


class LedgerBroke(CallFailed):
    """The exchange's ledger isn't the one that was read so far; the text says what is missing or other."""


def require(*, account: Account, client: ExchangeClient, now: datetime) -> None:
    """Compare the newest known transactions with the exchange's. Raises LedgerBroke, and freezes the account.

    A copy without a transaction from the exchange's listing, as that of a new account, has nothing to compare.
    """
    accepted = _accepted(account)
    if accepted is not None:
        _begin_again(account, accepted, now)
    entries = _newest(account, accepted)
    problems = [problem for entry in entries[:1] if (problem := _difference(entry, client))]
    if not problems:
        return
    problems += [problem for entry in entries[1:] if (problem := _difference(entry, client))]
    is_certain = len(problems) == len(entries) and bool(client.listing("get_transactions", limit=1).records)
    if is_certain or _lasts(account, now):
        _freeze(account, problems, now)
    raise LedgerBroke(f"This is not the same ledger as in earlier syncs. {problems[0]}")


def require_same(*, account: Account, transactions: Sequence[records.Transaction]) -> None:
    """Compare a stream's records with the copy of them, without a call. Raises LedgerBroke; freezes nothing.

    A stream may bring an older version late, so a lower index alone is no difference.
    """
    accepted = _accepted(account)
    compared = LedgerVersion.objects.filter(account=account, **_since(accepted)).select_related("entry")
    by_id = {one.entry.exchange_id: one.entry for one in compared.filter(entry__exchange_id__in=_ids(transactions))}
    ids = dict(
        compared.filter(index__in=[one.index for one in transactions]).values_list("index", "entry__exchange_id")
    )
    for record in transactions:
        entry = by_id.get(record.id)
        if entry is not None and not _is_same(entry, record, is_newer=False):
            raise LedgerBroke(f"This is not the same ledger as in earlier syncs. {_other(entry, record)}")
        if ids.get(record.index, record.id) != record.id:
            raise LedgerBroke(
                f"This is not the same ledger as in earlier syncs. Index {record.index} was transaction "
                f"{ids[record.index]} and is now {record.id}."
            )


def _ids(transactions: Sequence[records.Transaction]) -> list[str]:
    return [one.id for one in transactions]


def _accepted(account: Account) -> Freeze | None:
    """The last freeze of another ledger that two treasurers have lifted."""
    rows = Freeze.objects.filter(account=account, frozen_by=None, thawed_at__isnull=False, reason__contains=ACCEPTS)
    return rows.order_by("-pk").first()


def _begin_again(account: Account, accepted: Freeze, now: datetime) -> None:
    """Once for each lifted freeze: have the whole ledger read, and record that it was accepted."""
    if Watermark.objects.filter(account=account, name=ACCEPTED, index=accepted.pk).exists():
        return
    with transaction.atomic():
        Watermark.put(account=account, name=ACCEPTED, index=accepted.pk, now=now)
        for name in (sync.WATERMARK, sync.UNFINISHED):
            Watermark.put(account=account, name=name, index=0, now=now)
        trail.record(
            actor=None,
            action="freeze.ledger_accepted",
            subject=f"freeze:{accepted.pk}",
            before={},
            after={"account": account.pk, "reason": accepted.reason},
            now=now,
        )


def _since(accepted: Freeze | None) -> dict[str, datetime | None]:
    return {} if accepted is None else {"seen_at__gt": accepted.thawed_at}


def _newest(account: Account, accepted: Freeze | None) -> list[LedgerEntry]:
    """The newest entries that the exchange's own listing gave; what a stream alone brought may not be listed yet."""
    listed = LedgerVersion.objects.filter(account=account, source=sync.REST, **_since(accepted)).order_by("-index")
    return [version.entry for version in listed.select_related("entry")[:NEWEST]]


def _difference(entry: LedgerEntry, client: ExchangeClient) -> str:
    """What is other about this transaction at the exchange, as a sentence; empty when it is the same."""
    title = f"Transaction {entry.exchange_id} dated {entry.created_at:%Y-%m-%d %H:%M} UTC"
    try:
        record = client.get_transaction(exchange_id=entry.exchange_id)
    except Refused as refused:
        if refused.code != NO_SUCH_TRANSACTION:
            raise
        return f"{title} is missing at the exchange."
    if _is_same(entry, record):
        return ""
    return _other(entry, record)


def _other(entry: LedgerEntry, record: records.Transaction) -> str:
    return (
        f"Transaction {entry.exchange_id} dated {entry.created_at:%Y-%m-%d %H:%M} UTC differs at the exchange: "
        f"{record.type} in {record.currency} dated {record.created_at:%Y-%m-%d %H:%M} UTC."
    )


def _is_same(entry: LedgerEntry, record: records.Transaction, *, is_newer: bool = True) -> bool:
    return (
        record.id == entry.exchange_id
        and record.type == entry.type
        and record.currency == entry.currency
        and (record.index >= entry.index or not is_newer)
        and abs(record.created_at - entry.created_at) <= TIMES_AGREE_WITHIN
    )


def _lasts(account: Account, now: datetime) -> bool:
    last = walks.read_at(account=account)
    return last is not None and now - last > DOUBT_LASTS


def _freeze(account: Account, problems: list[str], now: datetime) -> None:
    if freezes.active(account) is not None:
        return
    reason = (
        f"The exchange's ledger for {account.name} is not the one synced before. "
        f"Check with the exchange first. {ACCEPTS} The stored copy was not changed. {problems[0]}"
    )
    freezes.freeze(person=None, reason=reason, account=account, now=now)
