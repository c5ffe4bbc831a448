"""Margin in a test: accounts, orders and positions of ETHBTC (leverage 10, rate 0.0025) in a word."""

from decimal import Decimal
from typing import Any

from sandbox.amounts import ZERO
from sandbox.exchange.accounts.ledger import Wallet, amount_of
from sandbox.world.world import Caller, Refusal, World
from tests.sandbox import worlds
from tests.sandbox.trading import offered
from tests.sandbox.worlds import DESK, call

PRICE = 50_000  # ticks: 0.05


def funded(world: World, balance: str = "1", symbol: str = "ETHBTC", caller: Caller = DESK) -> Any:
    """The record of an account with this balance."""
    return call(world, "set_margin_account", caller, symbol=symbol, marginBalance=balance)


def margin_order(
    world: World, side: str, quantity: object, price: object = None, *more: Caller, **more_terms: object
) -> Any:
    """The answer to a new margin order of ETHBTC, by the desk unless another caller is named."""
    terms = {"symbol": "ETHBTC", "side": side, "quantity": quantity} | ({} if price is None else {"price": price})
    return call(world, "create_margin_order", *more, **(terms | more_terms))


def traded(world: World, side: str, quantity: int, price: int = PRICE, caller: Caller = DESK) -> None:
    """A margin trade of so many whole ETH, against a simulated trader, at a price in ticks."""
    offered(world, "sell" if side == "buy" else "buy", price, quantity * 10_000)
    made = margin_order(world, side, quantity, Decimal(price).scaleb(-6), caller)
    assert made["status"] == "filled"


def account(world: World, symbol: str = "ETHBTC", caller: Caller = DESK) -> Any:
    """The record of an account."""
    return call(world, "get_margin_account", caller, symbol=symbol)


def kept(world: World) -> tuple[object, ...]:
    """Everything that the world remembers of margin and of orders."""
    exchange = world.exchange
    accounts = [
        call(world, "get_margin_accounts", caller) for caller in (DESK, worlds.OTHER, Caller("", "desk+1@demo.test"))
    ]
    orders = [(order.id, order.remaining, order.status, order.margin) for order in exchange.orders.active.values()]
    trades = [
        (trade.id, trade.price, trade.quantity, trade.fee, trade.liquidation, trade.position_id)
        for owner in (DESK.account, worlds.OTHER.account)
        for trade in exchange.orders.dealings(owner).trades
    ]
    return accounts, orders, trades


def refused(world: World, operation: str, code: int, caller: Caller | None = DESK, /, **arguments: object) -> Refusal:
    """The refusal of a call that changes nothing, margin and orders included."""
    before = kept(world)
    refusal = worlds.refused(world, operation, code, caller, **arguments)
    assert kept(world) == before
    return refusal


def is_sound(world: World) -> bool:
    """Whether the ledger balances, and the margin wallets hold exactly what the accounts have."""
    exchange, sums = world.exchange, dict[tuple[str, str], Decimal]()
    for each in exchange.margins._accounts.values():
        key = (each.owner, each.pair.quote)
        sums[key] = sums.get(key, ZERO) + amount_of(each.balance)
        assert each.balance >= 0
    wallets = {
        (owner, code): held[Wallet.MARGIN]
        for owner in exchange.ledger._balances
        for code, held in exchange.ledger.currencies_of(owner).items()
        if Wallet.MARGIN in held
    }
    assert wallets == {key: amount for key, amount in sums.items() if amount}
    return bool(world.ledger()["balanced"])
