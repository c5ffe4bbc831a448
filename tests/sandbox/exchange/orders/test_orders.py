"""Orders: placed, filled, rested, refused; what each reserves and pays; what the answers say."""

from decimal import Decimal

import pytest

from sandbox.exchange.accounts.ledger import HOUSE, Wallet
from sandbox.world.world import World
from tests.sandbox.trading import bare, offered, order, trading
from tests.sandbox.worlds import OTHER, call, refused

TAKE, PROVIDE = Decimal("0.0025"), Decimal("0.001")


@pytest.fixture
def world() -> World:
    return bare()


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


def test_a_fee_is_rounded_up_to_twelve_digits_for_each_trade(world: World) -> None:
    offered(world, "sell", 7, 3)
    offered(world, "sell", 7, 3)
    bought = order(world, "buy", "0.0006", "0.000007")
    # 3 increments at 7 ticks are 2.1E-9 BTC; a quarter of a percent of that is 5.25E-12.
    assert [each["fee"] for each in bought["tradesReport"]] == ["0.000000000006", "0.000000000006"]
    assert trading(world, "BTC") == (100 - Decimal("0.0000000042") - Decimal("12E-12"), Decimal(0))


def test_a_sale_never_costs_more_than_it_brings(world: World) -> None:
    world.control("config", {"take_liquidity_rate": "0.5"})
    offered(world, "buy", 1, 1)
    sold = order(world, "sell", "0.0001", "0.000001", takeLiquidityMarkup="0.999")
    assert sold["tradesReport"][0]["fee"] == "0.0000000001"
    assert trading(world, "BTC") == (Decimal(100), Decimal(0))


# Funds ---------------------------------------------------------------------------------------------------------------


def spend_down_to(world: World, code: str, amount: Decimal) -> None:
    """Leaves exactly so much on the other account's trading wallet."""
    have, _ = trading(world, code, OTHER)
    call(world, "transfer_funds", OTHER, currency=code, amount=str(have - amount), type="exchangeToBank")
    assert trading(world, code, OTHER) == (amount, Decimal(0))


def test_a_purchase_needs_more_than_price_quantity_and_fee(world: World) -> None:
    needed = Decimal("0.05") * (1 + TAKE)
    spend_down_to(world, "BTC", needed)
    arguments = {"symbol": "ETHBTC", "side": "buy", "quantity": "1", "price": "0.05"}
    refusal = refused(world, "create_order", 20001, OTHER, **arguments)
    assert refusal.description == "Check that the funds are sufficient, given commissions"
    call(world, "transfer_funds", OTHER, currency="BTC", amount="0.0000000001", type="bankToExchange")
    assert call(world, "create_order", OTHER, **arguments)["status"] == "new"
    assert trading(world, "BTC", OTHER) == (Decimal(0), needed + Decimal("1E-10"))


def test_fees_that_the_reserve_has_no_rounding_for_never_overdraw_it(world: World) -> None:
    price, count = Decimal("0.000333"), 301
    for _ in range(count):
        offered(world, "sell", 333, 1)
    cost = price * count / 10_000
    needed = cost * (1 + TAKE)
    spend_down_to(world, "BTC", needed.quantize(Decimal("1E-10"), rounding="ROUND_UP"))
    bought = order(world, "buy", str(Decimal(count) / 10_000), str(price), OTHER)
    fees = [Decimal(each["fee"]) for each in bought["tradesReport"]]
    # Each is 83.25E-12, so it is rounded up as long as what is there also covers the rest, and then no more.
    assert (bought["status"], len(fees), fees[0], fees[-1]) == ("filled", count, Decimal("84E-12"), Decimal("83E-12"))
    assert sum(fees) >= (cost * TAKE).quantize(Decimal("1E-12"), rounding="ROUND_DOWN")
    available, reserved = trading(world, "BTC", OTHER)
    assert (0 <= available < Decimal("1E-12"), reserved) == (True, Decimal(0))
    assert world.ledger()["balanced"] is True


def test_a_sale_needs_the_quantity_and_no_more(world: World) -> None:
    spend_down_to(world, "ETH", Decimal(2))
    refused(world, "create_order", 20001, OTHER, symbol="ETHBTC", side="sell", quantity="2.0001", price="0.05")
    assert order(world, "sell", "2", "0.05", OTHER)["status"] == "new"
    refused(world, "create_order", 20001, OTHER, symbol="ETHBTC", side="sell", quantity="0.0001", price="0.05")


def test_money_on_the_bank_account_does_not_trade(world: World) -> None:
    assert Decimal(call(world, "get_balances")[0]["available"]) >= 1
    call(world, "transfer_funds", currency="BTC", amount="100", type="exchangeToBank")
    refused(world, "create_order", 20001, symbol="ETHBTC", side="buy", quantity="1", price="0.05")


def test_reserved_money_can_not_be_moved_away(world: World) -> None:
    order(world, "sell", "999", "0.05")
    refused(world, "transfer_funds", 20001, currency="ETH", amount="2", type="exchangeToBank")


def test_a_purchase_at_the_market_needs_a_tenth_more_than_it_costs(world: World) -> None:
    offered(world, "sell", 50_000, 10_000)
    needed = Decimal("0.05") * Decimal("1.1") * (1 + TAKE)
    spend_down_to(world, "BTC", needed)
    arguments = {"symbol": "ETHBTC", "side": "buy", "quantity": "1", "type": "market"}
    refused(world, "create_order", 20001, OTHER, **arguments)
    call(world, "transfer_funds", OTHER, currency="BTC", amount="0.0000000001", type="bankToExchange")
    assert call(world, "create_order", OTHER, **arguments)["status"] == "filled"
    spent = Decimal("0.05") * (1 + TAKE)
    assert trading(world, "BTC", OTHER) == (needed + Decimal("1E-10") - spent, Decimal(0))


# Rates ---------------------------------------------------------------------------------------------------------------


def test_the_rates_are_the_symbols_own_unless_configured(world: World) -> None:
    own = {"takeLiquidityRate": "0.0025", "provideLiquidityRate": "0.001"}
    assert call(world, "get_trading_fee", symbol="ethbtc") == own
    every = call(world, "get_trading_fees")
    assert every[0] == own | {"symbol": "ETHBTC"}
    assert len(every) == len(world.exchange.symbols)
    world.control("config", {"take_liquidity_rate": "0.002", "provide_liquidity_rate": "-0.0001"})
    assert call(world, "get_trading_fee", symbol="BTCUSD") == {
        "takeLiquidityRate": "0.002",
        "provideLiquidityRate": "-0.0001",
    }
    refused(world, "get_trading_fee", 2001, symbol="NONE")
    refused(world, "get_trading_fee", 1001, None, symbol="ETHBTC")


def test_a_rebate_is_paid_to_the_maker(world: World) -> None:
    world.control("config", {"provide_liquidity_rate": "-0.0001"})
    order(world, "buy", "1", "0.05")
    order(world, "sell", "1", "0.05", OTHER)
    (mine,) = call(world, "get_trade_history")
    assert (mine["fee"], mine["taker"]) == ("-0.000005", False)
    assert trading(world, "BTC") == (100 - Decimal("0.05") + Decimal("0.000005"), Decimal(0))
    assert world.ledger()["balanced"] is True


def test_a_rebate_larger_than_all_fees_comes_from_the_traders(world: World) -> None:
    world.control("config", {"provide_liquidity_rate": "-0.5"})
    before = world.exchange.ledger.balance(HOUSE, Wallet.FEES, "BTC")
    order(world, "sell", "1", "0.05")
    offered(world, "buy", 50_000, 10_000)
    assert trading(world, "BTC") == (100 + Decimal("0.075"), Decimal(0))
    assert world.exchange.ledger.balance(HOUSE, Wallet.FEES, "BTC") == before
    assert world.ledger()["balanced"] is True


def test_markups_come_on_top_of_either_rate(world: World) -> None:
    markups = {"takeLiquidityMarkup": "0.001", "provideLiquidityMarkup": "0.004"}
    offered(world, "sell", 50_000, 5_000)
    bought = order(world, "buy", "1", "0.05", **markups)
    assert bought["tradesReport"][0]["fee"] == "0.0000875"  # 0.025 at 0.35 percent
    left = Decimal("0.025") * (1 + Decimal("0.005")) + 5_000 * Decimal("1E-12")
    assert trading(world, "BTC")[1] == left  # the higher of the two rates is covered
    offered(world, "sell", 50_000, 5_000)
    assert call(world, "get_trade_history")[0]["fee"] == "0.000125"  # 0.025 at half a percent
    assert trading(world, "BTC")[1] == 0


def test_the_rates_of_an_order_are_those_of_its_coming_in(world: World) -> None:
    order(world, "buy", "1", "0.05")
    world.control("config", {"take_liquidity_rate": "0.5", "provide_liquidity_rate": "0.5"})
    offered(world, "sell", 50_000, 10_000)
    assert call(world, "get_trade_history")[0]["fee"] == "0.00005"
