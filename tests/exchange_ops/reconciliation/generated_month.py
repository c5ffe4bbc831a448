"""An exchange with a generated month: movements of every kind, told late, twice, wrongly and out of order.

It answers as the client of the desk does. Its balances are counted beside its ledger, in whole units of 1e-24, so that
neither is derived from the other.
"""

import heapq
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import msgspec

from exchange_ops.client import PAGE, Aside, Listing
from exchange_ops.wire import records
from exchange_ops.wire.records import AccountTrade, Transaction
from wire.errors import CallFailed, Refused

FIRST, AFTER = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)
# Digits after the point. Of the two with 18 so much is held that a sum has more digits than Python's usual 28.
PLACES = {"BTC": 8, "ETH": 18, "USD": 2, "SHIB": 18, "XRP": 6}
LATER = {"BCH": 8}  # held by nobody before the month
PAIRS = (("BTC", "USD"), ("ETH", "BTC"))
WHOLE = 10**24
LISTED_WITHIN_S = 540  # the desk waits ten minutes for what is listed late


def exact(units: int) -> Decimal:
    """The amount of so many units of 1e-24."""
    return Decimal(units).scaleb(-24)


@dataclass(slots=True)
class State:
    """What the exchange reports: the newest version of each transaction, and the balances in units of 1e-24."""

    newest: dict[str, Transaction] = field(default_factory=dict)
    order: list[tuple[int, str]] = field(default_factory=list)
    bank: dict[str, int] = field(default_factory=dict)
    reserved: dict[str, int] = field(default_factory=dict)
    trading: dict[str, int] = field(default_factory=dict)

    def copy(self) -> "State":
        """The same, to be changed apart."""
        return State(*(getattr(self, each.name).copy() for each in fields(self)))


@dataclass(slots=True)
class Faults:
    """What goes wrong with the answers from now on."""

    break_after: int | None = None  # pages
    unreadable: set[str] = field(default_factory=set)


def unreadable(record: Transaction) -> Aside:
    """The record as one of which nothing can be told, or of which only the amount can't be read."""
    if record.index % 2:
        return Aside("null", "it is no object")
    return Aside(f'{{"id": "{record.id}", "index": {record.index}}}', "it has no amount", record.id, record.index)


class Exchange:
    """The month and its answers; `live` lets time pass up to a moment."""

    def __init__(self, *, seed: int, movements: int) -> None:
        self.random, self.now, self.faults, self.state = Random(seed), FIRST, Faults(), State()
        self.trades: list[AccountTrade] = []
        self.messages: list[tuple[datetime, int, Transaction]] = []  # by the stream, when it gets there
        self.is_streaming = False
        self.versions = 0
        self._hidden: dict[int, datetime] = {}
        self._due: list[tuple[datetime, int, Callable[[], None]]] = []
        self._number = 0
        for number, code in enumerate(PLACES):
            held = 10**17 if PLACES[code] == 18 else 10**6
            self.state.bank[code] = held * WHOLE + 7 * number * self.unit(code)
            self.state.trading[code] = held * WHOLE // 100
            self._deposit(code)
        self.trading_at_first = dict(self.state.trading)
        self.moments = self._moments(movements)

    def unit(self, code: str) -> int:
        """The smallest unit of the currency."""
        return 10 ** (24 - {**PLACES, **LATER}[code])

    @property
    def codes(self) -> list[str]:
        """Every currency that has moved or is held."""
        return sorted(self.state.bank)

    # Life ------------------------------------------------------------------------------------------------------------

    def _moments(self, movements: int) -> list[datetime]:
        """Half of them at any time, half soon after another; and around each midnight."""
        length = (AFTER - FIRST).total_seconds()
        first = [self.random.random() * length for _ in range(movements // 2)]
        after = [min(at + self.random.random() * 90, length - 0.002) for at in first]
        midnights = [FIRST + timedelta(days=day) for day in range(1, 31)]
        around = [at + timedelta(milliseconds=ms) for at in midnights for ms in (-1, 0)]
        moments = [FIRST + timedelta(milliseconds=int(at * 1000)) for at in (*first, *after)]
        return sorted([*moments, *around])[-movements:]

    def move(self, at: datetime) -> None:
        """Let time pass to this moment, and then something move."""
        self.pass_time(max(at, self.now))
        kinds: dict[Callable[[], None], int] = {
            self._deposit: 30,
            self._payout: 24,
            self._between_wallets: 14,
            self._convert: 6,
            self._with_subaccount: 4,
            self._trade: 22,
        }
        self.random.choices(list(kinds), list(kinds.values()))[0]()

    def pass_time(self, at: datetime) -> None:
        """Let what is under way go on up to this moment."""
        while self._due and self._due[0][0] <= at:
            self.now, _, step = heapq.heappop(self._due)
            step()
        self.now = at

    def end(self) -> None:
        """Let everything that is under way end, and much later a last payin come, behind which all is old."""
        while self._due:
            self.pass_time(self._due[0][0])
        self.is_streaming, self.now = False, max(self.now, AFTER) + timedelta(minutes=20)
        self._new("USD", self.unit("USD"), type="payin")
        self._add("USD", self.unit("USD"))
        self.now += timedelta(minutes=10)

    def _later(self, step: Callable[[], None], *, most_s: int = 3_000) -> None:
        self._number += 1
        heapq.heappush(self._due, (self.now + timedelta(seconds=self.random.randint(1, most_s)), self._number, step))

    def _some(self, code: str, of: int) -> int:
        """An amount in units that is small beside `of`."""
        most = max(of // self.unit(code) // 10_000, 2)
        return self.random.randint(1, most) * self.unit(code)

    def _code(self) -> str:
        late = LATER if self.now > FIRST + timedelta(days=10) else {}
        return self.random.choice([*PLACES, *late])

    def _put(self, record: Transaction) -> Transaction:
        """List this version, late perhaps, and tell it by the stream while that is up."""
        self.versions += 1
        record = msgspec.structs.replace(record, index=self.versions, updated_at=self.now)
        self.state.newest[record.id] = record
        self.state.order.append((record.index, record.id))
        if self.random.random() < 0.05:
            self._hidden[record.index] = self.now + timedelta(seconds=self.random.randint(1, LISTED_WITHIN_S))
        if self.is_streaming:
            self._tell(record)
        return record

    def _tell(self, record: Transaction) -> None:
        fate = self.random.random()
        if fate < 0.1:
            return  # lost
        wrong = msgspec.structs.replace(record, amount=record.amount * 2) if fate < 0.13 else record
        partial = msgspec.structs.replace(wrong, hash=None, fee=None) if fate > 0.9 else wrong
        for _ in range(2 if 0.2 < fate < 0.3 else 1):
            late = timedelta(seconds=self.random.randint(0, 300))
            self.messages.append((self.now + late, len(self.messages), partial))

    def _new(self, code: str, units: int, **members: Any) -> Transaction:
        self._number += 1
        number = f"{self._number:06}"
        members = {"status": "success", "index": 0, "created_at": self.now, "updated_at": self.now, **members}
        return self._put(Transaction(id=f"t-{number}", currency=code, amount=exact(units), **members))

    def _next(self, exchange_id: str, **members: Any) -> None:
        self._put(msgspec.structs.replace(self.state.newest[exchange_id], **members))

    def _deposit(self, code: str = "") -> None:
        code = code or self._code()
        units = self._some(code, max(self.state.bank.get(code, 0), WHOLE))
        if self.random.random() < 0.4:
            self._new(code, units, type="payin", hash="aa")
            self._add(code, units)
            return
        waiting = self._new(code, units, type="payin", status="pending", confirmations=0, hash="ab")

        def arrive() -> None:
            if self.random.random() < 0.05:
                self._next(waiting.id, status="failed")
                return
            self._next(waiting.id, status="success", confirmations=6)
            self._add(code, units)

        self._later(arrive)

    def _add(self, code: str, units: int) -> None:
        self.state.bank[code] = self.state.bank.get(code, 0) + units

    def _payout(self) -> None:
        """A hold that is committed and paid, fails or is rolled back; its fee is beside the amount or from within."""
        code = self._code()
        if self.state.bank.get(code, 0) < WHOLE // 10:
            self._deposit(code)
            return
        fee = self.random.choice([0, 1, 12_345]) * self.unit(code)
        units = self._some(code, self.state.bank[code]) + fee
        amount = units - fee if self.random.random() < 0.3 and units > fee else units
        taken = amount + fee
        members = {"type": "payout", "fee": exact(fee), "address": f"to-{self.random.randint(1, 50)}"}
        hold = self._new(code, amount, status="created", public_comment=f"c{self._number}", **members)
        self._add(code, -taken)
        self.state.reserved[code] = self.state.reserved.get(code, 0) + taken

        def end(status: str, back: int) -> Callable[[], None]:
            def step() -> None:
                self._next(hold.id, status=status, **({"hash": "cd"} if status == "success" else {}))
                self.state.reserved[code] -= taken
                self._add(code, back)

            return step

        def commit() -> None:
            self._next(hold.id, status="pending")
            self._later(end("failed", taken) if self.random.random() < 0.1 else end("success", 0))

        self._later(end("failed", taken) if self.random.random() < 0.15 else commit, most_s=900)

    def _between_wallets(self) -> None:
        code = self.random.choice(list(PLACES))
        if self.random.random() < 0.5:
            units = self._some(code, self.state.bank[code])
            self._new(code, units, type="bankToExchange")
        else:
            units = -self._some(code, self.state.trading[code])
            self._new(code, -units, type="exchangeToBank")
        self._add(code, -units)
        self.state.trading[code] += units

    def _convert(self) -> None:
        sold, bought = self.random.sample(list(PLACES), 2)
        out, into = self._some(sold, self.state.bank[sold]), self._some(bought, self.state.bank[bought])
        self._new(sold, out, type="withdraw", sub_type="swap")
        self._new(bought, into, type="deposit", sub_type="swap")
        self._add(sold, -out)
        self._add(bought, into)

    def _with_subaccount(self) -> None:
        code = self.random.choice(list(PLACES))
        units = self._some(code, self.state.bank[code])
        is_out = self.random.random() < 0.5
        self._new(code, units, type="withdraw" if is_out else "deposit")
        self._add(code, -units if is_out else units)

    def _trade(self) -> None:
        base, quote = self.random.choice(PAIRS)
        price = self.random.randint(1, 10**6)  # in 1e-6 of the quote currency
        # A multiple of 1e-15, so that the product with the price and the fee are whole units.
        quantity = (self._some(base, min(self.state.trading[base], self.state.trading[quote])) // 10**9 + 1) * 10**9
        notional = quantity * price // 10**6
        fee = notional // 1000 * self.random.choice([-1, 1, 2])
        sign = self.random.choice([1, -1])
        self._number += 1
        self.trades.append(
            AccountTrade(
                id=self._number,
                order_id=self._number // 3,
                client_order_id="",
                symbol=base + quote,
                side="buy" if sign == 1 else "sell",
                quantity=exact(quantity),
                price=Decimal(price).scaleb(-6),
                fee=exact(fee),
                timestamp=self.now,
            )
        )
        self.state.trading[base] += sign * quantity
        self.state.trading[quote] -= sign * notional + fee

    # Answers ---------------------------------------------------------------------------------------------------------

    def transactions_after(self, *, index: int, limit: int = PAGE) -> Iterator[Listing[Transaction]]:
        """Pages of what is listed now; the walk breaks where `faults` say so."""
        pages = 0
        while True:
            page, asides = [], []
            for at, exchange_id in self.state.order[bisect_right(self.state.order, (index, "~")) :]:
                record = self.state.newest.get(exchange_id)
                if record is None or record.index != at or self._hidden.get(at, FIRST) > self.now:
                    continue
                if exchange_id in self.faults.unreadable:
                    asides.append(unreadable(record))
                else:
                    page.append(record)
                index = at
                if len(page) + len(asides) == limit:
                    break
            if pages == self.faults.break_after:
                raise CallFailed("The connection broke.")
            pages += 1
            yield Listing(tuple(page), tuple(asides))
            if len(page) + len(asides) < limit:
                return

    def get_transaction(self, *, exchange_id: str) -> Transaction:
        """The newest version of one transaction."""
        if exchange_id not in self.state.newest:
            raise Refused(20004, "Transaction not found")
        return self.state.newest[exchange_id]

    def get_balances(self) -> Listing[records.Balance]:
        """The bank wallet: only what is not zero."""
        reserved = self.state.reserved
        return self._balances(self.state.bank, reserved)

    def get_trading_balances(self) -> Listing[records.Balance]:
        """The trading wallet."""
        return self._balances(self.state.trading, {})

    def _balances(self, wallet: dict[str, int], reserved: dict[str, int]) -> Listing[records.Balance]:
        rows = [records.Balance(code, exact(wallet[code]), exact(reserved.get(code, 0))) for code in wallet]
        return Listing(tuple(row for row in rows if row.available or row.reserved))

    def close(self) -> None:
        """Nothing is open."""

    # Differences -----------------------------------------------------------------------------------------------------

    @contextmanager
    def apart(self) -> Iterator[State]:
        """The state, to be changed for a while."""
        before, self.state = self.state, self.state.copy()
        try:
            yield self.state
        finally:
            self.state = before

    def newest_of(self, code: str) -> Transaction:
        """A payin of the currency that arrived, late in the month."""
        dated = (each for each in reversed(self.state.newest.values()) if each.created_at < AFTER)
        payins = (each for each in dated if each.type == "payin")
        return next(each for each in payins if (each.currency, each.status) == (code, "success"))
