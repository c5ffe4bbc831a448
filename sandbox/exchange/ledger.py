"""The double-entry ledger: accounts x wallets x currencies, in exact decimals; every posting sums to zero.

A customer has four wallets: bank and trading, each available and reserved. The exchange's own side has three more:
the outside world (chains, banks), the fees it earned, and the stock that conversions draw on. Money enters and leaves
only against the outside, so the sum over everything is always zero; the outside and the stock may be negative, no
customer's wallet ever is.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from sandbox.exchange.amounts import EXACT, ZERO, text_of

HOUSE = "exchange"
SHOWN_POSTINGS = 10_000


class Wallet(StrEnum):
    """Where an amount lies."""

    BANK = "bank"
    BANK_RESERVED = "bankReserved"
    TRADING = "trading"
    TRADING_RESERVED = "tradingReserved"
    OUTSIDE = "outside"
    FEES = "fees"
    STOCK = "conversionStock"


_MAY_BE_NEGATIVE = frozenset({Wallet.OUTSIDE, Wallet.STOCK})
CUSTOMER_WALLETS = (Wallet.BANK, Wallet.BANK_RESERVED, Wallet.TRADING, Wallet.TRADING_RESERVED)


class CannotPost(Exception):
    """The posting would break the ledger (sum not zero, or a wallet below zero); nothing was posted."""


@dataclass(frozen=True, slots=True)
class Line:
    """One side of a posting: `amount` is added to the wallet (negative: taken out)."""

    account: str
    wallet: Wallet
    currency: str
    amount: Decimal


@dataclass(frozen=True, slots=True)
class Posting:
    """A movement: its running number, its instant, what for, and the transaction it belongs to."""

    number: int
    at_ms: int
    purpose: str
    reference: str
    lines: tuple[Line, ...]


class Ledger:
    """All balances of one world. Only `post` changes them."""

    def __init__(self) -> None:
        self._balances: dict[str, dict[str, dict[Wallet, Decimal]]] = {}
        self._postings: deque[Posting] = deque(maxlen=SHOWN_POSTINGS)
        self.posted = 0

    def balance(self, account: str, wallet: Wallet, currency: str) -> Decimal:
        """What lies in one wallet; zero when nothing ever did."""
        return self._balances.get(account, {}).get(currency, {}).get(wallet, ZERO)

    def post(self, at_ms: int, purpose: str, reference: str, lines: Iterable[Line]) -> None:
        """Moves amounts: all lines or, when the posting would break the ledger, none (`CannotPost`)."""
        kept = tuple(line for line in lines if line.amount)
        after: dict[tuple[str, str, Wallet], Decimal] = {}
        sums: dict[str, Decimal] = defaultdict(lambda: ZERO)
        for line in kept:
            key = (line.account, line.currency, line.wallet)
            before = after[key] if key in after else self.balance(line.account, line.wallet, line.currency)
            after[key] = EXACT.add(before, line.amount)
            sums[line.currency] = EXACT.add(sums[line.currency], line.amount)
        if any(sums.values()):
            raise CannotPost(f"The posting {purpose!r} does not sum to zero.")
        for (account, currency, wallet), amount in after.items():
            if amount < 0 and wallet not in _MAY_BE_NEGATIVE:
                raise CannotPost(f"{account} has too little {currency} in {wallet}.")
        for (account, currency, wallet), amount in after.items():
            self._balances.setdefault(account, {}).setdefault(currency, {})[wallet] = amount
        self.posted += 1
        self._postings.append(Posting(self.posted, at_ms, purpose, reference, kept))

    def currencies_of(self, account: str) -> Mapping[str, Mapping[Wallet, Decimal]]:
        """The wallets of an account by currency; currencies it never had are absent."""
        return self._balances.get(account, {})

    def sums(self) -> dict[str, Decimal]:
        """The sum over all accounts and wallets by currency: zero everywhere, or the ledger is broken."""
        sums: dict[str, Decimal] = {}
        for currencies in self._balances.values():
            for currency, wallets in currencies.items():
                for amount in wallets.values():
                    sums[currency] = EXACT.add(sums.get(currency, ZERO), amount)
        return sums

    def shown(self) -> dict[str, object]:
        """The whole ledger as JSON: balances by account and currency, the latest postings, and whether it balances."""
        sums = self.sums()
        return {
            "balanced": not any(sums.values()) and not self._overdrawn(),
            "sums": {currency: text_of(amount) for currency, amount in sorted(sums.items())},
            "accounts": {
                account: {currency: _shown_wallets(wallets) for currency, wallets in sorted(currencies.items())}
                for account, currencies in sorted(self._balances.items())
            },
            "postings_total": self.posted,
            "postings": [_shown_posting(posting) for posting in self._postings],
        }

    def _overdrawn(self) -> bool:
        return any(
            amount < 0 and wallet not in _MAY_BE_NEGATIVE
            for currencies in self._balances.values()
            for wallets in currencies.values()
            for wallet, amount in wallets.items()
        )


def moved(currency: str, amount: Decimal, source: tuple[str, Wallet], target: tuple[str, Wallet]) -> tuple[Line, Line]:
    """The two lines that move `amount` from one wallet to another; owners and wallets as (account, wallet)."""
    return Line(*source, currency, EXACT.minus(amount)), Line(*target, currency, amount)


def _shown_wallets(wallets: Mapping[Wallet, Decimal]) -> dict[str, str]:
    return {wallet.value: text_of(wallets[wallet]) for wallet in Wallet if wallet in wallets}


def _shown_posting(posting: Posting) -> dict[str, object]:
    return {
        "number": posting.number,
        "at_ms": posting.at_ms,
        "purpose": posting.purpose,
        "transaction": posting.reference,
        "lines": [
            {
                "account": line.account,
                "wallet": line.wallet.value,
                "currency": line.currency,
                "amount": text_of(line.amount),
            }
            for line in posting.lines
        ],
    }
