"""Where each figure of a statement leads: the list with the filter that shows exactly its lines.

Lists know whole days in a zone, as a statement's period is; the account is in the path.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final
from urllib.parse import urlencode

from django.urls import reverse

from exchange_ops.ledger import directions
from exchange_ops.portfolio import effects
from exchange_ops.portfolio.models import BANK, TRADING
from exchange_ops.shared.models import Account
from exchange_ops.shared.periods import DAY, Period
from exchange_ops.statements.lines import KINDS, TRADES, Line, Movement
from exchange_ops.statements.statement import Statement

_DATES: Final = {"range": "custom", "zone": "UTC"}
# The filter of the ledger by the head of a statement, for each wallet.
_OF_LEDGER: Final = {
    BANK: {TRADES: directions.CONVERSIONS},
    TRADING: {directions.TRANSFERS: directions.WALLETS},
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure of the movements with its label, and the address of its lines."""

    kind: str
    label: str
    movement: Movement
    url: str


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; `opening_url` and `closing_url` are empty where no list shows what they come from."""

    line: Line
    cells: Sequence[Cell]
    opening_url: str
    closing_url: str


def rows(statement: Statement) -> list[Row]:
    """The table of a statement, each figure with its address."""
    return [_row(statement.account, statement.period, line) for line in statement.lines]


def _row(account: Account, period: Period, line: Line) -> Row:
    cells = [
        Cell(kind, label, line.movements[kind], movement_url(account, period, line, kind))
        for kind, label in KINDS.items()
    ]
    if line.wallet != BANK:
        return Row(line, cells, "", "")
    return Row(
        line,
        cells,
        _ledger(account, line.currency, until=period.first - DAY),
        _ledger(account, line.currency, until=period.last),
    )


def movement_url(account: Account, period: Period, line: Line, kind: str) -> str:
    """The lines of one kind of movement of a line."""
    if line.wallet == TRADING and kind in {TRADES, directions.FEES}:
        name = "currency" if kind == TRADES else "fee_currency"
        query = {name: line.currency, "wallet": TRADING, "since": period.first, "until": period.last, **_DATES}
        return f"/accounts/{account.pk}{reverse('fills')}?{urlencode(query)}"
    movement = _OF_LEDGER[line.wallet].get(kind, kind)
    return _ledger(account, line.currency, until=period.last, movement=movement, since=period.first)


def _ledger(account: Account, currency: str, *, until: date, **narrowed: object) -> str:
    query = {"currency": currency, "status": effects.DONE, **narrowed, "until": until, **_DATES}
    return f"/accounts/{account.pk}{reverse('ledger')}?{urlencode(query)}"
