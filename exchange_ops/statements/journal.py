"""The movements of a period as a journal in double entry: for each movement and currency, debits equal credits.

Amounts stay in their own currency, one journal for all. Nothing is netted, and what has no known sign is written to
suspense on both sides, so that no movement is missing. The names of the accounts are those of `ACCOUNTS`; beside them
stand the number and the name that administrators gave them (`bookkeeping.accounts`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from heapq import merge
from operator import attrgetter
from typing import Final

from exchange_ops.ledger import directions
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.orders.models import AccountTrade
from exchange_ops.portfolio import effects
from exchange_ops.positions import results
from exchange_ops.shared.models import Account
from exchange_ops.shared.periods import Period
from exchange_ops.statements import bank
from exchange_ops.statements.lines import TRADES, ZERO

BANK, TRADING, SUSPENSE, UNKNOWN = "bank", "trading", "suspense", "unknown"
NETWORK_FEES, TRADING_FEES = "network fees", "trading fees"
# The accounts of the journal by what is written to them.
ACCOUNTS: Final = {
    BANK: "Exchange bank wallet",
    TRADING: "Exchange trading wallet",
    directions.DEPOSITS: "Deposits received",
    directions.PAYOUTS: "Payouts made",
    directions.CONVERSIONS: "Conversion clearing",
    directions.SUBACCOUNTS: "Exchange sub-accounts",
    TRADES: "Trade clearing",
    NETWORK_FEES: "Network fees",
    TRADING_FEES: "Trading fees",
    SUSPENSE: "Suspense",
    UNKNOWN: "Suspense: unknown sign",
}
# Which of them stand against each other in a posting: they can't be one account.
FACING: Final = {
    BANK: (
        *(TRADING, directions.DEPOSITS, directions.PAYOUTS, directions.CONVERSIONS, directions.SUBACCOUNTS),
        NETWORK_FEES,
    ),
    TRADING: (TRADES, TRADING_FEES),
    SUSPENSE: (UNKNOWN,),
}
COLUMNS: Final = (
    *("account", "dated at (UTC)", "movement", "kind", "journal account", "number", "name"),
    *("debit", "credit", "currency", "payout or transfer", "address", "hash", "note"),
)
UNKNOWN_SIGN: Final = "Unknown type: the effect on the balance is not known. Post it by hand."
DELISTED: Final = "The exchange no longer lists this symbol; the quantity is given. Post it by hand."
CHUNK: Final = 2_000
KIND_LABELS: Final = {
    directions.DEPOSITS: "Deposit",
    directions.PAYOUTS: "Payout",
    directions.CONVERSIONS: "Conversion",
    directions.WALLETS: "Transfer between wallets",
    directions.SUBACCOUNTS: "Sub-account transfer",
    directions.OTHER: "Other",
    TRADES: "Trade",
}


@dataclass(frozen=True, slots=True)
class Posting:
    """An amount that moves from the account `credit` to the account `debit`; below zero the other way round."""

    debit: str
    credit: str
    amount: Decimal
    currency: str

    @property
    def upright(self) -> "Posting":
        """The same posting with an amount that is not below zero."""
        if self.amount >= 0:
            return self
        return Posting(self.credit, self.debit, -self.amount, self.currency)

    def sides(self) -> Iterator[tuple[str, Decimal | None, Decimal | None]]:
        """Both lines: key of the account, debit and credit, of which one is empty and the other above zero."""
        upright = self.upright
        yield upright.debit, upright.amount, None
        yield upright.credit, None, upright.amount


@dataclass(frozen=True, slots=True)
class Movement:
    """One entry of the ledger, or one trade, with its postings."""

    at: datetime
    number: str
    kind: str
    postings: tuple[Posting, ...]
    reference: str = ""
    address: str = ""
    hash: str = ""
    note: str = ""


def rows(
    account: Account, period: Period, *, names: Callable[[str], tuple[str, str]] = lambda _: ("", "")
) -> Iterator[list[object]]:
    """The lines of the journal in the order of time, a few at a time; `names` gives number and name of an account."""
    for movement in of(account, period):
        for posting in movement.postings:
            for key, debit, credit in posting.sides():
                yield [
                    *(account.name, movement.at, movement.number, KIND_LABELS[movement.kind]),
                    *(ACCOUNTS[key], *names(key)),
                    *(debit, credit, posting.currency),
                    *(movement.reference, movement.address, movement.hash, movement.note),
                ]


def of(account: Account, period: Period) -> Iterator[Movement]:
    """Every movement of the period in the order of time: ledger entries that succeeded, and own trades."""
    entries = bank.of_period(account, period).annotate(movement=directions.kind())
    ordered = entries.select_related("withdrawal", "transfer").order_by("updated_at", "pk")
    return merge(
        (of_entry(entry, entry.movement) for entry in ordered.iterator(CHUNK)),
        (of_trade(trade) for trade in effects.trades(account, since=period.begins, until=period.ends)),
        _delisted(account, period),
        key=attrgetter("at"),
    )


def of_entry(entry: LedgerEntry, kind: str) -> Movement:
    """The postings of a ledger entry of this kind."""
    note = UNKNOWN_SIGN if kind == directions.OTHER else ""
    reference = entry.withdrawal.reference if entry.withdrawal else entry.transfer.reference if entry.transfer else ""
    postings = tuple(posting for posting in _postings(entry, kind) if posting.amount)
    return Movement(entry.updated_at, entry.exchange_id, kind, postings, reference, entry.address, entry.hash, note)


def _postings(entry: LedgerEntry, kind: str) -> Iterator[Posting]:
    amount, code = entry.amount, entry.currency
    if kind == directions.OTHER:
        yield Posting(SUSPENSE, UNKNOWN, amount, code)
    elif kind == directions.WALLETS:
        yield Posting(TRADING, BANK, amount if entry.type == effects.TO_TRADING else -amount, code)
    elif directions.of(entry.type) == directions.IN:
        yield Posting(BANK, kind, amount, code)
    else:
        yield Posting(kind, BANK, amount, code)
        yield Posting(NETWORK_FEES, BANK, entry.fee or ZERO, code)


def of_trade(trade: effects.Trade) -> Movement:
    """The postings of a trade: what was bought against what was sold, through clearing, and its fee or rebate."""
    *pair, fee = effects.trade_changes(trade)
    postings = [Posting(TRADING, TRADES, each.amount or ZERO, each.currency) for each in pair]
    # The change of a fee is below zero; a rebate is turned round by the posting.
    postings.append(Posting(TRADING_FEES, TRADING, -(fee.amount or ZERO), fee.currency))
    return Movement(trade.at, f"trade {trade.number}", TRADES, tuple(each for each in postings if each.amount))


def _delisted(account: Account, period: Period) -> Iterator[Movement]:
    """Trades in symbols that the exchange describes no longer: their currencies are not known."""
    trades = AccountTrade.objects.filter(account=account, symbol__in=effects.unknown_symbols(account))
    trades = trades.exclude(results.is_on_margin(account)).exclude(liquidation=True)
    within = trades.filter(timestamp__gte=period.begins, timestamp__lt=period.ends)
    for trade in within.order_by("timestamp", "exchange_id").iterator(CHUNK):
        posting = Posting(SUSPENSE, UNKNOWN, trade.quantity, trade.symbol)
        yield Movement(trade.timestamp, f"trade {trade.exchange_id}", TRADES, (posting,), note=DELISTED)
