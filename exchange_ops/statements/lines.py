"""What a statement consists of: lines by wallet and currency, and the movements of each line by kind."""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from exchange_ops.ledger.directions import CONVERSIONS, DEPOSITS, FEES, OTHER, PAYOUTS, SUBACCOUNTS, TRANSFERS, WALLETS
from exchange_ops.portfolio.models import BANK, TRADING
from exchange_ops.portfolio.prices import DayPrice

ZERO: Final = Decimal(0)
TRADES: Final = "trades"
KINDS: Final = {
    DEPOSITS: "Deposits",
    PAYOUTS: "Payouts",
    TRADES: "Trades",
    TRANSFERS: "Transfers",
    OTHER: "Other",
    FEES: "Fees",
}
# Under which head of a statement each kind of the ledger is.
HEADS: Final = {
    DEPOSITS: DEPOSITS,
    PAYOUTS: PAYOUTS,
    CONVERSIONS: TRADES,
    WALLETS: TRANSFERS,
    SUBACCOUNTS: TRANSFERS,
    OTHER: OTHER,
    FEES: FEES,
}
WALLET_LABELS: Final = {BANK: "Bank", TRADING: "Trading"}


@dataclass(slots=True)
class Movement:
    """Movements of one kind: their signed sum, and how many entries or trades they are."""

    amount: Decimal = ZERO
    count: int = 0

    def add(self, amount: Decimal, count: int = 1) -> None:
        """Count these too."""
        self.amount += amount
        self.count += count


@dataclass(slots=True)
class Line:
    """One currency in one wallet, reserved amounts included; every amount is in that currency.

    `opening` and `closing` are None where what is stored does not support them, and `reason` says why. Where both are
    known, `closing` is `opening` and the movements, to the last digit. `price` is that of the closing day.
    """

    wallet: str
    currency: str
    movements: dict[str, Movement] = field(default_factory=lambda: {kind: Movement() for kind in KINDS})
    opening: Decimal | None = None
    closing: Decimal | None = None
    reason: str = ""
    price: DayPrice | None = None
    value: Decimal | None = None

    @property
    def moved(self) -> Decimal:
        """The sum of all movements, fees included."""
        return sum((movement.amount for movement in self.movements.values()), ZERO)

    @property
    def count(self) -> int:
        """How many movements there are; a fee counts with its payout or trade, not beside it."""
        return sum(movement.count for kind, movement in self.movements.items() if kind != FEES)

    @property
    def wallet_label(self) -> str:
        """The wallet as people call it."""
        return WALLET_LABELS[self.wallet]
