"""Orders: placed, filled, rested, refused; what each reserves and pays; what the answers say."""

from decimal import Decimal
from typing import Any

import pytest

from sandbox.exchange import orders_house
from sandbox.exchange.ledger import HOUSE, Wallet
from sandbox.world import Caller, World
from tests.sandbox.worlds import DESK, OTHER, balance, call, opened

TAKE, PROVIDE = Decimal("0.0025"), Decimal("0.001")


@pytest.fixture
def world() -> World:
    return opened(still=True)


def order(world: World, side: str, quantity: object, price: object = None, *more: Caller, **asked: object) -> Any:
    """The answer to a new ETHBTC order, by the desk unless another caller is named."""
    given = {"symbol": "ETHBTC", "side": side, "quantity": quantity} | ({} if price is None else {"price": price})
    return call(world, "create_order", *more, **(given | asked))


def trading(world: World, code: str, caller: Caller = DESK) -> tuple[Decimal, Decimal]:
    """Available and reserved on the trading account."""
    available, reserved = balance(world, code, caller, "get_trading_balances")
    return Decimal(available), Decimal(reserved)


def offered(world: World, side: str, price: int, quantity: int, symbol: str = "ETHBTC") -> int:
    """A simulated trader's order in ticks and increments; its number."""
    number, _ = orders_house.offer(world.exchange, symbol, side, price, quantity)
    world.run_due()
    return number


# Resting and trading -------------------------------------------------------------------------------------------------


def test_an_order_is_answered_as_documented(world: World) -> None:
    assert order(world, "sell", "0.063", "0.046016", clientOrderId="d8574207d9e3b16a4a5511753eeef175") == {
        "id": 340_000_000_001,
        "clientOrderId": "d8574207d9e3b16a4a5511753eeef175",
        "symbol": "ETHBTC",
        "side": "sell",
        "status": "new",
        "type": "limit",
        "timeInForce": "GTC",
        "quantity": "0.0630",
        "price": "0.046016",
        "cumQuantity": "0.0000",
        "postOnly": False,
        "createdAt": "2026-11-18T11:06:40.000Z",
        "updatedAt": "2026-11-18T11:06:40.000Z",
    }


def test_a_sale_reserves_the_quantity_and_a_purchase_the_price_with_the_fee(world: World) -> None:
    order(world, "sell", "2", "0.05")
    assert trading(world, "ETH") == (Decimal(998), Decimal(2))
    order(world, "buy", "2", "0.04")
    cost = Decimal("0.08") * (1 + TAKE)
    rounding = 20_000 * Decimal("1E-12")
    assert trading(world, "BTC") == (100 - cost - rounding, cost + rounding)


def test_a_trade_pays_both_sides_and_both_fees(world: World) -> None:
    sold = order(world, "sell", "0.063", "0.046016")
    bought = order(world, "buy", "0.1", "0.05", OTHER)
    cost = Decimal("0.063") * Decimal("0.046016")
    assert (bought["status"], bought["cumQuantity"]) == ("partiallyFilled", "0.0630")
    assert bought["tradesReport"] == [
        {
            "id": 1_795_000_000_000_000,
            "quantity": "0.0630",
            "price": "0.046016",
            "fee": "0.00000724752",
            "timestamp": "2026-11-18T11:06:40.000Z",
        }
    ]
    assert trading(world, "BTC") == (100 + cost * (1 - PROVIDE), Decimal(0))
    assert trading(world, "ETH") == (1000 - Decimal("0.063"), Decimal(0))
    left = Decimal("0.037") * Decimal("0.05") * (1 + TAKE) + 370 * Decimal("1E-12")
    assert trading(world, "BTC", OTHER) == (5 - cost * (1 + TAKE) - left, left)
    fees = world.exchange.ledger.balance(HOUSE, Wallet.FEES, "BTC") - Decimal("0.0005")  # a payout's of the opening
    assert fees == cost * (PROVIDE + TAKE)
    assert world.ledger()["balanced"] is True
    assert call(world, "get_orders") == []
    assert [each["id"] for each in call(world, "get_orders", OTHER)] == [bought["id"]]
    assert sold["id"] < bought["id"]


def test_what_a_limit_saves_is_free_at_once(world: World) -> None:
    offered(world, "sell", 40_000, 10_000)
    bought = order(world, "buy", "1", "0.05")
    assert (bought["status"], bought["tradesReport"][0]["price"]) == ("filled", "0.040000")
    assert trading(world, "BTC") == (100 - Decimal("0.04") * (1 + TAKE), Decimal(0))


def test_an_order_may_meet_one_of_the_same_account(world: World) -> None:
    order(world, "sell", "1", "0.05")
    assert order(world, "buy", "1", "0.05")["status"] == "filled"
    assert trading(world, "ETH") == (Decimal(1000), Decimal(0))
    assert trading(world, "BTC") == (100 - Decimal("0.05") * (TAKE + PROVIDE), Decimal(0))
    assert [each["taker"] for each in call(world, "get_trade_history")] == [False, True]
