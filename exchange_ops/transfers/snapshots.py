"""The account at one moment: its bank balances and the end of its ledger, read so that they agree.

Read before a transfer is sent, and again when its answer was lost: the difference of the two says what happened.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from desk.machines.mover import texts
from exchange_ops.client import ExchangeClient
from exchange_ops.keys import clients
from exchange_ops.keys.clients import ClientFor
from exchange_ops.keys.store import NoUsableKey
from exchange_ops.ledger import balances, sync, walks
from exchange_ops.ledger.models import Balance, LedgerEntry, LedgerVersion
from exchange_ops.shared.models import Account
from exchange_ops.transfers.models import TransferCall
from exchange_ops.wire.catalogue import Right
from exchange_ops.withdrawals.evidence.figures import DONE, FROM_TRADING, INCOMING, OUTGOING, TO_TRADING
from wire.errors import CallFailed

MOVES = "The account is too active for a consistent snapshot."
READINGS = 4  # until the account stands still for the length of one reading
ZERO = Decimal(0)
Wallets = dict[str, dict[str, dict[str, Decimal]]]


class CannotRead(Exception):
    """The account can't be read with certainty at this moment; the text says why."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Available and reserved by wallet and currency, the ledger's highest index, and how many records were unread."""

    watermark: int
    wallets: Wallets
    unread: int = 0
    remark: str = ""

    def facts(self) -> dict[str, object]:
        """The balances as they are stored with a call, exact."""
        return {
            wallet: {code: texts(amounts) for code, amounts in balances_by_currency.items()}
            for wallet, balances_by_currency in self.wallets.items()
        }


def read(
    *, account: Account, currencies: Iterable[str], client_for: ClientFor, now: datetime, patient: bool = True
) -> Snapshot:
    """Read the account at one moment, and store what was read in our copies. Raises CannotRead.

    With `patient`, an account that does not stand still is tried again later. Without it the snapshot has no bank
    balances, and people decide what these would have proven. The trading wallet changes with every trade and needs a
    key with another right, so it is read last and is evidence only.
    """
    if walks.is_being_read(account=account, now=now):
        raise CannotRead(f"The exchange's ledger is not fully synced yet. {walks.sentence(account=account)}")
    codes = sorted(set(currencies))
    try:
        with clients.client(client_for, account=account, right=Right.PAYMENTS) as client:
            bank, unread = _bank_at_rest(account, codes, client, now)
        if not bank and patient:
            raise CannotRead(MOVES)
    except (CallFailed, NoUsableKey) as problem:
        raise CannotRead(f"The exchange's ledger is not available: {problem}") from problem
    wallets: Wallets = {Balance.BANK: bank}
    remark = "" if bank else MOVES
    try:
        with clients.client(client_for, account=account, right=Right.HISTORY) as client:
            wallets[Balance.TRADING] = _read_wallet(account, Balance.TRADING, codes, client, now)
    except (CallFailed, NoUsableKey, CannotRead) as problem:
        remark = f"The trading balance could not be read: {problem}"
    return Snapshot(sync.highest_index(account=account), wallets, unread, remark)


def unexplained(call: TransferCall, after: Snapshot) -> dict[str, Decimal] | None:
    """By how much the bank balance of each currency moved without a transaction that says so, zeros left out.

    None when nothing can be said: one of the two was read while the account moved, or a transaction of a type without
    a known sign came in between.
    """
    bank: Mapping[str, Mapping[str, str]] = call.balances.get(Balance.BANK, {})
    if not bank or not after.wallets[Balance.BANK]:
        return None
    differences: dict[str, Decimal] = {}
    for code, amounts in bank.items():
        change = _moved_since(call, code)
        if change is None:
            return None
        balance = _total(after.wallets[Balance.BANK].get(code, {}))
        differences[code] = balance - sum((Decimal(value) for value in amounts.values()), ZERO) - change
    return {code: amount for code, amount in differences.items() if amount}


def _bank_at_rest(
    account: Account, codes: list[str], client: ExchangeClient, now: datetime
) -> tuple[dict[str, dict[str, Decimal]], int]:
    """The bank balances between two equal readings, with the ledger read in between; none if there are no equal ones.

    Totals have to be equal: reserving and releasing moves money inside the wallet, without a completed transaction.
    """
    before = _read_wallet(account, Balance.BANK, codes, client, now)
    for _ in range(READINGS):
        unread = 0
        for page in client.transactions_after(index=sync.watermark(account=account)):
            sync.apply(account=account, transactions=page.records, asides=page.asides, source=sync.REST, now=now)
            unread += len(page.asides) + sum(bool(sync.unstorable(record)) for record in page.records)
        after = _read_wallet(account, Balance.BANK, codes, client, now)
        if all(_total(before[code]) == _total(after[code]) for code in codes):
            return after, unread
        before = after
    return {}, unread


def _read_wallet(
    account: Account, wallet: str, codes: list[str], client: ExchangeClient, now: datetime
) -> dict[str, dict[str, Decimal]]:
    listing = client.get_balances() if wallet == Balance.BANK else client.get_trading_balances()
    if listing.asides:
        raise CannotRead(f"A {wallet} balance could not be read: {listing.asides[0].reason}.")
    balances.store(account=account, wallet=wallet, entries=listing.records, now=now, full=True)
    entries = {entry.currency: entry for entry in listing.records}
    return {
        code: {
            "available": entries[code].available if code in entries else ZERO,
            "reserved": entries[code].reserved if code in entries else ZERO,
        }
        for code in codes
    }


def _moved_since(call: TransferCall, code: str) -> Decimal | None:
    """What transactions changed in the bank balance since the call's snapshot; None when one has no known sign."""
    total = ZERO
    for entry in LedgerEntry.objects.filter(account=call.account_id, currency=code, index__gt=call.watermark):
        if _was_counted_before(entry, call):
            continue
        before = LedgerVersion.objects.filter(entry=entry, index__lte=call.watermark).order_by("-index").first()
        change = (entry.status == DONE) - (before is not None and before.status == DONE)
        if change:
            signed = _signed(entry)
            if signed is None:
                return None
            total += change * signed
    return total


def _was_counted_before(entry: LedgerEntry, call: TransferCall) -> bool:
    """Whether it is an earlier transfer of ours that was listed late: the snapshot's balances included it already."""
    if entry.transfer_id is None or entry.transfer_id == call.transfer_id:
        return False
    calls = TransferCall.objects.filter(transfer=entry.transfer_id, answered_at__lt=call.prepared_at)
    return calls.filter(outcome=TransferCall.ACCEPTED).exists()


def _signed(entry: LedgerEntry) -> Decimal | None:
    amount: Decimal = entry.amount
    if entry.type in INCOMING or entry.type == FROM_TRADING:
        return amount
    if entry.type in OUTGOING:
        return -(amount + (entry.fee or ZERO))
    return -amount if entry.type == TO_TRADING else None


def _total(amounts: Mapping[str, Decimal]) -> Decimal:
    return sum(amounts.values(), ZERO)
