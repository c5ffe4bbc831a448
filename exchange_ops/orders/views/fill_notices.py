"""Fills of a person's own orders, for the pages that they have open: one line for each order that was filled just now.

Nothing is stored for it. The page shows a line once, when its fills have paused for a moment (static/js/fills.js).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from desk import clock
from desk.notifications import wishes
from desk.notifications.wishes import BrowserKind
from desk.templatetags.desk import amount
from exchange_ops.market.models import Symbol
from exchange_ops.orders.models import AccountTrade, Order
from exchange_ops.shared import rules

if TYPE_CHECKING:
    from desk.models import Person

KIND: Final = BrowserKind("fills", "Fills of your orders", rules.may_trade)
FRESH: Final = timedelta(minutes=2)
NEW_AT_ALL: Final = timedelta(minutes=15)  # older trades are history that is read late
MOST: Final = 5
_LOOKED_AT: Final = 500


@dataclass(frozen=True, slots=True)
class FillNotice:
    """One order's newest fills in words. `uid` differs after each fill; `in_browser`: the person wants it there."""

    order_id: int
    uid: str
    sentence: str
    in_browser: bool


def recent(person: "Person", *, now: datetime) -> list[FillNotice]:
    """The orders of this person that were filled within the last moments, the latest first; at most `MOST`."""
    trades = AccountTrade.objects.filter(clock.recent("read_at", now - FRESH, now=now), timestamp__gt=now - NEW_AT_ALL)
    latest: dict[tuple[int, int], AccountTrade] = {}
    for trade in trades.order_by("-timestamp", "-exchange_id")[:_LOOKED_AT]:
        latest.setdefault((trade.account_id, trade.exchange_order_id), trade)
    if not latest:
        return []
    own = Order.objects.filter(initiator=person, exchange_id__in={number for _, number in latest})
    orders: dict[Any, Order] = {(row.account_id, row.exchange_id): row for row in rules.seen_by(person, own)}
    keys = [key for key in latest if key in orders][:MOST]
    symbols = Symbol.objects.in_bulk({orders[key].symbol for key in keys})
    in_browser = bool(keys) and wishes.in_browser(person, KIND.name)
    return [_notice(orders[key], latest[key], symbols.get(orders[key].symbol), in_browser=in_browser) for key in keys]


def _notice(row: Order, trade: AccountTrade, symbol: Symbol | None, *, in_browser: bool) -> FillNotice:
    base, quote = (symbol.base_currency, symbol.quote_currency) if symbol else (row.symbol, "")
    did = "bought" if row.side == "buy" else "sold"
    filled = row.cum_quantity or trade.quantity
    price = row.average_price if row.average_price is not None else trade.price
    is_whole = filled >= row.quantity
    size = amount(filled, base) if is_whole else f"{amount(filled)} of {amount(row.quantity, base)}"
    sentence = f"{row.reference} {'filled' if is_whole else 'partly filled'}: {did} {size} at {_price(price, quote)}."
    return FillNotice(row.pk, f"fill-{row.pk}-{trade.exchange_id}", sentence, in_browser)


def _price(price: Decimal, quote: str) -> str:
    return amount(price, quote) if quote else amount(price)
