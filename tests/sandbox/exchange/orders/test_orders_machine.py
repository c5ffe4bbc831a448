"""Whatever is ordered, cancelled, replaced, transferred and offered: the ledger sums to zero, nothing is negative, what
is reserved is what open orders need, no book is crossed, and a replay is the same."""

import tempfile
from collections import defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from sandbox.engine.clock import DAY_MS
from sandbox.exchange.accounts.ledger import CUSTOMER_WALLETS, Wallet, amount_of
from sandbox.exchange.orders.orders import Order, Status
from sandbox.exchange.trading import orders_house
from sandbox.world.world import Caller, Refusal, World
from tests.sandbox.trading import bare
from tests.sandbox.worlds import DESK, OTHER, START_MS, Ticking, outside, picture

SYMBOLS = ("ETHBTC", "EOSETH", "BTCUSD")
IDS = tuple("abcdefgh")
callers = st.sampled_from([DESK, OTHER])
symbols = st.sampled_from(SYMBOLS)
sides = st.sampled_from(["buy", "sell"])
ticks = st.integers(49_990, 50_010)
increments = st.one_of(st.integers(1, 50), st.integers(1, 300_000))
odd_numbers = st.sampled_from(["0", "-1", "NaN", "", "1e5", "9" * 30, "0.0000000001"])
ids = st.one_of(st.none(), st.sampled_from(IDS))


def spelled(world: World, symbol: str, price: int | None, quantity: int | None) -> dict[str, object]:
    """Price and quantity as decimals."""
    pair = world.exchange.pair(symbol)
    numbers: dict[str, object] = {}
    if price is not None:
        numbers["price"] = pair.price_text(price)
    if quantity is not None:
        numbers["quantity"] = pair.quantity_text(quantity)
    return numbers


class Trading(RuleBasedStateMachine):
    """Random trading of two accounts and the simulated traders in three symbols that share their currencies."""

    @initialize(seed=st.sampled_from([1, 2, 2**63 - 1]), rebate=st.booleans(), poor=st.booleans())
    def open(self, seed: int, rebate: bool, poor: bool) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.clock = Ticking()
        self.seed = seed
        self.world = bare(Path(self.folder.name), self.clock, seed=seed)
        if rebate:
            self.world.control("config", {"provide_liquidity_rate": "-0.0005"})
        if poor:  # orders soon cost more than there is
            for code, amount in (("BTC", "4.9"), ("ETH", "48"), ("USD", "24000")):
                self.attempt("transfer_funds", OTHER, currency=code, amount=amount, type="exchangeToBank")

    def attempt(self, operation: str, caller: Caller, **arguments: object) -> Any:
        """The answer, or None when refused; a refusal must leave no trace."""
        self.world.run_due()
        before, length = picture(self.world), self.world.journal.length
        try:
            return self.world.perform(operation, caller, arguments)
        except Refusal:
            assert picture(self.world) == before
            assert self.world.journal.length == length
            return None

    @rule(
        caller=callers,
        symbol=symbols,
        side=sides,
        price=ticks,
        quantity=increments,
        force=st.sampled_from(["GTC", "GTC", "GTC", "IOC", "FOK", "Day", "GTD"]),
        post_only=st.sampled_from([False, False, True]),
        markup=st.sampled_from([None, None, "0.001", "0.25"]),
        client_id=ids,
    )
    def limit(self, *, symbol: str, caller: Caller, price: int, quantity: int, **more: Any) -> None:
        self.order(
            caller,
            symbol,
            spelled(self.world, symbol, price, quantity),
            side=more["side"],
            timeInForce=more["force"],
            postOnly=more["post_only"],
            takeLiquidityMarkup=more["markup"],
            expireTime=self.clock.at_ms + 7_000,
            clientOrderId=more["client_id"],
        )

    @rule(caller=callers, symbol=symbols, side=sides, quantity=increments, force=st.sampled_from(["IOC", "FOK"]))
    def market(self, caller: Caller, symbol: str, side: str, quantity: int, force: str) -> None:
        numbers = spelled(self.world, symbol, None, quantity)
        self.order(caller, symbol, numbers, side=side, type="market", timeInForce=force)

    @rule(
        caller=callers,
        symbol=symbols,
        side=sides,
        price=st.one_of(st.none(), ticks),
        stop=ticks,
        quantity=increments,
        force=st.sampled_from(["GTC", "IOC", "FOK", "Day"]),
        client_id=ids,
    )
    def stop(self, *, caller: Caller, symbol: str, price: int | None, stop: int, quantity: int, **more: Any) -> None:
        self.order(
            caller,
            symbol,
            spelled(self.world, symbol, price, quantity),
            side=more["side"],
            type="stopMarket" if price is None else "stopLimit",
            stopPrice=self.world.exchange.pair(symbol).price_text(stop),
            timeInForce=more["force"],
            clientOrderId=more["client_id"],
        )

    def order(self, caller: Caller, symbol: str, numbers: dict[str, object], **arguments: object) -> None:
        answer = self.attempt("create_order", caller, symbol=symbol, **numbers, **arguments)
        if answer is not None:
            traded = sum((Decimal(each["quantity"]) for each in answer.get("tradesReport", [])), start=Decimal(0))
            assert traded == Decimal(answer["cumQuantity"])

    @rule(caller=callers, symbol=symbols, side=sides, odd=odd_numbers, at=st.sampled_from(["price", "quantity"]))
    def odd(self, caller: Caller, symbol: str, side: str, odd: str, at: str) -> None:
        numbers = spelled(self.world, symbol, 50_000, 10) | {at: odd}
        assert self.attempt("create_order", caller, symbol=symbol, side=side, **numbers) is None

    @rule(caller=callers, client_id=st.sampled_from(IDS))
    def cancel(self, caller: Caller, client_id: str) -> None:
        self.attempt("cancel_order", caller, clientOrderId=client_id)

    @rule(caller=callers, symbol=st.one_of(st.none(), symbols))
    def cancel_all(self, caller: Caller, symbol: str | None) -> None:
        answer = self.attempt("cancel_orders", caller, symbol=symbol)
        assert all(each["status"] == "canceled" for each in answer)

    @rule(
        caller=callers,
        client_id=st.sampled_from(IDS),
        new_id=st.sampled_from(IDS),
        price=st.one_of(st.none(), ticks),
        quantity=increments,
    )
    def replace(self, caller: Caller, client_id: str, new_id: str, price: int | None, quantity: int) -> None:
        found = self.world.exchange.orders.find(caller.account, client_id, margin=False)
        numbers = spelled(self.world, found.pair.symbol.id if found else "ETHBTC", price, quantity)
        answer = self.attempt("replace_order", caller, clientOrderId=client_id, requestClientId=new_id, **numbers)
        if answer is not None:
            assert answer["clientOrderId"] == new_id or answer["status"] == "canceled"

    @rule(symbol=symbols, side=sides, price=st.one_of(st.none(), ticks), quantity=increments, keep=st.booleans())
    def offer(self, symbol: str, side: str, price: int | None, quantity: int, keep: bool) -> None:
        number, _ = orders_house.offer(self.world.exchange, symbol, side, price, quantity)
        if not keep:
            self.world.exchange.pair(symbol).book.cancel(number)
        self.world.run_due()

    @rule(
        caller=callers,
        code=st.sampled_from(["BTC", "ETH", "EOS", "USD"]),
        amount=st.decimals(Decimal("0.000001"), Decimal(300), places=6).map(str),
        kind=st.sampled_from(["bankToExchange", "exchangeToBank"]),
    )
    def transfer(self, caller: Caller, code: str, amount: str, kind: str) -> None:
        self.attempt("transfer_funds", caller, currency=code, amount=amount, type=kind)

    @rule(caller=callers)
    def withdraw(self, caller: Caller) -> None:
        arguments = {"currency": "BTC", "amount": "0.01", "address": outside("BTC"), "autoCommit": False}
        self.attempt("create_withdrawal", caller, **arguments)

    @rule(ms=st.sampled_from([1, 999, 7_000, 3_600_000, DAY_MS]))
    def wait(self, ms: int) -> None:
        self.clock.at_ms += ms

    @precondition(lambda self: self.clock.at_ms > START_MS)
    @rule()
    def restart(self) -> None:
        self.world.run_due()
        before = picture(self.world)
        books = {symbol: self.customers_levels(symbol) for symbol in SYMBOLS}
        dice = self.world.exchange.random.getstate()
        self.world.close()
        self.world = bare(Path(self.folder.name), self.clock, seed=self.seed)
        self.world.run_due()
        assert self.world.warnings == []
        assert picture(self.world) == before
        assert {symbol: self.customers_levels(symbol) for symbol in SYMBOLS} == books
        assert self.world.exchange.random.getstate() == dice

    def customers_levels(self, symbol: str) -> list[tuple[int, int]]:
        """The customers' orders in a book, in the order in which each level is matched."""
        book = self.world.exchange.pair(symbol).book
        return [
            (order_id, level[order_id])
            for side in (book._bids, book._asks)
            for _, level in sorted(side.levels.items())
            for order_id in level
            if order_id > 0
        ]

    def active(self) -> list[Order]:
        return list(self.world.exchange.orders.active.values()) if hasattr(self, "world") else []

    @invariant()
    def the_ledger_balances_and_nothing_is_negative(self) -> None:
        if not hasattr(self, "world"):
            return
        assert self.world.ledger()["balanced"] is True
        for account in (DESK.account, OTHER.account):
            for wallets in self.world.exchange.ledger.currencies_of(account).values():
                assert all(wallets.get(wallet, 0) >= 0 for wallet in CUSTOMER_WALLETS)

    @invariant()
    def what_is_reserved_is_what_open_orders_need(self) -> None:
        if not hasattr(self, "world"):
            return
        needed: dict[tuple[str, str], int] = defaultdict(int)
        for order in self.active():
            pair = order.pair
            if order.is_buy:
                if order.price is not None:
                    notional = order.price * order.remaining
                    assert order.reserved >= notional * pair.quote_unit + order.cover.floor(notional)
                needed[order.account, pair.quote] += order.reserved
            else:
                assert order.reserved == order.remaining * pair.base_unit
                needed[order.account, pair.base] += order.reserved
        ledger = self.world.exchange.ledger
        for account in (DESK.account, OTHER.account):
            for code in self.world.exchange.currencies:
                reserved = ledger.balance(account, Wallet.TRADING_RESERVED, code)
                assert reserved == amount_of(needed[account, code])

    @invariant()
    def the_books_are_what_the_orders_say_and_not_crossed(self) -> None:
        if not hasattr(self, "world"):
            return
        resting = {order.id: order.remaining for order in self.active() if order.status is not Status.SUSPENDED}
        in_books: dict[int, int] = {}
        for symbol in SYMBOLS:
            book = self.world.exchange.pair(symbol).book
            bid, ask = book.best("buy"), book.best("sell")
            assert bid is None or ask is None or bid < ask
            in_books |= dict(self.customers_levels(symbol))
        assert in_books == resting

    @invariant()
    def every_order_is_whole(self) -> None:
        if not hasattr(self, "world"):
            return
        for account in (DESK.account, OTHER.account):
            dealings = self.world.exchange.orders.dealings(account)
            for order in dealings.orders.values():
                assert order.remaining + order.filled == order.terms.quantity
                assert (order.status is Status.FILLED) == (order.remaining == 0)
                assert order.is_active == (dealings.active.get(order.client_id) is order)
                assert order.is_active or order.reserved == 0
            numbers = [trade.id for trade in dealings.trades]
            assert numbers == sorted(numbers)

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.restart()
            self.world.close()
            self.folder.cleanup()


TestTrading = Trading.TestCase
TestTrading.settings = settings(max_examples=25, stateful_step_count=50, deadline=None)
