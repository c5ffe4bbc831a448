"""Whether the exchange still gives the ledger that was copied: its newest known transactions, asked at each reading.

Another database behind the same address would look like a ledger without news, and indexes that begin anew would never
reach the watermark. So the newest transactions of the copy are asked for by their ids before anything is read: that
costs one call, depends on no page and no index, and finds an entry that has changed since. What never changes of a
transaction (exchange REST, Transaction: id, type, currency, createdAt) has to be the same, and its index, which only
grows, no lower. Nothing of the copy is changed by what is found.

When all of them are other or absent, and the ledger isn't empty, the account is frozen at once. When only some are, or
the ledger is empty as while an exchange starts, the reading fails, and the account is frozen when none succeeded for
`DOUBT_LASTS`.
"""

from datetime import datetime, timedelta
from typing import Final

from exchange_ops.client import ExchangeClient
from exchange_ops.ledger import sync, walks
from exchange_ops.ledger.models import LedgerEntry, LedgerVersion
from exchange_ops.policy import freezes
from exchange_ops.shared.models import Account
from exchange_ops.wire import records
from wire.errors import CallFailed, Refused

NEWEST: Final = 3
DOUBT_LASTS: Final = timedelta(minutes=1)
NO_SUCH_TRANSACTION: Final = 20004  # exchange REST, Errors
TIMES_AGREE_WITHIN: Final = timedelta(seconds=1)  # stream and listing may round differently


class LedgerBroke(CallFailed):
    """The exchange's ledger isn't the one that was read so far; the text says what is missing or other."""


def require(*, account: Account, client: ExchangeClient, now: datetime) -> None:
    """Compare the newest known transactions with the exchange's. Raises LedgerBroke, and freezes the account.

    A copy without a transaction from the exchange's listing, as that of a new account, has nothing to compare.
    """
    entries = _newest(account)
    problems = [problem for entry in entries[:1] if (problem := _difference(entry, client))]
    if not problems:
        return
    problems += [problem for entry in entries[1:] if (problem := _difference(entry, client))]
    is_certain = len(problems) == len(entries) and bool(client.listing("get_transactions", limit=1).records)
    if is_certain or _lasts(account, now):
        _freeze(account, problems, now)
    raise LedgerBroke(f"It isn't the ledger that was read so far. {problems[0]}")


def _newest(account: Account) -> list[LedgerEntry]:
    """The newest entries that the exchange's own listing gave; what a stream alone brought may not be listed yet."""
    listed = LedgerVersion.objects.filter(account=account, source=sync.REST).order_by("-index")
    return [version.entry for version in listed.select_related("entry")[:NEWEST]]


def _difference(entry: LedgerEntry, client: ExchangeClient) -> str:
    """What is other about this transaction at the exchange, as a sentence; empty when it is the same."""
    title = f"Transaction {entry.exchange_id} of {entry.created_at:%Y-%m-%d %H:%M} UTC"
    try:
        record = client.get_transaction(exchange_id=entry.exchange_id)
    except Refused as refused:
        if refused.code != NO_SUCH_TRANSACTION:
            raise
        return f"{title} is missing at the exchange."
    if _is_same(entry, record):
        return ""
    return f"{title} is another one at the exchange: {record.type} of {record.created_at:%Y-%m-%d %H:%M} UTC."


def _is_same(entry: LedgerEntry, record: records.Transaction) -> bool:
    return (
        record.id == entry.exchange_id
        and record.type == entry.type
        and record.currency == entry.currency
        and record.index >= entry.index
        and abs(record.created_at - entry.created_at) <= TIMES_AGREE_WITHIN
    )


def _lasts(account: Account, now: datetime) -> bool:
    last = walks.read_at(account=account)
    return last is not None and now - last > DOUBT_LASTS


def _freeze(account: Account, problems: list[str], now: datetime) -> None:
    if freezes.active(account) is not None:
        return
    reason = (
        f"The exchange's ledger of {account.name} isn't the one that was read so far. {problems[0]} "
        "The stored copy was not changed. Ask the exchange before you lift this."
    )
    freezes.freeze(person=None, reason=reason, account=account, now=now)
