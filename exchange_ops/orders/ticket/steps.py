"""Fitting a figure to the steps of a symbol before anything is said of it, as the exchange would round it.

Source: supplement 2.8: without strict validation price and quantity are rounded half down.
"""

from decimal import ROUND_HALF_DOWN, Decimal, localcontext

_DIGITS = 200  # of a quotient of two amounts


def fitted(amount: Decimal, step: Decimal | None) -> Decimal:
    """The nearest multiple of the step; half a step goes down. As it is where there is no step."""
    if not step or step <= 0:
        return amount
    with localcontext() as context:
        context.prec = _DIGITS
        return (amount / step).quantize(Decimal(1), rounding=ROUND_HALF_DOWN) * step


def as_typed(amount: Decimal, _step: Decimal | None) -> Decimal:
    """The amount itself."""
    return amount
