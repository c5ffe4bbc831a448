"""A month of every kind of movement, read with every kind of fault, is explained to the last digit, and no difference
of one unit escapes.

MONTH_SEED and MOVEMENTS choose another month; `make thorough` generates a longer one.
"""

import os
from contextlib import contextmanager, suppress
from datetime import timedelta
from itertools import pairwise
from random import Random

import msgspec
import pytest
from django.db import connection, transaction

from desk import clock
from exchange_ops.ledger import refresh, stream, sync
from exchange_ops.ledger.models import LedgerAside, LedgerEntry, LedgerVersion, Watermark
from exchange_ops.ledger.room import GUARDS
from exchange_ops.orders import trades
from exchange_ops.policy import freezes
from exchange_ops.reconciliation import statements
from exchange_ops.shared import heartbeats
from exchange_ops.shared.models import Account
from exchange_ops.shared.periods import DAY, Period, month_of
from exchange_ops.statements import statement
from exchange_ops.wire import session
from exchange_ops.withdrawals.evidence import reconciliation
from tests.exchange_ops import rows
from tests.exchange_ops.reconciliation.generated_month import AFTER, FIRST, PAIRS, WHOLE, Exchange, exact
from wire.errors import CallFailed
from wire.values import grouped_text

SEED = int(os.environ.get("MONTH_SEED", "1"))
MOVEMENTS = int(os.environ.get("MOVEMENTS", "5000"))
READINGS = 150
CORRECTED = "Entries that differed from the exchange's, now corrected"
MARCH = month_of(FIRST.date())

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.thorough("each kind of difference, fault and period has a small test that runs always"),
]


class Desk:
    """The desk that reads the month, and what goes wrong while it does."""

    def __init__(self, account, exchange):
        self.account, self.exchange, self.random = account, exchange, Random(SEED)
        self.trades_read = 0

    def read(self):
        """One reading, with a fault or without one."""
        self._hear()
        faults = (self._whole, self._whole_twice, self._broken, self._in_pieces, self._unreadable, self._again)
        self.random.choices(faults, (60, 6, 10, 10, 10, 4))[0]()
        self._read_trades()

    def _hear(self):
        """What the stream brings by now, in another order than it was told."""
        waiting, now = self.exchange.messages, self.exchange.now
        messages = [each for each in waiting if each[0] <= now]
        self.exchange.messages = [each for each in waiting if each[0] > now]
        self.random.shuffle(messages)
        for place in range(0, len(messages), 5):
            heard = tuple(record for _, _, record in messages[place : place + 5])
            event = session.Transactions(session.Origin.NOTIFICATION, heard)
            stream.store(account=self.account, event=event, now=now)

    def _whole(self):
        assert refresh.sync_ledgers(now=self.exchange.now, client_for=lambda *_: self.exchange) == 1

    def _whole_twice(self):
        self._whole()
        self._whole()

    def _broken(self):
        self.exchange.faults.break_after = self.random.randint(0, 3)
        with suppress(CallFailed):  # or there were fewer pages
            self._walk(page_size=7)
        self.exchange.faults.break_after = None

    def _in_pieces(self):
        self._walk(page_size=self.random.randint(3, 40), keep_running=lambda _: self.random.random() < 0.7)

    def _unreadable(self):
        newest = [exchange_id for _, exchange_id in self.exchange.state.order[-30:]]
        self.exchange.faults.unreadable = set(self.random.sample(newest, min(2, len(newest))))
        self._walk(page_size=50)
        self.exchange.faults.unreadable = set()
        self.exchange.pass_time(self.exchange.now + timedelta(seconds=30))
        self._whole()

    def _again(self):
        """As after a crash: what was read is read once more."""
        for mark in Watermark.objects.filter(account=self.account):
            Watermark.objects.filter(pk=mark.pk).update(index=max(0, mark.index - 200))
        self._whole()

    def _walk(self, **how):
        return sync.sync(account=self.account, client=self.exchange, now=self.exchange.now, **how)

    def _read_trades(self):
        """The trades since the last reading and some before it, the newest first."""
        latest = self.exchange.trades[max(0, self.trades_read - 5) :]
        trades.store(account=self.account, trades=latest[::-1], now=self.exchange.now)
        self.trades_read = len(self.exchange.trades)
        heartbeats.succeeded(heartbeats.orders_of(self.account), account=self.account, now=self.exchange.now)

    def reconcile(self):
        """The findings that do not agree, by what they are about."""
        findings = reconciliation.reconcile(account=self.account, client=self.exchange, now=self.exchange.now)
        return {one.about: one.sentence for one in findings if not one.agrees}


@pytest.fixture
def desk(account, monkeypatch):
    """A desk that has read the whole month."""
    print(f"MONTH_SEED={SEED} MOVEMENTS={MOVEMENTS}")
    exchange = Exchange(seed=SEED, movements=MOVEMENTS)
    monkeypatch.setattr(clock, "now", lambda: exchange.now)
    for base, quote in PAIRS:
        rows.price(base, quote, now=FIRST)
    # Payouts of the last days are those of a desk that keeps the account: none of them was requested here.
    Account.objects.filter(pk=account.pk).update(created_at=AFTER - timedelta(days=1))
    account.refresh_from_db()
    desk = Desk(account, exchange)
    desk._whole()
    assert desk.reconcile() == {}
    every = max(len(exchange.moments) // READINGS, 1)
    for number, at in enumerate(exchange.moments):
        exchange.is_streaming = number % (10 * every) < every
        exchange.move(at)
        if number % every == 0:
            desk.read()
    exchange.end()
    desk._hear()
    desk._whole()
    desk._read_trades()
    return desk


def test_a_month_with_faults_is_explained_and_one_unit_is_not_lost(desk, auditor):
    assert freezes.active(desk.account) is None
    assert desk.reconcile() == {}
    _copy_is_the_ledger(desk)
    _figures_are_the_balances(desk, auditor)
    _periods_chain(desk, auditor)
    for difference in (
        *(_money_that_nothing_explains, _listing_without_a_line, _listing_with_another_amount, _listing_with_a_double),
        *(_copy_with_another_amount, _copy_without_an_entry, _copy_with_a_double),
    ):
        with _undone(desk) as state:
            difference(desk, auditor, state)
    assert desk.reconcile() == {}


class _Undo(Exception):
    pass


@contextmanager
def _undone(desk):
    """The exchange and our rows, to be changed for a while; an hour after the last reconciliation."""
    before = desk.exchange.now
    desk.exchange.now += timedelta(hours=1)
    with suppress(_Undo), desk.exchange.apart() as state, transaction.atomic():
        yield state
        raise _Undo
    desk.exchange.now = before


def _money_that_nothing_explains(desk, auditor, state):
    """One unit more or less, in every second currency and then in the others."""
    for codes in (desk.exchange.codes[::2], desk.exchange.codes[1::2]):
        for sign, code in zip((1, -1, 1), codes, strict=True):
            state.bank[code] += sign * desk.exchange.unit(code)
        findings = desk.reconcile()
        assert findings.keys() == {*codes}
        for sign, code in zip((1, -1, 1), codes, strict=True):
            assert findings[code].startswith(_unexplained(code, sign * desk.exchange.unit(code)))
            assert "Last agreed 2026-04-01" in findings[code]
            state.bank[code] -= sign * desk.exchange.unit(code)


def _listing_without_a_line(desk, auditor, state):
    lines = [desk.exchange.newest_of(code) for code in desk.exchange.codes]
    for line in lines:
        del state.newest[line.id]
    findings = desk.reconcile()
    assert findings.pop("transactions").endswith(f"unknown to the exchange: {_named(lines)}; outdated: 0.")
    findings.pop("unread records", None)  # what only the stream reported also waits for people to choose
    _differ(findings, {line.currency: int(line.amount * WHOLE) for line in lines})


def _listing_with_another_amount(desk, auditor, state):
    lines = [desk.exchange.newest_of(code) for code in desk.exchange.codes]
    for line in lines:
        more = exact(desk.exchange.unit(line.currency))
        state.newest[line.id] = msgspec.structs.replace(line, amount=line.amount + more)
    findings = desk.reconcile()
    assert findings.pop("content of transactions").endswith(f"now corrected: {_named(lines)}.")
    _differ(findings, {code: -desk.exchange.unit(code) for code in desk.exchange.codes})


def _listing_with_a_double(desk, auditor, state):
    lines = [desk.exchange.newest_of(code) for code in desk.exchange.codes]
    for line in lines:
        double = msgspec.structs.replace(line, id=f"{line.id}-2", index=state.order[-1][0] + 1)
        state.newest[double.id] = double
        state.order.append((double.index, double.id))
    findings = desk.reconcile()
    _differ(findings, {line.currency: -int(line.amount * WHOLE) for line in lines})


def _copy_with_another_amount(desk, auditor, state):
    lines = [desk.exchange.newest_of(code) for code in desk.exchange.codes]
    GUARDS.remove(connection)
    for line in lines:
        more = exact(desk.exchange.unit(line.currency))
        LedgerEntry.objects.filter(exchange_id=line.id).update(amount=line.amount + more)
    _page_differs(desk, auditor, {code: -desk.exchange.unit(code) for code in desk.exchange.codes})
    findings = desk.reconcile()
    assert findings == {"content of transactions": f"{CORRECTED}: {_named(lines)}."}
    _figures_are_the_balances(desk, auditor)


def _copy_without_an_entry(desk, auditor, state):
    lines = [desk.exchange.newest_of(code) for code in desk.exchange.codes]
    GUARDS.remove(connection)
    entries = LedgerEntry.objects.filter(exchange_id__in=[line.id for line in lines])
    LedgerVersion.objects.filter(entry__in=entries).delete()
    entries.delete()
    _page_differs(desk, auditor, {line.currency: int(line.amount * WHOLE) for line in lines})
    assert desk.reconcile()["transactions"].endswith(f"now added: {_named(lines)}.")
    _figures_are_the_balances(desk, auditor)


def _copy_with_a_double(desk, auditor, state):
    lines = [desk.exchange.newest_of(code) for code in desk.exchange.codes]
    for line in lines:
        entry = LedgerEntry.objects.get(exchange_id=line.id)
        entry.pk, entry.exchange_id = None, f"{line.id}-2"
        entry.save(force_insert=True)
    _page_differs(desk, auditor, {line.currency: -int(line.amount * WHOLE) for line in lines})
    findings = desk.reconcile()
    assert findings.keys() == {"transactions"}
    assert all(f"{line.id}-2" in findings["transactions"] for line in sorted(lines, key=lambda one: one.id)[:3])


def _named(lines):
    ids = sorted(line.id for line in lines)
    return f"{len(ids)} ({', '.join(ids[:3])}, …)"


def _unexplained(code, units):
    return f"{grouped_text(exact(units))} {code} not explained by any transaction."


def _differ(findings, units):
    assert findings.keys() == units.keys()
    for code, difference in units.items():
        assert findings[code].startswith(_unexplained(code, difference))


def _page_differs(desk, auditor, units):
    page = statements.of(desk.account, person=auditor, first=None, after=None, now=desk.exchange.now)
    assert {line.figures.currency: line.difference for line in page.lines} == {
        code: exact(difference) for code, difference in units.items()
    }
    assert {line.state for line in page.lines} == {statements.DIFFERS}


def _copy_is_the_ledger(desk):
    """Each transaction once, in its newest version, and nothing waits."""
    names = ("exchange_id", "index", "type", "status", "currency", "amount", "fee", "updated_at")
    ours = {row[0]: row for row in LedgerEntry.objects.filter(account=desk.account).values_list(*names)}
    theirs = desk.exchange.state.newest
    assert ours.keys() == theirs.keys()
    for exchange_id, record in theirs.items():
        assert ours[exchange_id] == tuple(getattr(record, "id" if name == "exchange_id" else name) for name in names)
    assert not LedgerAside.objects.filter(account=desk.account, cleared_at=None).exists()
    assert LedgerAside.objects.filter(account=desk.account).exists()
    assert LedgerVersion.objects.filter(account=desk.account).count() <= desk.exchange.versions
    kinds = set(LedgerEntry.objects.values_list("type", "sub_type", "status", "foreign").distinct())
    assert {
        ("payout", "", "success", True),
        ("payout", "", "failed", False),
        ("withdraw", "swap", "success", False),
    } < kinds


def _figures_are_the_balances(desk, auditor):
    page = statements.of(desk.account, person=auditor, first=None, after=None, now=desk.exchange.now)
    state = desk.exchange.state
    held = {code: exact(state.bank[code] + state.reserved.get(code, 0)) for code in desk.exchange.codes}
    assert {line.figures.currency: line.figures.closing for line in page.lines} == held
    assert {line.state for line in page.lines} == {statements.AGREES}


def _periods_chain(desk, auditor):
    days = [Period(MARCH.first + DAY * n, MARCH.first + DAY * n) for n in range(31)]
    each = [_lines(desk, auditor, period) for period in days]
    month = _lines(desk, auditor, MARCH)
    for lines in (*each, month):
        for line in lines.values():
            assert line.closing == line.opening + line.moved, line
    for before, after in pairwise(each):
        begun = {wallet for wallet, _ in before}  # before its first movement nothing of a wallet is stated
        for place in before.keys() | after.keys():
            assert place[0] not in begun or _closing(before, place) == _opening(after, place), place
    for place, line in month.items():
        first = next(lines for lines in each if place[0] in {wallet for wallet, _ in lines})
        assert (_opening(first, place), _closing(each[-1], place)) == (line.opening, line.closing)
    state = desk.exchange.state
    for code, units in desk.exchange.trading_at_first.items():
        assert month["trading", code].opening == exact(units)
        assert month["trading", code].closing == exact(state.trading[code])
    for kind in ("deposits", "payouts", "trades", "transfers", "fees"):
        assert any(line.movements[kind].count for line in month.values()), kind


def _lines(desk, auditor, period):
    figures = statement.of(desk.account, period, person=auditor, now=desk.exchange.now)
    return {(line.wallet, line.currency): line for line in figures.lines}


def _closing(lines, place):
    return lines[place].closing if place in lines else 0


def _opening(lines, place):
    return lines[place].opening if place in lines else 0
