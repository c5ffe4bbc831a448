"""The figures of a statement: closing is opening and movements to the last digit, and nothing is invented."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import count, pairwise

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from desk import clock
from exchange_ops.ledger import directions, sync
from exchange_ops.ledger.models import Balance, LedgerAside, LedgerEntry
from exchange_ops.margin.models import MarginAccount
from exchange_ops.market.models import Candle
from exchange_ops.orders.models import AccountTrade
from exchange_ops.portfolio import effects
from exchange_ops.shared import facts, heartbeats
from exchange_ops.shared.models import Account
from exchange_ops.shared.periods import DAY, Period, month_of
from exchange_ops.statements import bank, proofs, statement, support, trading
from exchange_ops.statements.lines import TRADES
from exchange_ops.withdrawals.evidence import reconciliation
from tests.exchange_ops import rows
from tests.exchange_ops.ledger.test_sync import transaction
from tests.exchange_ops.statements.conftest import DAY as NOON
from tests.exchange_ops.statements.conftest import entry_of

pytestmark = pytest.mark.django_db
MARCH = month_of(date(2026, 3, 1))
FIRST = date(2026, 3, 1)
TYPES = ("payin", "payout", "deposit", "withdraw", "bankToExchange", "exchangeToBank")
AMOUNTS = st.decimals(min_value=0, max_value=10**9, places=18, allow_nan=False)
MOMENTS = st.integers(0, 31 * 86_400 - 1).map(lambda s: datetime(2026, 3, 1, tzinfo=UTC) + timedelta(seconds=s))
ENTRIES = st.tuples(MOMENTS, st.sampled_from(TYPES), st.sampled_from(["BCH", "USD"]), AMOUNTS, AMOUNTS)
FILLS = st.tuples(MOMENTS, st.sampled_from(["buy", "sell"]), AMOUNTS, AMOUNTS, AMOUNTS)
CUTS = st.sets(st.integers(1, 30), max_size=4).map(sorted)
NUMBERS = count(1)


def partition(cuts):
    """The days of March, cut before these."""
    starts = [FIRST + timedelta(days=cut) for cut in (0, *cuts, 31)]
    return [Period(first, after - DAY) for first, after in pairwise(starts)]


def store(entries, fills):
    """A new account with these, and so much of everything that no balance is below zero."""
    account = Account.objects.create(name=f"Generated {next(NUMBERS)}", quote_currency="USD")
    enough = {"BCH": "1" + "0" * 30, "USD": "1" + "0" * 30}
    facts.note(account=account, name=reconciliation.OPENING, value=enough, now=clock.now())
    common = {"account": account, "status": "success", "first_seen_at": NOON, "seen_at": NOON, "created_at": NOON}
    LedgerEntry.objects.bulk_create(
        LedgerEntry(
            exchange_id=f"e{n}", index=n, updated_at=at, type=kind, currency=code, amount=amount, fee=fee, **common
        )
        for n, (at, kind, code, amount, fee) in enumerate(entries, 1)
    )
    AccountTrade.objects.bulk_create(
        AccountTrade(
            account=account,
            exchange_id=n,
            exchange_order_id=1,
            symbol="BCHUSD",
            side=side,
            quantity=quantity,
            price=price,
            fee=fee,
            timestamp=at,
            read_at=at,
        )
        for n, (at, side, quantity, price, fee) in enumerate(fills, 1)
    )
    for code in ("BCH", "USD"):
        Balance.objects.create(
            account=account,
            currency=code,
            wallet="trading",
            available=Decimal(10) ** 30,
            reserved=0,
            read_at=clock.now(),
        )
    heartbeats.succeeded(heartbeats.orders_of(account), account=account, now=clock.now())
    return account


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(entries=st.lists(ENTRIES, min_size=1, max_size=8), fills=st.lists(FILLS, max_size=4), cuts=CUTS)
def test_periods_chain_and_add_up_to_the_last_digit_however_they_are_cut(db, entries, fills, cuts):
    rows.price()
    account = store(entries, fills)
    basis = support.Support("", 0, None, datetime(2026, 1, 1, tzinfo=UTC), clock.now())
    by_period = [
        {(line.wallet, line.currency): line for room in (bank, trading) for line in room.lines(account, each, basis)}
        for each in partition(cuts)
    ]
    for before, after in pairwise(by_period):
        for place, line in before.items():
            assert line.closing == after[place].opening is not None
    for lines in by_period:
        for line in lines.values():
            assert line.closing == line.opening + line.moved
    last = by_period[-1]
    signs = {"payin": 1, "deposit": 1, "payout": -1, "withdraw": -1, "bankToExchange": -1, "exchangeToBank": 1}
    for code in ("BCH", "USD"):
        moved = sum(signs[kind] * amount for _, kind, of, amount, _ in entries if of == code)
        fees = sum(fee for _, kind, of, _, fee in entries if of == code and kind in {"payout", "withdraw"})
        assert last["bank", code].closing == Decimal(10) ** 30 + moved - fees


def line_of(account, auditor, code="BCH", wallet="bank", period=MARCH):
    found = statement.of(account, period, person=auditor, now=clock.now())
    return next((each for each in found.lines if (each.wallet, each.currency) == (wallet, code)), None)


def test_movements_are_by_kind_and_only_what_succeeded_counts(ledger, auditor):
    line = line_of(ledger, auditor)
    figures = {kind: (movement.amount, movement.count) for kind, movement in line.movements.items() if movement.count}
    assert figures == {
        "deposits": (Decimal("1.5"), 1),
        "payouts": (Decimal("-0.7"), 1),
        "transfers": (Decimal("-0.3"), 1),
        "fees": (Decimal("-0.001"), 1),
    }
    assert (line.opening, line.closing) == (Decimal("2.000000000000000001"), Decimal("2.499000000000000001"))


def test_conversions_and_sub_accounts_are_neither_deposits_nor_payouts(ledger, auditor, make_person):
    entry_of(ledger, 6, type="withdraw", sub_type="swap", amount=Decimal("0.2"))
    rows.currency()
    rows.subaccount()
    moved = rows.transfer(make_person("operator"), account=ledger, kind="to_subaccount")
    entry_of(ledger, 7, type="withdraw", transfer=moved, amount=Decimal("0.1"))
    line = line_of(ledger, auditor)
    assert line.movements[TRADES].amount == Decimal("-0.2")
    assert line.movements["transfers"].amount == Decimal("-0.4")
    assert line.movements["payouts"].count == 1
    assert directions.OF_SUBACCOUNTS == effects.TO_SUBACCOUNTS  # written out in the lower room


def test_without_an_opening_figure_there_is_no_balance(ledger, auditor):
    entry_of(ledger, 6, currency="LTC")
    line = line_of(ledger, auditor, "LTC")
    assert (line.opening, line.closing, line.moved, line.reason) == (None, None, Decimal("0.5"), bank.NO_OPENING)


def test_a_ledger_that_was_never_read_to_its_end_supports_nothing(account, auditor):
    entry_of(account, 1)
    line = line_of(account, auditor)
    assert (line.opening, line.closing) == (None, None)
    assert line.reason == "The ledger has not been fully synced yet."


def test_before_the_first_entry_there_is_nothing_to_state(ledger, auditor):
    assert line_of(ledger, auditor, period=month_of(date(2026, 1, 1))) is None
    february = line_of(ledger, auditor, period=month_of(date(2026, 2, 1)))
    assert (february.opening, february.closing) == (Decimal(2), line_of(ledger, auditor).opening)


def test_a_record_that_could_not_be_read_leaves_earlier_balances_and_no_later_one(ledger, auditor):
    columns = {"fingerprint": "f", "reason": "Unreadable.", "source": "rest", "first_seen_at": NOON, "seen_at": NOON}
    LedgerAside.objects.create(account=ledger, index=4, **columns)
    line = line_of(ledger, auditor)
    assert line.closing is None
    assert "records that could not be read: 1" in line.reason
    assert (line.opening, line.currency) == (Decimal("2.000000000000000001"), "BCH")
    assert line_of(ledger, auditor, period=month_of(date(2026, 2, 1))).closing == line.opening


def test_a_type_without_a_known_sign_is_counted_and_ends_what_is_known(ledger, auditor):
    entry_of(ledger, 6, type="teleport")
    line = line_of(ledger, auditor)
    assert (line.movements["other"].count, line.opening, line.closing) == (1, Decimal("2.000000000000000001"), None)
    assert "unknown type" in line.reason


def test_the_trading_wallet_is_derived_from_its_balance(ledger, auditor):
    rows.price()
    rows.balance(trading="10", now=clock.now())
    rows.balance("USD", trading="1000", now=clock.now())
    rows.trade(1, account=ledger, timestamp=NOON, read_at=NOON)
    rows.trade(2, account=ledger, timestamp=NOON + timedelta(days=40), side="sell", fee=Decimal("-0.1"))
    coin, money = line_of(ledger, auditor, wallet="trading"), line_of(ledger, auditor, "USD", "trading")
    assert (coin.opening, coin.closing) == (Decimal("9.7"), Decimal("10.5"))  # 0.3 came, 0.5 were bought
    assert (coin.movements[TRADES].amount, coin.movements["transfers"].amount) == (Decimal("0.5"), Decimal("0.3"))
    assert (money.movements[TRADES].amount, money.movements["fees"].amount) == (Decimal(-250), Decimal("-0.25"))
    assert money.closing == Decimal("749.9")  # before 250 and a rebate of 0.1 came


def test_collateral_moves_unrecorded_so_earlier_trading_balances_are_not_known(ledger, auditor):
    rows.price()
    rows.balance("USD", trading="1000", now=clock.now())
    rows.trade(1, account=ledger, timestamp=NOON, read_at=NOON)
    MarginAccount.objects.create(
        account=ledger,
        symbol="BCHUSD",
        margin_balance=1,
        updated_at=clock.now(),
        read_at=clock.now(),
        created_at=NOON,
        leverage=1,
        margin_balance_orders=0,
        margin_balance_required=0,
    )
    line = line_of(ledger, auditor, "USD", "trading")
    assert (line.opening, line.closing, line.reason) == (None, None, trading.MARGIN)


def test_values_are_of_the_closing_day_or_there_is_no_price(ledger, auditor):
    rows.price()
    at = datetime(2026, 3, 30, tzinfo=UTC)
    figures = dict.fromkeys(("open", "close", "min", "max", "volume", "volume_quote"), Decimal(400))
    Candle.objects.create(symbol="BCHUSD", period="D1", timestamp=at, read_at=at, **figures)
    line = line_of(ledger, auditor)
    assert (line.price.rate, line.price.day, line.price.via) == (400, at.date(), ("BCHUSD",))
    assert line.value == Decimal("999.60000000")
    assert line_of(ledger, auditor, period=month_of(date(2026, 2, 1))).price is None


def test_an_entry_that_arrives_late_changes_the_statement_and_says_since_when(ledger, auditor):
    before = statement.of(ledger, MARCH, person=auditor, now=clock.now())
    assert before.late.count == 0
    now = clock.now()
    arrived = transaction(index=9, id="late", type="payin", currency="BCH", updated_at=NOON, created_at=NOON)
    sync.apply(account=ledger, transactions=[arrived], source=sync.REST, now=now)
    after = statement.of(ledger, MARCH, person=auditor, now=now)
    assert after.lines[0].closing == before.lines[0].closing + arrived.amount
    assert (after.late.count, after.late.before, after.late.last) == (1, 0, now)
    april = statement.of(ledger, month_of(date(2026, 4, 1)), person=auditor, now=now)
    assert (april.late.count, april.late.before) == (1, 1)
    assert april.lines[0].opening == after.lines[0].closing
    assert (after.proof.entries, after.proof.by_exchange, after.proof.by_stream) == (4, 1, 3)


@pytest.mark.parametrize(("held", "state"), [("2.499000000000000001", proofs.AGREES), ("2.5", proofs.DIFFERS)])
def test_the_first_reconciliation_after_the_closing_says_whether_it_agrees(ledger, auditor, held, state):
    assert statement.of(ledger, MARCH, person=auditor, now=clock.now()).reconciled.state == proofs.NOT_YET
    value = {"through": 5, "held": {"BCH": held, "USD": "100"}}
    facts.note(account=ledger, name=reconciliation.READING, value=value, now=clock.now())
    found = statement.of(ledger, MARCH, person=auditor, now=clock.now()).reconciled
    assert found.state == state
    proof = statement.of(ledger, MARCH, person=auditor, now=clock.now()).proof
    assert (proof.by_exchange, proof.by_stream) == (3, 0)  # the whole listing was read later, and misses none
    assert found.differences == ({} if state == proofs.AGREES else {"BCH": Decimal("0.000999999999999999")})


def test_a_statement_of_many_entries_takes_as_many_queries_as_one_of_few(ledger, auditor):
    def queries():
        with CaptureQueriesContext(connection) as seen:
            statement.of(ledger, MARCH, person=auditor, now=clock.now())
        return len(seen)

    queries()  # what is read once in a process is read now
    few = queries()
    for number in range(10, 40):
        entry_of(ledger, number, amount=Decimal(1))
    assert queries() == few <= 30
