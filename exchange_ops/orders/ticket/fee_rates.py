"""The trading fee used for an order: the account's own rates of its symbol, else the symbol's usual ones.

A ticket asks and does not wait; a worker reads the rates, and they count for an hour. While the exchange can't be
reached, the last ones stay in use for up to a day; an order never waits for them. Source: supplement 2.7.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from desk import clock, questions
from exchange_ops.client import ExchangeClient
from exchange_ops.keys import answering
from exchange_ops.keys.answering import PROBLEM_FOR, WAITED_FOR
from exchange_ops.keys.clients import ClientFor
from exchange_ops.market.models import Symbol
from exchange_ops.orders import machine
from exchange_ops.orders.models import FeeRates
from exchange_ops.shared.amounts import storable
from exchange_ops.shared.models import Account
from exchange_ops.wire.catalogue import Right

if TYPE_CHECKING:
    from desk.models import Person

TASK: Final = "exchange_ops.read_fee_rates"
KEPT_FOR: Final = timedelta(days=1)  # tiers of fees follow the volume of the last days
NO_RATES: Final = "The exchange returned invalid fee rates."
RATES: Final = questions.Rule(
    model=FeeRates,
    task=TASK,
    topic=machine.TOPIC,
    fresh_for=timedelta(hours=1),
    problem_for=PROBLEM_FOR * 12,
    lost_after=WAITED_FOR,
)


@dataclass(frozen=True, slots=True)
class Rates:
    """Fractions of the volume that a taker and a maker pay; below zero is a rebate.

    `read_at` is when the account's own were read. Without it they are the symbol's usual ones; `problem` may say why.
    """

    take: Decimal
    provide: Decimal
    read_at: datetime | None = None
    problem: str = ""


def usual(symbol: Symbol) -> Rates:
    """The rates that the exchange publishes for everybody."""
    return Rates(symbol.take_liquidity_rate, symbol.provide_liquidity_rate)


def current(*, account: Account, symbol: Symbol, now: datetime) -> Rates:
    """The account's own rates where they were read within a day, else the symbol's."""
    row = FeeRates.objects.filter(account=account, symbol=symbol.pk).first()
    return _rates_of(row, symbol, now)


def ask(*, account: Account, symbol: Symbol, person: "Person | None", now: datetime) -> Rates:
    """The same, and have the account's own read when that is due. Announces `orders`."""
    return _rates_of(RATES.ask(account=account, symbol=symbol.pk, person=person, now=now), symbol, now)


def fill(*, rates_id: int, client_for: ClientFor, now: datetime) -> None:
    """Ask the exchange and write its answer; does nothing when the question is answered already."""

    def read(client: ExchangeClient, row: FeeRates) -> dict[str, Any]:
        fees = client.get_trading_fee(symbol=row.symbol)
        rates = {name: getattr(fees, name) for name in ("take_liquidity_rate", "provide_liquidity_rate")}
        if all(storable(rate) and abs(rate) < 1 for rate in rates.values()):
            return {**rates, "read_at": now}
        return {"problem": NO_RATES}

    answering.fill(RATES, rates_id, right=Right.ORDERS, read=read, client_for=client_for, now=now)


def _rates_of(row: FeeRates | None, symbol: Symbol, now: datetime) -> Rates:
    if row is None:
        return usual(symbol)
    take, provide, read_at = row.take_liquidity_rate, row.provide_liquidity_rate, row.read_at
    if take is None or provide is None or not clock.is_fresh(read_at, now, within=KEPT_FOR):
        return Rates(symbol.take_liquidity_rate, symbol.provide_liquidity_rate, problem=row.problem)
    return Rates(take, provide, read_at)
