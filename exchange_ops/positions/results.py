"""Realised results of margin positions, computed from the account's margin trades: closed parts and liquidations.

The exchange lists no past positions (supplement 1.5, 2.7), so each is followed through its trades: what is added moves
the average entry price, what is closed is measured against it. Fees leave the collateral and are in the quote currency,
and a loss ends with the collateral (supplement 1.5). Interest is known from the exchange's reports alone.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from typing import Final

from django.db.models import Q, QuerySet

from exchange_ops.margin.models import MarginPosition, MarginReport
from exchange_ops.margin.reports import INTEREST, LIQUIDATED
from exchange_ops.market.models import Symbol
from exchange_ops.orders.models import AccountTrade, Order
from exchange_ops.positions.models import MarginAction
from exchange_ops.shared.models import Account

ZERO: Final = Decimal(0)
BUY: Final = "buy"
_DIGITS: Final = 200
_PLACES: Final = Decimal(1).scaleb(-12)
_NEAR: Final = timedelta(seconds=2)  # between a trade and the report of the same event
_CHUNK: Final = 5_000


@dataclass(frozen=True, slots=True)
class Closing:
    """What one order, or a liquidation, closed of a position.

    `quantity` is in the base currency; prices, `gross`, `fee` and `net` are in the quote currency. `fee` is that of the
    closing and the closed part's share of the fees of the entry, `net` is `gross` less `fee`. `entry`, `gross` and
    `net` are None where the position began before the first trade that is stored. `is_whole`: nothing stayed open.
    """

    symbol: str
    quote_currency: str
    at: datetime
    began_at: datetime
    order_id: int
    is_long: bool
    quantity: Decimal
    price: Decimal
    fee: Decimal
    entry: Decimal | None
    gross: Decimal | None
    is_whole: bool
    is_liquidation: bool

    @property
    def net(self) -> Decimal | None:
        """The result after fees."""
        return None if self.gross is None else self.gross - self.fee


@dataclass(slots=True)
class Total:
    """Sums in one quote currency; `net` is `gross` less `fees` and `interest`. `unknown` closings have no result."""

    quote_currency: str
    gross: Decimal = ZERO
    fees: Decimal = ZERO
    interest: Decimal = ZERO
    closings: int = 0
    liquidations: int = 0
    unknown: int = 0

    @property
    def net(self) -> Decimal:
        """The realised result."""
        return self.gross - self.fees - self.interest

    def add(self, other: "Total") -> None:
        """Add the sums of another symbol."""
        for name in ("gross", "fees", "interest", "closings", "liquidations", "unknown"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass(slots=True)
class _Position:
    """A position while its trades are followed; `unknown` is the signed part that was there before the first trade."""

    quantity: Decimal = ZERO
    value: Decimal = ZERO
    fees: Decimal = ZERO
    unknown: Decimal = ZERO

    def take(self, trade: AccountTrade, quote: str) -> Closing | None:
        """Follow one trade; returns what it closed. A trade through zero closes all and opens the other side."""
        signed = trade.quantity if trade.side == BUY else -trade.quantity
        held = self.quantity + self.unknown
        if not held or (held > 0) == (signed > 0):
            self._add(signed, trade.price, trade.fee)
            return None
        size = min(abs(signed), abs(held))
        part = size / trade.quantity
        closing = self._close(trade, size, trade.fee * part, quote)
        if size < trade.quantity:
            self._add(signed + held, trade.price, trade.fee * (1 - part))
        return closing

    def _add(self, signed: Decimal, price: Decimal, fee: Decimal) -> None:
        self.quantity += signed
        self.value += signed * price
        self.fees += fee

    def _close(self, trade: AccountTrade, size: Decimal, fee: Decimal, quote: str) -> Closing:
        is_long = self.quantity + self.unknown > 0
        sign = 1 if is_long else -1
        from_unknown = min(size, abs(self.unknown))
        self.unknown -= sign * from_unknown
        from_entry = size - from_unknown
        share = from_entry / abs(self.quantity) if from_entry else ZERO
        entry_value, entry_fees = self.value * share, self.fees * share
        self.quantity -= sign * from_entry
        self.value -= entry_value
        self.fees -= entry_fees
        is_known = not from_unknown
        return Closing(
            symbol=trade.symbol,
            quote_currency=quote,
            at=trade.timestamp,
            began_at=trade.timestamp,
            order_id=trade.exchange_order_id,
            is_long=is_long,
            quantity=size,
            price=trade.price,
            fee=fee + entry_fees,
            entry=abs(entry_value) / size if is_known else None,
            gross=sign * size * trade.price - entry_value if is_known else None,
            is_whole=not self.quantity and not self.unknown,
            is_liquidation=bool(trade.liquidation),
        )


def is_on_margin(account: Account) -> Q:
    """The condition for trades of margin orders, and of the orders with which an action of ours closed a position.

    Rows without a number are left out: with a NULL in the list, SQL would find nothing that is not in it.
    """
    orders = Order.objects.filter(account=account, margin=True, exchange_id__isnull=False).values("exchange_id")
    closing = MarginAction.objects.filter(account=account, exchange_order_id__isnull=False).values("exchange_order_id")
    parts = MarginAction.objects.filter(account=account).exclude(client_order_id="").values("client_order_id")
    return Q(exchange_order_id__in=orders) | Q(exchange_order_id__in=closing) | Q(client_order_id__in=parts)


def of_account(account: Account | None, *, only: str = "", since: date | None = None) -> list[Closing]:
    """Every closing of the account or of one symbol, the newest first; with `since` those from this UTC day on."""
    if account is None:
        return []
    trades = AccountTrade.objects.filter(is_on_margin(account) | Q(liquidation=True), account=account)
    by_symbol: defaultdict[str, list[AccountTrade]] = defaultdict(list)
    rows = trades.filter(symbol=only) if only else trades
    for trade in rows.order_by("timestamp", "exchange_id").iterator(_CHUNK):
        by_symbol[trade.symbol].append(trade)
    quotes = dict(Symbol.objects.filter(code__in=by_symbol).values_list("code", "quote_currency"))
    positions = {row.symbol: row for row in MarginPosition.objects.filter(account=account, symbol__in=by_symbol)}
    balances = _reports(account).filter(margin_balance__isnull=False, symbol__in=by_symbol)
    reports: defaultdict[str, list[MarginReport]] = defaultdict(list)
    for report in balances.order_by("at", "pk"):
        reports[report.symbol].append(report)
    closings: list[Closing] = []
    with localcontext() as context:
        context.prec = _DIGITS
        for symbol, of_symbol in by_symbol.items():
            of_position = _closings(of_symbol, positions.get(symbol), quotes.get(symbol, ""))
            closings += [_rounded(_limited(one, reports[symbol])) for one in of_position]
    return sorted(
        (one for one in closings if since is None or one.at.date() >= since), key=lambda one: one.at, reverse=True
    )


def totals(account: Account | None, closings: Iterable[Closing], *, only: str = "") -> list[Total]:
    """The sums of these closings and of the interest of the same account and symbol, by quote currency."""
    sums: dict[str, Total] = {}
    for total in _by_symbol(account, closings, only=only, since=None).values():
        sums.setdefault(total.quote_currency, Total(total.quote_currency)).add(total)
    return sorted(sums.values(), key=lambda total: total.quote_currency)


def totals_by_symbol(account: Account, *, since: date | None) -> dict[str, Total]:
    """The sums of each symbol of which something was realised, from that UTC day on."""
    return _by_symbol(account, of_account(account, since=since), only="", since=since)


def _by_symbol(
    account: Account | None, closings: Iterable[Closing], *, only: str, since: date | None
) -> dict[str, Total]:
    sums: dict[str, Total] = {}
    for one in closings:
        total = sums.setdefault(one.symbol, Total(one.quote_currency))
        total.closings += 1
        total.liquidations += one.is_liquidation
        total.unknown += one.gross is None
        if one.gross is not None:
            total.gross += one.gross
            total.fees += one.fee
    rows = _reports(account).filter(reason=INTEREST)
    interest_rows = list((rows.filter(symbol=only) if only else rows).values_list("symbol", "change", "at"))
    codes = {row[0] for row in interest_rows}
    quotes = dict(Symbol.objects.filter(code__in=codes).values_list("code", "quote_currency"))
    for symbol, change, at in interest_rows:
        if change and (since is None or at.date() >= since):
            sums.setdefault(symbol, Total(quotes.get(symbol, ""))).interest -= change
    return sums


def _reports(account: Account | None) -> QuerySet[MarginReport]:
    return MarginReport.objects.filter(account=account)


def _closings(trades: Sequence[AccountTrade], held: MarginPosition | None, quote: str) -> list[Closing]:
    """The closings of one symbol, the trades of one order together."""
    position = _Position(unknown=_before_the_first(trades, held))
    closings: list[Closing] = []
    for trade in trades:
        closing = position.take(trade, quote)
        if closing is None:
            continue
        last = closings[-1] if closings else None
        if last is not None and not last.is_whole and _belongs(last, closing):
            closings[-1] = _together(last, closing)
        else:
            closings.append(closing)
    return closings


def _before_the_first(trades: Sequence[AccountTrade], held: MarginPosition | None) -> Decimal:
    """The signed quantity that was open before the first stored trade, by the exchange's own figure of today."""
    if held is None:
        return ZERO
    known_at = max(held.updated_at, held.gone_at or held.updated_at)
    now_open: Decimal = ZERO if held.gone_at else held.quantity
    traded = sum(
        ((one.quantity if one.side == BUY else -one.quantity) for one in trades if one.timestamp <= known_at), ZERO
    )
    return now_open - traded


def _belongs(last: Closing, new: Closing) -> bool:
    same = last.order_id == new.order_id or (last.is_liquidation and new.is_liquidation)
    return same and last.is_long == new.is_long


def _together(one: Closing, other: Closing) -> Closing:
    quantity = one.quantity + other.quantity
    is_known = one.gross is not None and other.gross is not None
    return replace(
        other,
        began_at=one.began_at,
        quantity=quantity,
        price=(one.price * one.quantity + other.price * other.quantity) / quantity,
        fee=one.fee + other.fee,
        entry=((one.entry or ZERO) * one.quantity + (other.entry or ZERO) * other.quantity) / quantity
        if is_known
        else None,
        gross=(one.gross or ZERO) + (other.gross or ZERO) if is_known else None,
    )


def _limited(closing: Closing, reports: Sequence[MarginReport]) -> Closing:
    """A liquidation that left nothing cost no more than the collateral that was there, whatever its price."""
    if not closing.is_liquidation or closing.gross is None:
        return closing
    near = [one for one in reports if closing.began_at - _NEAR <= one.at <= closing.at + _NEAR]
    ended = [one for one in near if one.reason == LIQUIDATED]
    if not ended or ended[-1].margin_balance or near[0].change is None:
        return closing
    collateral = (near[0].margin_balance or ZERO) - near[0].change
    return replace(closing, gross=max(closing.gross, -collateral))


def _rounded(closing: Closing) -> Closing:
    def to_places(value: Decimal | None) -> Decimal | None:
        return None if value is None else value.quantize(_PLACES, rounding=ROUND_HALF_EVEN).normalize() + 0

    price, fee = to_places(closing.price) or ZERO, to_places(closing.fee) or ZERO
    return replace(closing, price=price, fee=fee, entry=to_places(closing.entry), gross=to_places(closing.gross))
