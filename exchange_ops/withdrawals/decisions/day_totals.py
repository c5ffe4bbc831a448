"""The value by which a payout's tier is chosen: that of all payouts to its recipient within a day, itself included.

Otherwise a payment cut in four takes the approvals of a quarter. No lock is needed against requests of the same moment:
each request is committed before it is judged, and judging counts all that are committed. So of any two requests the one
that is judged later counts the other, and those judged by a lower tier are together within that tier.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal

from exchange_ops.market.valuation import Prices, Value
from exchange_ops.withdrawals.recipients import history
from exchange_ops.withdrawals.recipients.history import Place


@dataclass(frozen=True, slots=True)
class DayTotal:
    """`value` is in the quote currency, None when a price is missing; `sentence` is empty for a payout by itself."""

    value: Decimal | None
    sentence: str = ""


def total(
    *,
    place: Place,
    value: Value,
    number: int | None,
    prices: Prices,
    fresh: Callable[[Value], Value],
    before: Iterable[history.Payout] = (),
) -> DayTotal:
    """The total of a payout worth `value` and the others to its recipient: those pending, those paid within 24 hours.

    Rejected, released and failed ones don't count. `number` is that of the request itself. `fresh` gives an unknown
    value where a price is too old. `before` are payouts to this recipient that are requested together with this one.
    """
    others = [
        one for one in history.within_day([place], now=prices.now)[place] if number is None or one.number != number
    ]
    others += before
    if not others:
        return DayTotal(value.amount)
    amounts: defaultdict[str, Decimal] = defaultdict(Decimal)
    for one in others:
        amounts[one.currency] += one.amount
    values = prices.values_of(amounts=amounts, quote=value.currency).values()
    worths = [value.amount, *(fresh(each).amount for each in values)]
    priced = [worth for worth in worths if worth is not None]
    is_known = len(priced) == len(worths)
    together = sum(priced, Decimal(0))
    text = f"{together.quantize(Decimal('0.01')):,f} {value.currency} in total" if is_known else "value unknown"
    sentence = (
        f"Last 24 hours to this recipient, including this one: {len(others) + 1} payouts, {text}. "
        "The total determines the tier."
    )
    return DayTotal(together if is_known else None, sentence)
