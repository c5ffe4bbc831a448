"""How much collateral an order on margin needs in its isolated account, by the leverage and the fees.

Source: supplement 1.5: price x quantity x ((1 + f) / L + 2f) is held for an order, with the leverage L and the taker's
rate f. The exchange has the last word.
"""

from decimal import Decimal
from fractions import Fraction

from exchange_ops.margin.models import MarginAccount
from exchange_ops.market.models import Symbol
from exchange_ops.orders.ticket.fee_rates import Rates
from exchange_ops.shared.models import Account

NO_MARGIN = "Margin trading is not available for this symbol."
NO_ACCOUNT = "No margin account for this symbol. Open one with collateral first."


def account_of(*, account: Account, symbol: Symbol) -> MarginAccount | None:
    """The isolated margin account of the symbol, as last read."""
    return MarginAccount.objects.filter(account=account, symbol=symbol.pk, gone_at=None).first()


def free(row: MarginAccount) -> Decimal:
    """The collateral that neither orders nor the position hold, in the quote currency."""
    amount: Decimal = row.margin_balance - row.margin_balance_orders - row.margin_balance_required
    return max(amount, Decimal(0))


def most(*, account: Account, symbol: Symbol, at: Decimal | None, rates: Rates) -> Fraction:
    """How much of the base currency the free collateral covers at a price; zero where that is not known."""
    row = account_of(account=account, symbol=symbol)
    if row is None or not at:
        return Fraction(0)
    return Fraction(free(row)) / (Fraction(at) * _held_share(row, rates))


def problem(
    *, account: Account, symbol: Symbol, value: Decimal | None, rates: Rates, freed: Decimal | None = None
) -> str:
    """Why the margin account can't cover an order of this value in the quote currency, or an empty text.

    `freed` is the value of what remains of the order that it replaces.
    """
    if not symbol.margin_trading:
        return NO_MARGIN
    row = account_of(account=account, symbol=symbol)
    if row is None:
        return NO_ACCOUNT
    if value is None or Fraction(value - (freed or 0)) * _held_share(row, rates) < Fraction(free(row)):
        return ""
    return (
        f"Insufficient collateral: {free(row).normalize():,f} {symbol.quote_currency} available at "
        f"{row.read_at:%H:%M:%S} UTC."
    )


def _held_share(row: MarginAccount, rates: Rates) -> Fraction:
    rate = Fraction(rates.take)
    return (1 + rate) / max(Fraction(row.leverage), Fraction(1)) + 2 * rate
