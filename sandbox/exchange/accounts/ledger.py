"""The double-entry ledger: accounts x wallets x currencies, exact; every posting sums to zero.

A customer has five wallets: bank and trading, each available and reserved, and what lies on his margin accounts. The
exchange's own side has five more: the outside world (chains, banks), the fees it earned, the stock that conversions
draw on, the purse of the simulated traders, and what it lends and holds for margin positions. Money enters and leaves
only against the outside, so the sum over everything is always zero; the outside, the stock, the traders' purse and
what is lent may be negative, no customer's wallet ever is.

Amounts are kept as whole numbers of `UNIT`s, 10^-24 of any currency: the finest amount that can be given in. Most rules
speak in decimals (`balance`, `post`); matching, which posts most, speaks in units (`units`, `move`).
"""

from collections import deque
from collections.abc import Iterable, Mapping
from decimal import Decimal, Inexact
from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias

from sandbox.amounts import EXACT, MOST_DIGITS, text_of

HOUSE = "exchange"
SHOWN_POSTINGS = 10_000
UNIT: Final[int] = 10**MOST_DIGITS  # of these make one
_new_tuple = tuple.__new__  # makes a named tuple without the detour over its keyword arguments
_FINEST = Decimal(1).scaleb(-MOST_DIGITS)


class Wallet(StrEnum):
    """Where an amount lies."""

    BANK = "bank"
    BANK_RESERVED = "bankReserved"
    TRADING = "trading"
    TRADING_RESERVED = "tradingReserved"
    MARGIN = "margin"
    OUTSIDE = "outside"
    FEES = "fees"
    STOCK = "conversionStock"
    TRADERS = "simulatedTraders"
    LENDING = "marginLending"


_MAY_BE_NEGATIVE = frozenset({Wallet.OUTSIDE, Wallet.STOCK, Wallet.TRADERS, Wallet.LENDING})
CUSTOMER_WALLETS = (Wallet.BANK, Wallet.BANK_RESERVED, Wallet.TRADING, Wallet.TRADING_RESERVED, Wallet.MARGIN)

# One side of a movement in units: account, wallet, currency, and what is added to it (negative: taken out).
Entry: TypeAlias = tuple[str, Wallet, str, int]


class CannotPost(Exception):
    """The posting would break the ledger (sum not zero, or a wallet below zero); nothing was posted."""


class Line(NamedTuple):
    """One side of a posting: `amount` is added to the wallet (negative: taken out)."""

    account: str
    wallet: Wallet
    currency: str
    amount: Decimal


class Posting(NamedTuple):
    """A movement: its running number, its instant, what for, the transaction or order it belongs to, its entries."""

    number: int
    at_ms: int
    purpose: str
    reference: str
    entries: tuple[Entry, ...]


class Ledger:
    """All balances of one world. Only `post` and `move` change them."""

    def __init__(self) -> None:
        self._balances: dict[str, dict[str, dict[Wallet, int]]] = {}
        self._postings: deque[Posting] = deque(maxlen=SHOWN_POSTINGS)
        self.posted = 0

    def balance(self, account: str, wallet: Wallet, currency: str) -> Decimal:
        """What lies in one wallet; zero when nothing ever did."""
        return amount_of(self.units(account, wallet, currency))

    def units(self, account: str, wallet: Wallet, currency: str) -> int:
        """What lies in one wallet, in units."""
        return self._balances.get(account, {}).get(currency, {}).get(wallet, 0)

    def post(self, at_ms: int, purpose: str, reference: str, lines: Iterable[Line]) -> None:
        """Moves amounts: all lines or, when the posting would break the ledger, none (`CannotPost`)."""
        entries = tuple((line.account, line.wallet, line.currency, units_of(line.amount)) for line in lines)
        self.move(at_ms, purpose, reference, tuple(entry for entry in entries if entry[3]))

    def move(self, at_ms: int, purpose: str, reference: str, entries: tuple[Entry, ...]) -> None:
        """Moves units: all entries or, when the posting would break the ledger, none (`CannotPost`)."""
        sums: dict[str, int] = {}
        suspects = []
        for account, wallet, currency, units in entries:
            wallets = self._wallets(account, currency)
            after = wallets[wallet] = wallets.get(wallet, 0) + units
            sums[currency] = sums.get(currency, 0) + units
            if after < 0 and wallet not in _MAY_BE_NEGATIVE:
                suspects.append((account, wallet, currency))
        # Money may pass through a wallet within one posting, so what counts is what is in it at the end.
        overdrawn = [suspect for suspect in suspects if self.units(*suspect) < 0]
        if overdrawn or any(sums.values()):
            for account, wallet, currency, units in entries:
                self._wallets(account, currency)[wallet] -= units
            raise CannotPost(
                f"{overdrawn[0][0]} has too little {overdrawn[0][2]} in {overdrawn[0][1]}."
                if overdrawn
                else f"The posting {purpose!r} does not sum to zero."
            )
        self.posted += 1
        self._postings.append(_new_tuple(Posting, (self.posted, at_ms, purpose, reference, entries)))

    def shift(
        self,
        at_ms: int,
        purpose: str,
        reference: str,
        *,
        account: str,
        currency: str,
        units: int,
        source: Wallet,
        target: Wallet,
    ) -> None:
        """Moves units from one wallet of a customer to another of his; raises `CannotPost`."""
        held = self._wallets(account, currency)
        less, more = held.get(source, 0) - units, held.get(target, 0) + units
        if less < 0 or more < 0:
            raise CannotPost(f"{account} has too little {currency} in {source if less < 0 else target}.")
        held[source], held[target] = less, more
        self.posted += 1
        entries = ((account, source, currency, -units), (account, target, currency, units))
        self._postings.append(_new_tuple(Posting, (self.posted, at_ms, purpose, reference, entries)))

    def _wallets(self, account: str, currency: str) -> dict[Wallet, int]:
        try:
            return self._balances[account][currency]
        except KeyError:
            return self._balances.setdefault(account, {}).setdefault(currency, {})

    def currencies_of(self, account: str) -> Mapping[str, Mapping[Wallet, Decimal]]:
        """The wallets of an account by currency; empty ones are absent."""
        currencies = self._balances.get(account, {})
        return {
            currency: {wallet: amount_of(units) for wallet, units in wallets.items() if units}
            for currency, wallets in currencies.items()
            if any(wallets.values())
        }

    def sums(self) -> dict[str, Decimal]:
        """The sum over all accounts and wallets by currency: zero everywhere, or the ledger is broken."""
        sums: dict[str, int] = {}
        for currencies in self._balances.values():
            for currency, wallets in currencies.items():
                if any(wallets.values()):
                    sums[currency] = sums.get(currency, 0) + sum(wallets.values())
        return {currency: amount_of(units) for currency, units in sums.items()}

    def _held(self) -> dict[str, dict[str, dict[str, str]]]:
        """What is not zero, as text by account, currency and wallet."""
        every = {account: self.currencies_of(account) for account in sorted(self._balances)}
        return {
            account: {
                currency: {wallet.value: text_of(wallets[wallet]) for wallet in Wallet if wallet in wallets}
                for currency, wallets in sorted(currencies.items())
            }
            for account, currencies in every.items()
            if currencies
        }

    def as_json(self) -> dict[str, object]:
        """The ledger as JSON: every amount that is not zero, the latest postings, and whether it balances."""
        sums = self.sums()
        return {
            "balanced": not any(sums.values()) and not self._overdrawn(),
            "sums": {currency: text_of(amount) for currency, amount in sorted(sums.items())},
            "accounts": self._held(),
            "postings_total": self.posted,
            "postings": [_posting_json(posting) for posting in self._postings],
        }

    def _overdrawn(self) -> bool:
        return any(
            units < 0 and wallet not in _MAY_BE_NEGATIVE
            for currencies in self._balances.values()
            for wallets in currencies.values()
            for wallet, units in wallets.items()
        )


def moved(currency: str, amount: Decimal, source: tuple[str, Wallet], target: tuple[str, Wallet]) -> tuple[Line, Line]:
    """The two lines that move `amount` from one wallet to another; owners and wallets as (account, wallet)."""
    return Line(*source, currency, EXACT.minus(amount)), Line(*target, currency, amount)


def units_of(amount: Decimal) -> int:
    """The amount in units; raises `CannotPost` when it has more than 24 digits after the point."""
    try:
        return int(EXACT.quantize(amount, _FINEST).scaleb(MOST_DIGITS, EXACT))
    except Inexact:
        raise CannotPost(f"{amount} has more than {MOST_DIGITS} digits after the point.") from None


def amount_of(units: int) -> Decimal:
    """The decimal amount of so many units."""
    return Decimal(units).scaleb(-MOST_DIGITS, EXACT)


def _posting_json(posting: Posting) -> dict[str, object]:
    return {
        "number": posting.number,
        "at_ms": posting.at_ms,
        "purpose": posting.purpose,
        "transaction": posting.reference,
        "lines": [
            {"account": account, "wallet": wallet.value, "currency": currency, "amount": text_of(amount_of(units))}
            for account, wallet, currency, units in posting.entries
        ],
    }
