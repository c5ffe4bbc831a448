"""Whatever comes in, in whatever order: the ledger balances, reserves are the open payouts, a replay is the same."""

import tempfile
from collections import defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule

from sandbox.exchange.accounts.ledger import CUSTOMER_WALLETS, Wallet
from sandbox.exchange.accounts.transactions import FIRST_INDEX
from sandbox.world.world import Caller, Refusal, World
from tests.sandbox.worlds import DESK, OTHER, Ticking, opened, outside, picture

callers = st.sampled_from([DESK, OTHER])
codes = st.sampled_from(["BTC", "ETH", "BCH", "XRP", "ONT", "USD", "USDT20", "NXT", "DDF", "none"])
odd_amounts = st.sampled_from(["0", "-1", "NaN", "1e5", "", "9" * 40, "\u0661", "0.0000000000000000000000001", None])
amounts = st.one_of(
    st.decimals(Decimal("0.01"), Decimal(200), places=2).map(str),
    st.decimals(Decimal("0.000000001"), Decimal(2_000_000), places=9),
    st.integers(1, 1_000),
    odd_amounts,
)
texts = st.text(max_size=40)


class Exchange(RuleBasedStateMachine):
    """Random calls of both accounts, control actions, time, and restarts."""

    payout_ids = Bundle("payout_ids")

    @initialize(seed=st.sampled_from([1, 2, 2**63 - 1]), end=st.sampled_from(["lapse", "stay", "commit"]))
    def open(self, seed: int, end: str) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.clock = Ticking()
        self.seed = seed
        self.world = opened(Path(self.folder.name), self.clock, seed=seed)
        self.world.control("config", {"hold_end": end})
        self.indexes: dict[str, int] = {}

    def attempt(self, operation: str, caller: Caller, **arguments: object) -> Any:
        """The answer, or None when refused; a refusal must leave no trace."""
        params = {name.rstrip("_"): value for name, value in arguments.items()}
        self.world.run_due()
        before, length = picture(self.world), self.world.journal.length
        try:
            return self.world.perform(operation, caller, params)
        except Refusal:
            assert picture(self.world) == before
            assert self.world.journal.length == length
            return None

    def control(self, name: str, **arguments: object) -> int:
        """The code of the refusal, 0 when there was none."""
        try:
            self.world.control(name, arguments)
        except Refusal as refusal:
            return refusal.code
        return 0

    @rule(
        target=payout_ids,
        caller=callers,
        code=codes,
        amount=amounts,
        include=st.booleans(),
        at_once=st.booleans(),
        kind=st.sampled_from(["outside", "other", "own", "nonsense"]),
    )
    def withdraw(self, *, caller: Caller, code: str, amount: object, include: bool, at_once: bool, kind: str) -> Any:
        address, payment_id = outside(code), ""
        if kind in {"other", "own"}:
            owner = caller if kind == "own" else OTHER if caller is DESK else DESK
            made = self.world.exchange.addresses.deposit_addresses(owner.account, code)
            if made:
                address, payment_id = made[-1].address, made[-1].payment_id
        made_up = "nonsense" if kind == "nonsense" else address
        answer = self.attempt(
            "create_withdrawal",
            caller,
            currency=code,
            amount=amount,
            address=made_up,
            paymentId=payment_id,
            includeFee=include,
            autoCommit=at_once,
        )
        return answer["id"] if answer else multiple()

    @rule(caller=callers, payout_id=payout_ids)
    def commit(self, caller: Caller, payout_id: str) -> None:
        assert self.attempt("commit_withdrawal", caller, id=payout_id) in (None, {"result": True})

    @rule(caller=callers, payout_id=payout_ids)
    def roll_back(self, caller: Caller, payout_id: str) -> None:
        assert self.attempt("rollback_withdrawal", caller, id=payout_id) in (None, {"result": True})

    @rule(payout_id=payout_ids, status=st.sampled_from(["pending", "success", "failed"]))
    def force(self, payout_id: str, status: str) -> None:
        code = self.control("payouts", id=payout_id, status=status)
        assert code in (0, 10001)  # refused when it has ended, or is pending already

    @rule(caller=callers, code=codes, amount=amounts, kind=st.sampled_from(["bankToExchange", "exchangeToBank", "x"]))
    def transfer(self, caller: Caller, code: str, amount: object, kind: str) -> None:
        self.attempt("transfer_funds", caller, currency=code, amount=amount, type=kind)

    @rule(caller=callers, code=codes, amount=amounts, name=st.one_of(st.sampled_from(["desk", "other"]), texts))
    def give(self, caller: Caller, code: str, amount: object, name: str) -> None:
        self.attempt("transfer_to_user", caller, currency=code, amount=amount, by="username", identifier=name)

    @rule(caller=callers, pair=st.tuples(codes, codes), amount=amounts)
    def convert(self, caller: Caller, pair: tuple[str, str], amount: object) -> None:
        self.attempt("convert_currency", caller, fromCurrency=pair[0], toCurrency=pair[1], amount=amount)

    @rule(caller=callers, code=codes)
    def new_address(self, caller: Caller, code: str) -> None:
        self.attempt("create_deposit_address", caller, currency=code)

    @rule(code=codes, amount=amounts, account=st.sampled_from([DESK.account, OTHER.account, "nobody"]))
    def deposit(self, code: str, amount: object, account: str) -> None:
        assert self.control("deposit", currency=code, amount=amount, account=account) in (0, 2002, 10001)

    @rule(blocks=st.integers(0, 7))
    def mine(self, blocks: int) -> None:
        assert self.control("chain/mine", blocks=blocks) == (0 if blocks else 10001)

    @rule(depth=st.integers(0, 5))
    def reorganise(self, depth: int) -> None:
        assert self.control("chain/reorg", depth=depth) == (0 if depth else 10001)

    @rule(amount=amounts, owner=st.sampled_from([DESK, OTHER, None]))
    def pay_on_the_chain(self, amount: object, owner: Caller | None) -> None:
        address = (
            self.world.exchange.addresses.deposit_addresses(owner.account, "BCH")[-1].address
            if owner
            else outside("BCH")
        )
        assert self.control("chain/pay", address=address, amount=amount) in (0, 10001)

    @rule(ms=st.sampled_from([1, 999, 4_000, 60_000, 1_800_000, 3_600_000]), journaled=st.booleans())
    def wait(self, ms: int, journaled: bool) -> None:
        if journaled:
            self.world.clock.advance(ms)
        else:
            self.clock.at_ms += ms

    @rule(frozen=st.booleans())
    def freeze(self, frozen: bool) -> None:
        self.world.clock.freeze(frozen)

    @rule(
        delay_ms=st.sampled_from([0, 2_000]),
        drift=st.sampled_from(["0", "0.37", "-0.5"]),
        pace=st.sampled_from([0, 4, "0.5"]),
    )
    def configure(self, delay_ms: int, drift: str, pace: object) -> None:
        self.world.control("config", {"list_delay_ms": delay_ms, "fee_drift": drift, "payout_seconds": pace})

    @rule()
    def restart(self) -> None:
        self.world.run_due()
        before = picture(self.world)
        self.world.close()
        self.world = opened(Path(self.folder.name), self.clock, seed=self.seed)
        self.world.run_due()
        assert self.world.warnings == []
        assert picture(self.world) == before

    @invariant()
    def the_ledger_balances_and_nothing_is_negative(self) -> None:
        if not hasattr(self, "world"):
            return
        assert self.world.ledger()["balanced"] is True
        for account in (DESK.account, OTHER.account):
            for wallets in self.world.exchange.ledger.currencies_of(account).values():
                assert all(wallets.get(wallet, 0) >= 0 for wallet in CUSTOMER_WALLETS)

    @invariant()
    def what_is_reserved_is_what_is_under_way(self) -> None:
        if not hasattr(self, "world"):
            return
        exchange = self.world.exchange
        under_way: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
        for payout in exchange.payouts.values():
            assert payout.ended == (exchange.transaction(payout.id).status in {"failed", "success"})
            if not payout.ended:
                under_way[payout.account, payout.currency] += payout.net + payout.fee
        for account in (DESK.account, OTHER.account):
            for code in exchange.currencies:
                reserved = exchange.ledger.balance(account, Wallet.BANK_RESERVED, code)
                assert reserved == under_way[account, code]

    @invariant()
    def indexes_are_unique_and_only_grow(self) -> None:
        if not hasattr(self, "world"):
            return
        now = {each.id: each.index for each in self.world.exchange.transactions.every()}
        assert len(set(now.values())) == len(now)
        assert all(index > FIRST_INDEX for index in now.values())
        assert all(now[known] >= index for known, index in self.indexes.items())
        self.indexes = now

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.restart()
            self.world.close()
            self.folder.cleanup()


TestExchange = Exchange.TestCase
TestExchange.settings = settings(max_examples=25, stateful_step_count=40, deadline=None)


def test_two_worlds_of_one_journal_stay_equal_when_time_passes() -> None:
    """Timers that were set before a restart go off in the same order after it."""
    with tempfile.TemporaryDirectory() as folder:
        clock = Ticking()
        world: World = opened(Path(folder), clock)
        for number in range(20):
            clock.at_ms += 500
            arguments = {"currency": "BTC", "amount": "0.5", "address": outside("BTC"), "autoCommit": number % 2 == 0}
            world.perform("create_withdrawal", DESK, arguments)
        raw = (Path(folder) / "journal.jsonl").read_bytes()
        clock.at_ms += 10_000_000
        world.run_due()
        lived_through = picture(world)
        world.close()
        lines = (Path(folder) / "journal.jsonl").read_bytes().removeprefix(raw).splitlines()
        assert [b'"do":"chain-mark"' in line for line in lines] == [True, True, True]  # of 333 blocks, all from time
        again = opened(Path(folder), clock)
        again.run_due()
        assert picture(again) == lived_through
        again.close()
