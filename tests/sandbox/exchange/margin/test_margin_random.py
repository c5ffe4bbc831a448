"""Margin under random use by two people and the market: the money stays whole, and the journal gives the same again."""

import json
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from sandbox.world.world import Caller, Refusal, World
from tests.sandbox.margins import is_sound, kept
from tests.sandbox.trading import offered
from tests.sandbox.worlds import DESK, OTHER, Ticking, call, opened, picture

STEPS = 120
SYMBOLS = ("ETHBTC", "LTCBTC")


def middle(world: World, symbol: str) -> int:
    bid, ask = world.exchange.market.quotes(world.exchange.symbols[symbol], world.exchange.moment_ms)
    return (bid + ask) // 2


def random_order(dice: random.Random, world: World, symbol: str) -> dict[str, object]:
    """A random order around the market."""
    tick, price = world.exchange.symbols[symbol].tick, middle(world, symbol) * dice.randint(93, 107) // 100
    kind = dice.choice(("limit", "limit", "limit", "market", "stopLimit", "stopMarket"))
    wanted: dict[str, object] = {
        "symbol": symbol,
        "side": dice.choice(("buy", "sell")),
        "type": kind,
        "quantity": str(Decimal(dice.randint(1, 400)) / 10),
        "postOnly": dice.random() < 0.1,
    }
    if kind.endswith("imit"):
        wanted |= {"price": format(price * tick, "f"), "timeInForce": dice.choice(("GTC", "GTC", "IOC", "FOK", "Day"))}
    if kind.startswith("stop"):
        wanted["stopPrice"] = format(middle(world, symbol) * dice.randint(95, 105) // 100 * tick, "f")
    return wanted


def needed(world: World, symbol: str, caller: Caller) -> Decimal:
    """What the account of a symbol needs for its position and its orders."""
    for each in call(world, "get_margin_accounts", caller):
        if each["symbol"] == symbol:
            return Decimal(each["marginBalanceRequired"]) + Decimal(each["marginBalanceOrders"])
    return Decimal("0.1")


def stepped(dice: random.Random, world: World, clock: Ticking) -> None:
    """One random thing that somebody does; a refusal is an answer too."""
    symbol, caller = dice.choice(SYMBOLS), dice.choice((DESK, OTHER))
    what = dice.randrange(16)
    if what <= 4:
        call(world, "create_margin_order", caller, **random_order(dice, world, symbol))
    elif what == 5:
        call(world, "create_order", caller, **random_order(dice, world, symbol))
    elif what == 6:
        least = Decimal(dice.randint(100, 200)) / 100 * needed(world, symbol, caller)
        balance = "0" if dice.random() < 0.1 else format(max(least, Decimal("0.05")), "f")
        call(world, "set_margin_account", caller, symbol=symbol, marginBalance=balance)
    elif what == 7 and dice.random() < 0.3:
        operation = dice.choice(("close_margin_position", "close_margin_account"))
        call(world, operation, caller, symbol=symbol)
    elif what == 8 and dice.random() < 0.5:
        call(world, "cancel_margin_orders", caller)
    elif what == 9:
        clock.at_ms += dice.choice((1_000, 30_000, 600_000))
        world.run_due()
    else:
        price = middle(world, symbol) * dice.randint(88, 112) // 100
        offered(world, dice.choice(("buy", "sell")), price, dice.randint(1, 500) * 1_000, symbol)


def without_marks(picture_of_it: object) -> Any:
    """The same without profits and losses: those follow a mark that is partly not in the journal."""

    def stripped(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: stripped(each) for name, each in value.items() if name != "pnl"}
        return [stripped(each) for each in value] if isinstance(value, list | tuple) else value

    return json.loads(json.dumps(stripped(picture_of_it), default=str))


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
@pytest.mark.parametrize("traders", [False, True])
def test_random_use(tmp_path: Path, seed: int, traders: bool) -> None:
    dice, clock = random.Random(seed), Ticking()
    world = opened(tmp_path, clock, traders=traders)
    for caller in (DESK, OTHER):
        call(world, "set_margin_account", caller, symbol="ETHBTC", marginBalance="2")
        call(world, "set_margin_account", caller, symbol="LTCBTC", marginBalance="0.2")
    refused = 0
    for _ in range(STEPS):
        try:
            stepped(dice, world, clock)
        except Refusal:
            refused += 1
        assert is_sound(world)
    assert refused < STEPS // 2
    assert call(world, "get_trade_history", margin="only")
    world.run_due()
    before = without_marks((picture(world), kept(world)))
    world.close()
    again = opened(tmp_path, clock, traders=traders)
    assert again.warnings == []
    assert without_marks((picture(again), kept(again))) == before
    assert is_sound(again)
    again.close()
