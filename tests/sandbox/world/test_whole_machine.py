"""Everything that moves money at once, at random: orders, cancels, replacements, margin, transfers, sub-accounts,
withdrawals, payins, time, restarts; by a master, his sub-account and another user; with simulated traders and without.

After each step the ledger sums to zero, nothing is negative, what is reserved is what open orders and holds need, what
lies in margin is what the margin accounts have, and no book is crossed. In the end the journal gives the same world.
"""

import tempfile
from collections import defaultdict
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule

from sandbox.engine.clock import DAY_MS
from sandbox.exchange.accounts.ledger import CUSTOMER_WALLETS, HOUSE, Wallet, amount_of
from sandbox.exchange.margin.margin_reports import account_record
from sandbox.exchange.orders.orders_reports import order_record, trade_record
from sandbox.exchange.trading import orders_house
from sandbox.world.world import Caller, Refusal
from tests.sandbox.exchange.margin.test_margin_random import middle, without_marks
from tests.sandbox.margins import is_sound
from tests.sandbox.worlds import DESK, HOUR_MS, OTHER, Ticking, opened, outside, picture

SUB = Caller("sub-full", "desk+1@demo.test")
SYMBOLS = ("ETHBTC", "LTCBTC")  # they share a currency, and both have margin
SUB_IDS = (7001, 7002, 7003, 7004, 7005)
IDS = tuple("abcdef")

callers = st.sampled_from([DESK, DESK, OTHER, SUB])
symbols = st.sampled_from(SYMBOLS)
sides = st.sampled_from(["buy", "sell"])
codes = st.sampled_from(["BTC", "ETH", "LTC", "USD", "USDT20", "XRP", "DDF"])
ids = st.sampled_from(IDS)
away = st.integers(-60, 60)  # thousandths from the middle of the market
quantities = st.one_of(st.integers(1, 60), st.integers(1, 20_000)).map(lambda steps: str(Decimal(steps) / 1_000))
amounts = st.one_of(
    st.decimals(Decimal("0.001"), Decimal(60), places=3).map(str),
    st.decimals(Decimal("0.00000001"), Decimal(2_000_000), places=8).map(str),
    st.sampled_from(["0", "-1", "NaN", "", "9" * 30]),
)


class Everything(RuleBasedStateMachine):
    """One exchange, three customers, and whatever they think of."""

    holds = Bundle("holds")

    @initialize(
        seed=st.sampled_from([1, 2, 2**63 - 1]), traders=st.booleans(), end=st.sampled_from(["lapse", "stay", "commit"])
    )
    def open(self, seed: int, traders: bool, end: str) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.clock = Ticking()
        self.seed, self.traders = seed, traders
        self.world = opened(Path(self.folder.name), self.clock, seed=seed, traders=traders)
        self.world.control("config", {"hold_end": end})
        for caller, symbol in ((DESK, "ETHBTC"), (OTHER, "ETHBTC"), (SUB, "LTCBTC")):
            self.attempt("set_margin_account", caller, symbol=symbol, marginBalance="0.5")

    def attempt(self, operation: str, caller: Caller, **arguments: object) -> Any:
        """The answer, or None when refused. Without traders nothing else happens then, and it must leave no trace."""
        self.world.run_due()
        before = None if self.traders else self.seen()
        length = self.world.journal.length
        try:
            return self.world.perform(operation, caller, arguments)
        except Refusal:
            assert self.traders or (self.seen(), self.world.journal.length) == (before, length)
            return None

    def seen(self) -> tuple[object, ...]:
        """Everything that is to be the same after a restart, of sub-accounts too that may not ask themselves."""
        exchange, owners = self.world.exchange, (DESK.account, OTHER.account, SUB.account)
        accounts = [account_record(exchange, each) for owner in owners for each in exchange.margins.accounts(owner)]
        trades = [trade_record(trade) for owner in owners for trade in exchange.orders.dealings(owner).trades]
        orders = [(order_record(order), order.remaining, order.reserved, order.margin) for order in self.active()]
        subs = [(each.id, each.status, each.email) for each in exchange.accounts.every()[0].sub_accounts]
        return picture(self.world), accounts, trades, orders, subs

    def price(self, symbol: str, thousandths: int) -> str:
        ticks = middle(self.world, symbol) * (1_000 + thousandths) // 1_000
        return str(self.world.exchange.pair(symbol).price_text(ticks))

    # Orders ----------------------------------------------------------------------------------------------------------

    @rule(
        caller=callers,
        symbol=symbols,
        side=sides,
        price=away,
        stop=away,
        quantity=quantities,
        kind=st.sampled_from(["limit", "limit", "limit", "market", "stopLimit", "stopMarket"]),
        force=st.sampled_from(["GTC", "GTC", "GTC", "IOC", "FOK", "Day", "GTD"]),
        margin=st.booleans(),
        post_only=st.sampled_from([False, False, False, True]),
        client_id=st.one_of(st.none(), ids),
    )
    def order(self, *, caller: Caller, symbol: str, kind: str, margin: bool, **drawn: Any) -> None:
        wanted = {"symbol": symbol, "type": kind, "side": drawn["side"], "quantity": drawn["quantity"]}
        wanted |= {"timeInForce": drawn["force"], "postOnly": drawn["post_only"], "clientOrderId": drawn["client_id"]}
        wanted |= {"expireTime": self.clock.at_ms + 9_000} if drawn["force"] == "GTD" else {}
        wanted |= {"price": self.price(symbol, drawn["price"])} if kind in ("limit", "stopLimit") else {}
        wanted |= {"stopPrice": self.price(symbol, drawn["stop"])} if kind.startswith("stop") else {}
        made = self.attempt("create_margin_order" if margin else "create_order", caller, **wanted)
        if made is not None:
            traded = sum((Decimal(each["quantity"]) for each in made.get("tradesReport", [])), start=Decimal(0))
            assert traded == Decimal(made["cumQuantity"])

    @rule(
        caller=callers, symbol=symbols, side=sides, aggressive=st.booleans(), quantity=quantities, margin=st.booleans()
    )
    def limit(self, *, caller: Caller, symbol: str, side: str, aggressive: bool, quantity: str, margin: bool) -> None:
        """A plain one, that most likely rests or most likely trades."""
        price = self.price(symbol, 30 if (side == "buy") == aggressive else -30)
        arguments = {"symbol": symbol, "side": side, "quantity": quantity, "price": price}
        self.attempt("create_margin_order" if margin else "create_order", caller, **arguments)

    @rule(which=st.integers(0, 1_000), by=st.one_of(st.none(), callers))
    def cancel(self, which: int, by: Caller | None) -> None:
        for order in self.active()[which % 7 :: 7][:1]:
            operation = "cancel_margin_order" if order.margin else "cancel_order"
            cancelled = self.attempt(operation, by or owner_of(order), clientOrderId=order.client_id)
            assert cancelled is None or cancelled["status"] == "canceled"

    @rule(caller=callers, symbol=st.one_of(st.none(), symbols), margin=st.booleans())
    def cancel_all(self, caller: Caller, symbol: str | None, margin: bool) -> None:
        cancelled = self.attempt("cancel_margin_orders" if margin else "cancel_orders", caller, symbol=symbol)
        assert all(each["status"] == "canceled" for each in cancelled or ())

    @rule(which=st.integers(0, 1_000), new_id=ids, price=away, quantity=quantities)
    def replace(self, which: int, new_id: str, price: int, quantity: str) -> None:
        for order in self.active()[which % 7 :: 7][:1]:
            change = {
                "price": self.price(order.pair.symbol.id, price),
                "quantity": quantity,
                "requestClientId": new_id,
            }
            self.attempt("replace_order", owner_of(order), clientOrderId=order.client_id, **change)

    @rule(symbol=symbols, side=sides, price=away, quantity=st.integers(1, 100_000))
    def offer(self, symbol: str, side: str, price: int, quantity: int) -> None:
        ticks = middle(self.world, symbol) * (1_000 + price) // 1_000
        orders_house.offer(self.world.exchange, symbol, side, ticks, quantity)
        self.world.run_due()

    # Margin ----------------------------------------------------------------------------------------------------------

    @rule(caller=callers, symbol=symbols, balance=st.sampled_from(["0", "0.05", "0.5", "1.25", "4"]))
    def set_margin(self, caller: Caller, symbol: str, balance: str) -> None:
        self.attempt("set_margin_account", caller, symbol=symbol, marginBalance=balance)

    @rule(caller=callers, symbol=symbols, what=st.sampled_from(["close_margin_position", "close_margin_account"]))
    def close(self, caller: Caller, symbol: str, what: str) -> None:
        self.attempt(what, caller, symbol=symbol)

    # Money -----------------------------------------------------------------------------------------------------------

    @rule(
        caller=callers,
        code=codes,
        amount=amounts,
        what=st.sampled_from(["bankToExchange", "exchangeToBank", "USD", "USDT20", DESK.account, OTHER.account, "x"]),
    )
    def move(self, caller: Caller, code: str, amount: str, what: str) -> None:
        """Between one's own wallets, into another network's variant, or to somebody."""
        if what.endswith(("Exchange", "Bank")):
            self.attempt("transfer_funds", caller, currency=code, amount=amount, type=what)
        elif what.startswith("USD"):
            source = "USD" if what == "USDT20" else "USDT20"
            self.attempt("convert_currency", caller, fromCurrency=source, toCurrency=what, amount=amount)
        else:
            self.attempt("transfer_to_user", caller, currency=code, amount=amount, by="email", identifier=what)

    @rule(number=st.sampled_from(SUB_IDS), code=codes, amount=amounts, kind=st.sampled_from(["deposit", "withdraw"]))
    def move_to_sub_account(self, number: int, code: str, amount: str, kind: str) -> None:
        arguments = {"subAccountId": number, "currency": code, "amount": amount, "type": kind}
        self.attempt("transfer_subaccount_funds", DESK, **arguments)

    @rule(number=st.sampled_from(SUB_IDS), really=st.integers(0, 3))
    def freeze(self, number: int, really: int) -> None:
        if not really and self.attempt("freeze_subaccounts", DESK, ids=[number]):
            account = next(each for each in self.world.exchange.accounts.every()[0].sub_accounts if each.id == number)
            assert not [each for each in self.active() if each.account == account.email]
            held = self.world.exchange.ledger.currencies_of(account.email).values()
            assert not any(each.get(Wallet.TRADING) or each.get(Wallet.TRADING_RESERVED) for each in held)

    @rule(numbers=st.lists(st.sampled_from(SUB_IDS), min_size=1, max_size=2))
    def activate(self, numbers: list[int]) -> None:
        self.attempt("activate_subaccounts", DESK, ids=numbers)

    @rule(target=holds, caller=callers, code=codes, amount=amounts, include=st.booleans(), at_once=st.booleans())
    def withdraw(self, *, caller: Caller, code: str, amount: str, include: bool, at_once: bool) -> Any:
        arguments = {"currency": code, "amount": amount, "address": outside(code), "includeFee": include}
        made = self.attempt("create_withdrawal", caller, autoCommit=at_once, **arguments)
        return multiple() if made is None else made["id"]

    @rule(caller=callers, hold=holds, operation=st.sampled_from(["commit_withdrawal", "rollback_withdrawal"]))
    def decide(self, caller: Caller, hold: str, operation: str) -> None:
        answer = self.attempt(operation, caller, id=hold)
        if answer is not None:
            assert answer == self.attempt(operation, caller, id=hold) == {"result": True}

    @rule(code=codes, amount=amounts, account=st.sampled_from([DESK.account, OTHER.account, SUB.account]))
    def deposit(self, code: str, amount: str, account: str) -> None:
        with suppress(Refusal):
            self.world.control("deposit", {"currency": code, "amount": amount, "account": account})

    # Time ------------------------------------------------------------------------------------------------------------

    @rule(ms=st.sampled_from([1, 999, 5_000, 60_000, HOUR_MS, DAY_MS]), journaled=st.booleans())
    def wait(self, ms: int, journaled: bool) -> None:
        if self.traders:
            ms = min(ms, 60_000)  # they trade every second of it
        if journaled:
            self.world.clock.advance(ms)
        else:
            self.clock.at_ms += ms
        self.world.run_due()

    @rule()
    def restart(self) -> None:
        self.world.run_due()
        before = without_marks(self.seen())
        self.world.close()
        self.world = opened(Path(self.folder.name), self.clock, seed=self.seed, traders=self.traders)
        self.world.run_due()
        assert self.world.warnings == []
        assert without_marks(self.seen()) == before

    # What always holds -----------------------------------------------------------------------------------------------

    def active(self) -> list[Any]:
        return list(self.world.exchange.orders.active.values())

    @invariant()
    def the_money_is_whole(self) -> None:
        """The ledger sums to zero, margin wallets hold what the margin accounts have, and nobody owes anything."""
        if not hasattr(self, "world"):
            return
        assert is_sound(self.world)
        ledger = self.world.exchange.ledger
        for account in set(ledger._balances) - {HOUSE}:
            for wallets in ledger.currencies_of(account).values():
                assert all(wallets.get(wallet, 0) >= 0 for wallet in CUSTOMER_WALLETS)

    @invariant()
    def what_is_reserved_is_what_orders_and_holds_need(self) -> None:
        if not hasattr(self, "world"):
            return
        exchange, needed = self.world.exchange, defaultdict[tuple[str, Wallet, str], Decimal](Decimal)
        for order in self.active():
            if not order.margin:
                code = order.pair.quote if order.is_buy else order.pair.base
                needed[order.account, Wallet.TRADING_RESERVED, code] += amount_of(order.reserved)
        for payout in exchange.payouts.values():
            if not payout.ended:
                needed[payout.account, Wallet.BANK_RESERVED, payout.currency] += payout.net + payout.fee
        reserved = {
            (account, wallet, code): wallets[wallet]
            for account in set(exchange.ledger._balances) - {HOUSE}
            for code, wallets in exchange.ledger.currencies_of(account).items()
            for wallet in (Wallet.TRADING_RESERVED, Wallet.BANK_RESERVED)
            if wallets.get(wallet)
        }
        assert reserved == {key: amount for key, amount in needed.items() if amount}

    @invariant()
    def no_book_is_crossed(self) -> None:
        if not hasattr(self, "world"):
            return
        for symbol in SYMBOLS:
            book = self.world.exchange.pair(symbol).book
            bid, ask = book.best("buy"), book.best("sell")
            assert bid is None or ask is None or bid < ask

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.restart()
            self.world.close()
            self.folder.cleanup()


def owner_of(order: Any) -> Caller:
    """Who placed the order."""
    return next(each for each in (DESK, OTHER, SUB) if each.account == order.account)


TestEverything = pytest.mark.timeout(3_600)(Everything.TestCase)
TestEverything.settings = settings(
    max_examples=settings.default.max_examples * 2 // 5, stateful_step_count=50, deadline=None
)
