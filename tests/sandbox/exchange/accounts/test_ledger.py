"""The double-entry ledger: sums of zero, nothing negative, all or nothing, exact to the last digit."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.amounts import NotAnAmount, decimal_of, digits_after_point, rounded_up, text_of
from sandbox.exchange.accounts.ledger import HOUSE, UNIT, CannotPost, Ledger, Line, Wallet, amount_of, moved, units_of

ANNA, BERT = "anna@demo.test", "bert@demo.test"
OUTSIDE = (HOUSE, Wallet.OUTSIDE)


def funded(amount: str = "10") -> Ledger:
    ledger = Ledger()
    ledger.post(0, "opening", "", moved("BTC", Decimal(amount), OUTSIDE, (ANNA, Wallet.BANK)))
    return ledger


def test_a_posting_moves_between_wallets_and_keeps_the_sum_at_zero() -> None:
    ledger = funded()
    ledger.post(1, "hold", "t1", moved("BTC", Decimal("2.5"), (ANNA, Wallet.BANK), (ANNA, Wallet.BANK_RESERVED)))
    assert ledger.balance(ANNA, Wallet.BANK, "BTC") == Decimal("7.5")
    assert ledger.balance(ANNA, Wallet.BANK_RESERVED, "BTC") == Decimal("2.5")
    record = ledger.as_json()
    assert record["balanced"] is True
    assert record["sums"] == {"BTC": "0"}
    assert record["accounts"] == {
        ANNA: {"BTC": {"bank": "7.5", "bankReserved": "2.5"}},
        HOUSE: {"BTC": {"outside": "-10"}},
    }
    assert record["postings"][1] == {  # type: ignore[index]
        "number": 2,
        "at_ms": 1,
        "purpose": "hold",
        "transaction": "t1",
        "lines": [
            {"account": ANNA, "wallet": "bank", "currency": "BTC", "amount": "-2.5"},
            {"account": ANNA, "wallet": "bankReserved", "currency": "BTC", "amount": "2.5"},
        ],
    }


@pytest.mark.parametrize(
    "lines",
    [
        moved("BTC", Decimal("10.000000000000000000000001"), (ANNA, Wallet.BANK), (BERT, Wallet.BANK)),
        moved("ETH", Decimal(1), (ANNA, Wallet.BANK), (BERT, Wallet.BANK)),
        (Line(ANNA, Wallet.BANK, "BTC", Decimal(-1)),),
        (Line(ANNA, Wallet.BANK, "BTC", Decimal(-1)), Line(BERT, Wallet.BANK, "ETH", Decimal(1))),
        (*moved("BTC", Decimal(6), (ANNA, Wallet.BANK), (BERT, Wallet.BANK)),) * 2,
        moved("BTC", Decimal(1), (HOUSE, Wallet.FEES), (BERT, Wallet.BANK)),
    ],
    ids=["one digit too much", "none of it", "one-sided", "two currencies", "twice the same source", "fees overdrawn"],
)
def test_a_posting_that_would_break_the_ledger_is_refused_whole(lines: tuple[Line, ...]) -> None:
    ledger = funded()
    before = ledger.as_json()
    with pytest.raises(CannotPost):
        ledger.post(1, "bad", "", lines)
    assert ledger.as_json() == before


def test_an_amount_finer_than_a_unit_is_refused_and_nothing_posted() -> None:
    ledger = funded()
    before = ledger.as_json()
    with pytest.raises(CannotPost, match="more than 24 digits"):
        ledger.post(1, "dust", "", moved("BTC", Decimal("1E-25"), OUTSIDE, (ANNA, Wallet.BANK)))
    assert ledger.as_json() == before
    assert [units_of(Decimal(text)) for text in ("1", "0.5", "-1E-24")] == [UNIT, UNIT // 2, -1]
    assert amount_of(-3) == Decimal("-3E-24")


def test_the_simulated_traders_may_owe_and_wallets_that_are_empty_are_not_shown() -> None:
    ledger = funded()
    ledger.post(1, "trade", "7", moved("BTC", Decimal(10), (ANNA, Wallet.BANK), (HOUSE, Wallet.TRADERS)))
    ledger.move(2, "trade", "8", ((HOUSE, Wallet.TRADERS, "BTC", -11 * UNIT), (BERT, Wallet.TRADING, "BTC", 11 * UNIT)))
    assert ledger.as_json()["accounts"] == {
        BERT: {"BTC": {"trading": "11"}},
        HOUSE: {"BTC": {"outside": "-10", "simulatedTraders": "-1"}},
    }
    assert (ledger.units(BERT, Wallet.TRADING, "BTC"), ledger.currencies_of(ANNA)) == (11 * UNIT, {})
    assert ledger.as_json()["balanced"] is True


def test_a_shift_between_two_wallets_of_one_customer_is_a_posting_or_nothing() -> None:
    ledger = funded()
    own = {"account": ANNA, "currency": "BTC", "source": Wallet.BANK, "target": Wallet.TRADING}
    ledger.shift(1, "shift", "7", units=4 * UNIT, **own)  # type: ignore[arg-type]
    before = ledger.as_json()
    assert before["accounts"][ANNA] == {"BTC": {"bank": "6", "trading": "4"}}  # type: ignore[index]
    assert before["postings"][1]["lines"][0]["amount"] == "-4"  # type: ignore[index]
    for units in (6 * UNIT + 1, -4 * UNIT - 1):
        with pytest.raises(CannotPost, match="too little"):
            ledger.shift(2, "shift", "8", units=units, **own)  # type: ignore[arg-type]
    assert ledger.as_json() == before


def test_money_may_pass_through_a_wallet_within_one_posting() -> None:
    ledger = funded()
    ledger.post(
        1,
        "through",
        "",
        (
            *moved("BTC", Decimal(3), (BERT, Wallet.BANK), (BERT, Wallet.TRADING)),
            *moved("BTC", Decimal(3), (ANNA, Wallet.BANK), (BERT, Wallet.BANK)),
        ),
    )
    assert ledger.balance(BERT, Wallet.TRADING, "BTC") == 3
    assert ledger.balance(BERT, Wallet.BANK, "BTC") == 0


def test_large_and_small_amounts_add_up_without_rounding() -> None:
    ledger = funded("999999999999999999999999")
    small = Decimal("0.000000000000000000000001")
    ledger.post(1, "dust", "", moved("BTC", small, OUTSIDE, (ANNA, Wallet.BANK)))
    assert text_of(ledger.balance(ANNA, Wallet.BANK, "BTC")) == "999999999999999999999999.000000000000000000000001"
    assert ledger.as_json()["balanced"] is True


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.decimals(0, 10**9, places=12)), max_size=30))
def test_whatever_is_posted_the_sum_is_zero_and_no_customer_below_it(moves: list[tuple[int, int, Decimal]]) -> None:
    places = [OUTSIDE, (ANNA, Wallet.BANK), (ANNA, Wallet.TRADING), (BERT, Wallet.BANK), (HOUSE, Wallet.FEES)]
    ledger = Ledger()
    for source, target, amount in moves:
        before = ledger.as_json()
        try:
            ledger.post(0, "move", "", moved("ETH", amount, places[source], places[target]))
        except CannotPost:
            assert ledger.as_json() == before
    assert ledger.as_json()["balanced"] is True
    assert all(ledger.balance(account, wallet, "ETH") >= 0 for account, wallet in places[1:])


@pytest.mark.parametrize(
    "odd",
    [
        *("", " 1", "1 ", "1e3", "1E-3", "NaN", "Infinity", "-1", "+1", "1,5", "1_000", ".5", "5.", "0x10", "1.2.3"),
        *("\u0661\u0662", "\uff11", "1\u00a0", "9" * 25, "0." + "1" * 25),
        *(True, None, 1.5, [], 10**24, Decimal("NaN"), Decimal("Infinity"), Decimal("1E+30")),
    ],
)
def test_what_is_no_plain_number_is_refused(odd: object) -> None:
    with pytest.raises(NotAnAmount):
        decimal_of(odd)


@pytest.mark.parametrize(("value", "text"), [("0.10", "0.1"), (7, "7"), (Decimal("1E+2"), "100"), ("000.5", "0.5")])
def test_plain_numbers_are_read_exactly(value: object, text: str) -> None:
    assert text_of(decimal_of(value)) == text


def test_digits_are_counted_shown_and_rounded_as_asked() -> None:
    assert [digits_after_point(Decimal(text)) for text in ("1", "1.50", "0.00000001", "100", "0")] == [0, 1, 8, 0, 0]
    assert text_of(Decimal("1.5"), 8) == "1.50000000"
    assert text_of(Decimal("0.1234567891"), 8) == "0.1234567891"
    assert text_of(Decimal("-0.00")) == "0"
    assert rounded_up(Decimal("0.000500001"), 8) == Decimal("0.00050001")
