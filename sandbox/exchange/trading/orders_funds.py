"""What money stands behind orders: the trading account behind spot orders, the house behind the simulated traders.

A purchase reserves price x quantity and the highest fee it can come to, which must be less than what is available
(supplement 2.8); a sale reserves the quantity, and pays its fee from the proceeds. Fees are rounded up for each trade,
so a purchase also reserves the rounding of as many trades as it has increments, as far as there is money for it; a fee
that would not fit beside what the rest of the order needs is rounded down instead. What a trade leaves over is free at
once. A purchase at the market reserves a tenth more than the book asks for at the moment, as the exchange advises.
"""

from typing import Final

from sandbox.exchange.accounts.ledger import HOUSE, Wallet
from sandbox.exchange.funds.withdrawals import FUNDS_DESCRIPTION
from sandbox.exchange.orders.matching import FEE_STEP, Pair, Rate
from sandbox.exchange.orders.orders import Order, Settled
from sandbox.exchange.state import Exchange
from sandbox.exchange.terms import INSUFFICIENT_FUNDS, Refusal

_AVAILABLE: Final = Wallet.TRADING
_RESERVED: Final = Wallet.TRADING_RESERVED


class Spot:
    """The trading account."""

    margin = False

    def reserve(self, exchange: Exchange, order: Order, notional: int) -> None:
        """Raises 20001 when the trading account holds too little."""
        pair, ledger = order.pair, exchange.ledger
        if order.is_buy:
            currency, cost = pair.quote, notional * pair.quote_unit
            have = ledger.units(order.account, _AVAILABLE, currency)
            if notional and not order.cover.is_below(notional, have - cost):
                raise Refusal(INSUFFICIENT_FUNDS, FUNDS_DESCRIPTION)
            need = cost + order.cover.fee(notional) + order.remaining * FEE_STEP if notional else 0
        else:
            currency, need = pair.base, order.remaining * pair.base_unit
            have = ledger.units(order.account, _AVAILABLE, currency)
            if have < need:
                raise Refusal(INSUFFICIENT_FUNDS, FUNDS_DESCRIPTION)
        order.reserved = min(have, need)
        if order.reserved:
            ledger.shift(
                exchange.moment_ms,
                "reserve",
                str(order.id),
                account=order.account,
                currency=currency,
                units=order.reserved,
                source=_AVAILABLE,
                target=_RESERVED,
            )

    def release(self, exchange: Exchange, order: Order) -> None:
        """Moves the reserve back to what is available."""
        if order.reserved:
            exchange.ledger.shift(
                exchange.moment_ms,
                "free",
                str(order.id),
                account=order.account,
                currency=order.pair.quote if order.is_buy else order.pair.base,
                units=order.reserved,
                source=_RESERVED,
                target=_AVAILABLE,
            )
            order.reserved = 0

    def settle(self, exchange: Exchange, order: Order, price: int, quantity: int, rate: Rate) -> Settled:
        """Pays from the reserve, and receives into what is available."""
        pair, account, notional = order.pair, order.account, price * quantity
        cost, amount = notional * pair.quote_unit, quantity * pair.base_unit
        fee = rate.fee(notional)
        if not order.is_buy:
            order.reserved -= amount
            fee = min(fee, cost)
            return Settled(
                ((account, _RESERVED, pair.base, -amount), (account, _AVAILABLE, pair.quote, cost - fee)), fee
            )
        fee, free = _purchase(order, order.reserved - cost, fee)
        order.reserved -= cost + fee + free
        received = (account, _AVAILABLE, pair.base, amount)
        paid = (account, _RESERVED, pair.quote, -cost - fee - free)
        if free:
            return Settled((received, paid, (account, _AVAILABLE, pair.quote, free)), fee)
        return Settled((received, paid), fee)


SPOT: Final = Spot()


def _purchase(order: Order, budget: int, fee: int) -> tuple[int, int]:
    """The fee of a trade of a purchase and what becomes free, when `budget` is left of the reserve after the cost."""
    if order.price is None:
        return min(fee, budget), 0
    notional = order.price * order.remaining
    cost = notional * order.pair.quote_unit
    need = cost + order.cover.fee(notional) + order.remaining * FEE_STEP
    if budget - fee >= need:
        return fee, budget - fee - need
    room = budget - cost - order.cover.floor(notional)
    return min(fee, room - room % FEE_STEP), 0


def of_house(pair: Pair, is_buy: bool, price: int, quantity: int, rate: Rate) -> Settled:
    """A simulated trader's side of a trade; traders have what they need and pay fees like everybody."""
    notional = price * quantity
    cost, amount = notional * pair.quote_unit, quantity * pair.base_unit
    fee = min(rate.fee(notional), cost)
    sign = 1 if is_buy else -1
    entries = (
        (HOUSE, Wallet.TRADERS, pair.base, sign * amount),
        (HOUSE, Wallet.TRADERS, pair.quote, -sign * cost - fee),
    )
    return Settled(entries, fee)
