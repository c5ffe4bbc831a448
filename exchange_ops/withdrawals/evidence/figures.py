"""The figures of a reconciliation: what the ledger says of the bank balance of each currency, and what is there.

`manage.py reconcile`, the hourly check and the page make them with one function. A line counts when it succeeded.
Source: exchange REST, Transaction; supplement 1.6.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Protocol

INCOMING: Final = frozenset({"payin", "deposit"})
OUTGOING: Final = frozenset({"payout", "withdraw"})
TO_TRADING, FROM_TRADING = "bankToExchange", "exchangeToBank"
KNOWN: Final = INCOMING | OUTGOING | {TO_TRADING, FROM_TRADING}
DONE: Final = "success"
ZERO: Final = Decimal(0)


class Line(Protocol):
    """A line of the ledger, or the sum of several of one currency, type and status."""

    @property
    def currency(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def amount(self) -> Decimal: ...
    @property
    def fee(self) -> Decimal | None: ...


@dataclass(slots=True)
class Figures:
    """One currency of the bank wallet, reserved amounts included; all figures in that currency.

    `moved` is positive where more came from the trading wallet than went there. `opening` is None where none was kept
    yet. `unknown_type` names a type without a known sign: then nothing can be proven of this currency.
    """

    currency: str
    reported: Decimal = ZERO
    opening: Decimal | None = None
    incoming: Decimal = ZERO
    outgoing: Decimal = ZERO
    moved: Decimal = ZERO
    fees: Decimal = ZERO
    unknown_type: str = ""

    @property
    def net(self) -> Decimal:
        """How the lines changed the balance."""
        return self.incoming - self.outgoing + self.moved - self.fees

    @property
    def closing(self) -> Decimal | None:
        """What has to be there; None without an opening figure."""
        return None if self.opening is None else self.opening + self.net

    @property
    def difference(self) -> Decimal | None:
        """What the exchange reports, less what has to be there; None where that is not known."""
        return None if self.closing is None or self.unknown_type else self.reported - self.closing

    def add(self, line: Line) -> None:
        """Count one line. Only payouts have fees of their own."""
        if line.type not in KNOWN:
            self.unknown_type = line.type
        if line.status != DONE:
            return
        if line.type in INCOMING:
            self.incoming += line.amount
        elif line.type in OUTGOING:
            self.outgoing += line.amount
            self.fees += line.fee or ZERO
        elif line.type == TO_TRADING:
            self.moved -= line.amount
        elif line.type == FROM_TRADING:
            self.moved += line.amount


def by_currency(
    lines: Iterable[Line], *, held: Mapping[str, Decimal], opening: Mapping[str, Decimal]
) -> dict[str, Figures]:
    """The figures of every currency that is held or has a line, in order.

    `held` is what the exchange reports, available and reserved; a currency that it leaves out is at zero.
    """
    result = {code: Figures(code, held[code], opening.get(code)) for code in held}
    for line in lines:
        if line.currency not in result:
            result[line.currency] = Figures(line.currency, ZERO, opening.get(line.currency))
        result[line.currency].add(line)
    return {code: result[code] for code in sorted(result)}
