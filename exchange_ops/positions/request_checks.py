"""Checks of a margin action, with each problem beside its field, before anything is written.

They cover what the exchange would refuse and what the company's rules say. Collateral stays on the account, like money
that moves between its wallets, so nobody has to agree and no second factor is needed; but the limit of one transfer
bounds what is added, because a position can lose it. A close only lowers the risk, so it needs no approval either; the
limit of one order bounds its value. `oversteps` has what needs to be confirmed by name.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from exchange_ops.ledger.models import Balance
from exchange_ops.margin.models import MarginAccount, MarginPosition
from exchange_ops.market.models import Symbol
from exchange_ops.policy import freezes, limits
from exchange_ops.policy import oversteps as bounds
from exchange_ops.policy.models import ValueLimit
from exchange_ops.policy.oversteps import CONFIRMED, Overstep
from exchange_ops.positions import oversteps, states
from exchange_ops.positions.models import MarginAction
from exchange_ops.shared import rules
from exchange_ops.shared.amounts import storable
from exchange_ops.shared.models import Account
from exchange_ops.shared.problems import FORM
from wire.values import grouped_text

if TYPE_CHECKING:
    from desk.models import Person

ONLY_OPERATORS: Final = "Only operators can open, change or close margin accounts and positions."
ZERO: Final = Decimal(0)


class CannotAct(Exception):
    """Nothing was recorded and nothing sent; `problems` names the field (or "__all__") and says why."""

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__(" ".join(problems.values()))
        self.problems = problems


class NotConfirmed(CannotAct):
    """The action goes beyond bounds that have to be confirmed by name first: `oversteps`."""

    def __init__(self, oversteps: Collection[Overstep]) -> None:
        self.oversteps = list(oversteps)
        super().__init__({CONFIRMED: f"Confirm the following, then send. {bounds.in_words(self.oversteps)}"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """The action that a person requests: `amount` for collateral, `quantity` for a part, `price` for a limit.

    `position_id` is the exchange's number of the position that they saw.
    """

    kind: str
    symbol: str
    amount: Decimal | None = None
    quantity: Decimal | None = None
    order_type: str = ""
    price: Decimal | None = None
    position_id: int | None = None


@dataclass(frozen=True, slots=True)
class MarginCopies:
    """The copies by which a request is judged; each may be missing."""

    symbol: Symbol | None
    held: MarginAccount | None
    position: MarginPosition | None


def read_copies(*, account: Account, code: str) -> MarginCopies:
    """The symbol, its margin account and its position, as last read."""
    current = {"account": account, "symbol": code, "gone_at": None}
    return MarginCopies(
        Symbol.objects.filter(pk=code).first(),
        MarginAccount.objects.filter(**current).first(),
        MarginPosition.objects.filter(**current).first(),
    )


def draft(*, initiator: "Person", account: Account, wish: Wish, there: MarginCopies) -> MarginAction:
    """The action as it would be sent, unsaved: with the side and quantity that follow from the position."""
    row = MarginAction(initiator=initiator, account=account, kind=wish.kind, symbol=wish.symbol, amount=wish.amount)
    position = there.position
    if wish.kind in states.CLOSING and position is not None:
        row.side = "sell" if position.quantity > 0 else "buy"
        row.quantity = wish.quantity if wish.kind == states.REDUCE else abs(position.quantity)
        row.order_type = wish.order_type or states.MARKET
        row.price = wish.price if row.order_type == states.LIMIT else None
        row.position_id = position.exchange_id
    return row


def check(*, row: MarginAction, wish: Wish, there: MarginCopies, now: datetime) -> list[Overstep]:
    """Check the action and give the bounds that it goes beyond; raises CannotAct."""
    if not rules.may_trade(row.initiator, row.account_id):
        raise CannotAct({FORM: ONLY_OPERATORS})
    problems, overstep_list = judge(row=row, wish=wish, there=there, now=now)
    if problems:
        raise CannotAct(problems)
    return overstep_list


def judge(
    *, row: MarginAction, wish: Wish, there: MarginCopies, now: datetime
) -> tuple[dict[str, str], list[Overstep]]:
    """Everything that is wrong with it, by field, with what the rules refuse, and the bounds that it goes beyond.

    Nobody can approve it, so beyond a bound that needs an approval it is refused.
    """
    problems = problems_of(row=row, wish=wish, there=there, now=now)
    if problems or there.symbol is None:
        return problems, []
    overstep_list = oversteps.find_oversteps(
        row=row, symbol=there.symbol, held=there.held, position=there.position, now=now
    )
    takes = {"amount"} if row.kind in {states.OPEN, states.SET} else set()
    takes |= {"quantity"} if row.kind == states.REDUCE else set()
    takes |= {"price"} if row.order_type == states.LIMIT else set()
    refusals = bounds.refusals(overstep_list, can_wait=False)
    return {(name if name in takes else FORM): sentence for name, sentence in refusals.items()}, overstep_list


def problems_of(*, row: MarginAction, wish: Wish, there: MarginCopies, now: datetime) -> dict[str, str]:
    """What is wrong with it, by field, apart from bounds of the rules."""
    problems: dict[str, str] = {}
    if frozen := freezes.obstacle(row.movement):
        problems[FORM] = frozen
    elif (other := _under_way(row)) is not None:
        problems[FORM] = f"{other.reference} is in progress for {row.symbol}. Wait for its outcome."
    if there.symbol is None:
        return problems | {"symbol": "The exchange does not list this symbol."}
    if row.kind in {states.OPEN, states.SET}:
        return problems | _collateral_problems(row, there, there.symbol, now)
    if row.kind == states.CLOSE_ACCOUNT:
        return problems | _account_problems(row, there)
    return problems | _close_problems(row, wish, there, there.symbol)


def _under_way(row: MarginAction) -> MarginAction | None:
    rows = MarginAction.objects.filter(account=row.account, symbol=row.symbol, state__in=states.IN_FLIGHT)
    return rows.first()


# Collateral -----------------------------------------------------------------------------------------------------------


def _collateral_problems(row: MarginAction, there: MarginCopies, symbol: Symbol, now: datetime) -> dict[str, str]:
    held, amount = there.held, row.amount
    if not symbol.margin_trading:
        return {"symbol": f"Margin trading is not available for {symbol.code}."}
    if row.kind == states.OPEN and held is not None:
        return {"symbol": f"{symbol.code} already has a margin account. Change its collateral instead."}
    if row.kind == states.SET and held is None:
        return {FORM: f"{symbol.code} has no margin account."}
    if amount is None or amount <= 0 or not storable(amount):
        return {"amount": "Enter a collateral amount greater than zero."}
    if held is not None and amount == held.margin_balance:
        return {"amount": "This is the current collateral. Enter a different amount."}
    added = amount - (ZERO if held is None else held.margin_balance)
    sentence = _too_much(row, symbol, added, now) if added > 0 else _too_little(amount, held, there.position, symbol)
    return {"amount": sentence} if sentence else {}


def _too_much(row: MarginAction, symbol: Symbol, added: Decimal, now: datetime) -> str:
    """Why this much can't be added. A balance that was never read is left to the exchange."""
    quote = symbol.quote_currency
    balance = available(account=row.account, currency=quote)
    if balance is not None and added > balance.available:
        return (
            f"Insufficient balance: {grouped_text(added)} {quote} required; {grouped_text(balance.available)} "
            f"available in the trading account at {balance.read_at:%H:%M:%S} UTC."
        )
    return limits.problem(
        kind=ValueLimit.TRANSFER, person=row.initiator, account=row.account, amount=added, currency=quote, now=now
    )


def _too_little(amount: Decimal, held: MarginAccount | None, position: MarginPosition | None, symbol: Symbol) -> str:
    if held is None or amount >= (least := least_collateral(held, position)):
        return ""
    return (
        f"Minimum collateral is {grouped_text(least)} {symbol.quote_currency}, to cover orders, position and "
        "unrealised loss."
    )


def least_collateral(held: MarginAccount, position: MarginPosition | None) -> Decimal:
    """What has to stay in an account: for its orders, its position, and the loss that is open."""
    loss = min(position.pnl or ZERO, ZERO) if position is not None else ZERO
    least: Decimal = held.margin_balance_orders + held.margin_balance_required - loss
    return least


def available(*, account: Account, currency: str) -> Balance | None:
    """What the trading wallet held of a currency when it was last read."""
    return Balance.objects.filter(account=account, currency=currency, wallet=Balance.TRADING).first()


# Closing --------------------------------------------------------------------------------------------------------------


def _account_problems(row: MarginAction, there: MarginCopies) -> dict[str, str]:
    return {FORM: f"{row.symbol} has no margin account."} if there.held is None else {}


def _close_problems(row: MarginAction, wish: Wish, there: MarginCopies, symbol: Symbol) -> dict[str, str]:
    position = there.position
    if position is None:
        return {FORM: f"No open position in {row.symbol}."}
    if wish.position_id is not None and wish.position_id != position.exchange_id:
        return {FORM: "Not sent: the position you saw is closed and a new one is open. Review the new one."}
    problems = {}
    if sentence := _quantity_problem(row, position, symbol):
        problems["quantity"] = sentence
    if sentence := _price_problem(row, symbol):
        problems["price"] = sentence
    return problems


def _quantity_problem(row: MarginAction, position: MarginPosition, symbol: Symbol) -> str:
    if row.kind != states.REDUCE:
        return ""
    size, quantity = abs(position.quantity), row.quantity
    if quantity is None or quantity <= 0 or not storable(quantity):
        return "Enter the quantity to close."
    if quantity >= size:
        return (
            f"The position is {grouped_text(size)} {symbol.base_currency}. To close all of it, choose Whole position."
        )
    if symbol.quantity_increment and quantity % symbol.quantity_increment:
        return f"Quantity must be a multiple of {grouped_text(symbol.quantity_increment)} {symbol.base_currency}."
    return ""


def _price_problem(row: MarginAction, symbol: Symbol) -> str:
    if row.order_type != states.LIMIT:
        return ""
    if row.price is None or row.price <= 0 or not storable(row.price):
        return "Enter the limit price."
    if symbol.tick_size and row.price % symbol.tick_size:
        return f"Price must be a multiple of {grouped_text(symbol.tick_size)} {symbol.quote_currency}, the tick size."
    return ""
