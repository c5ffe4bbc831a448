"""The contract of conversions, gifts to other users and the trading account, written from the documents alone.

Literal addresses and members, as in `test_contract_account`, and `--target URL` asks another server: it needs a dollar
of USDT20 on the bank account and another on the trading account. What would give money away is not asked there.
"""

from decimal import Decimal

import pytest

from tests.sandbox.exchange.accounts.test_contract_account import DECIMAL, Target, error, good, is_transaction, target

__all__ = ["target"]  # the fixture


def on_the_bank_account(target: Target, code: str) -> Decimal:
    rows = good(target.ask("GET", "/api/2/account/balance"))
    return next(Decimal(row["available"]) for row in rows if row["currency"] == code)


def test_a_currency_changes_its_network_and_comes_back(target: Target) -> None:
    path = "/api/2/account/crypto/transfer-convert"
    before = {code: on_the_bank_account(target, code) for code in ("USDT20", "USD")}
    made = good(target.ask("POST", path, fromCurrency="USDT20", toCurrency="usd", amount="1"))
    assert set(made) == {"result"}
    assert made["result"]
    for each in made["result"]:
        assert isinstance(each, str)
        record = good(target.ask("GET", f"/api/2/account/transactions/{each}"))
        assert is_transaction(record)
        assert record["status"] == "success"
    assert on_the_bank_account(target, "USDT20") == before["USDT20"] - 1
    gained = on_the_bank_account(target, "USD") - before["USD"]
    assert gained > 0
    good(target.ask("POST", path, fromCurrency="USD", toCurrency="USDT20", amount=format(gained, "f")))
    assert on_the_bank_account(target, "USD") == before["USD"]


@pytest.mark.parametrize(
    ("form", "code"),
    [
        ({}, 10001),
        ({"fromCurrency": "USDT20", "toCurrency": "USD"}, 10001),
        ({"fromCurrency": "USDT20", "toCurrency": "USD", "amount": "one"}, 10001),
        ({"fromCurrency": "USDT20", "toCurrency": "USD", "amount": "-1"}, 10001),
        ({"fromCurrency": "NOSUCH", "toCurrency": "USD", "amount": "1"}, 2002),
        ({"fromCurrency": "USDT20", "toCurrency": "NOSUCH", "amount": "1"}, 2002),
        ({"fromCurrency": "USDT20", "toCurrency": "USD", "amount": "999999999999"}, 20001),
    ],
)
def test_what_is_no_conversion_is_refused(target: Target, form: dict[str, str], code: int) -> None:
    before = on_the_bank_account(target, "USDT20")
    assert error(target.ask("POST", "/api/2/account/crypto/transfer-convert", **form)) == (400, code)
    assert on_the_bank_account(target, "USDT20") == before
    assert error(target.ask("POST", "/api/2/account/crypto/transfer-convert", anonymous=True, **form)) == (401, 1001)


@pytest.mark.parametrize(("by", "identifier"), [("email", "other@demo.test"), ("username", "other")])
def test_money_is_given_to_another_user(
    target: Target, request: pytest.FixtureRequest, by: str, identifier: str
) -> None:
    if request.config.getoption("--target", default=None):
        pytest.skip("it would give money away")
    before = on_the_bank_account(target, "USD")
    form = {"currency": "USD", "amount": "1.5", "by": by, "identifier": identifier}
    made = good(target.ask("POST", "/api/2/account/transfer/internal", **form))
    assert set(made) == {"result"}
    record = good(target.ask("GET", f"/api/2/account/transactions/{made['result']}"))
    assert is_transaction(record)
    assert (record["type"], record["status"], Decimal(record["amount"])) == ("withdraw", "success", Decimal("1.5"))
    assert on_the_bank_account(target, "USD") == before - Decimal("1.5")


@pytest.mark.parametrize(
    ("odd", "code"),
    [
        ({"currency": "NOSUCH"}, 2002),
        ({"currency": ""}, 10001),
        ({"amount": "0"}, 10001),
        ({"amount": "NaN"}, 10001),
        ({"by": "phone"}, 10001),
        ({"by": ""}, 10001),
        ({"identifier": ""}, 10001),
        ({"identifier": "nobody-has-this-name"}, 10001),
    ],
)
def test_what_is_no_gift_is_refused(target: Target, odd: dict[str, str], code: int) -> None:
    before = on_the_bank_account(target, "USD")
    form = {"currency": "USD", "amount": "1", "by": "username", "identifier": "nobody-has-this-name"} | odd
    assert error(target.ask("POST", "/api/2/account/transfer/internal", **form)) == (400, code)
    assert on_the_bank_account(target, "USD") == before
    assert error(target.ask("POST", "/api/2/account/transfer/internal", anonymous=True, **form)) == (401, 1001)


def test_the_trading_account_lists_every_currency(target: Target) -> None:
    rows = good(target.ask("GET", "/api/2/trading/balance"))
    for row in rows:
        assert set(row) == {"currency", "available", "reserved"}
        assert DECIMAL.fullmatch(row["available"])
        assert DECIMAL.fullmatch(row["reserved"])
    every = {each["id"] for each in good(target.ask("GET", "/api/2/public/currency", anonymous=True))}
    assert {row["currency"] for row in rows} == every
    assert error(target.ask("GET", "/api/2/trading/balance", anonymous=True)) == (401, 1001)


def test_a_transfer_shows_in_both_balances_at_once(target: Target) -> None:
    def trading() -> Decimal:
        rows = good(target.ask("GET", "/api/2/trading/balance"))
        return next(Decimal(row["available"]) for row in rows if row["currency"] == "USDT20")

    bank, held = on_the_bank_account(target, "USDT20"), trading()
    good(target.ask("POST", "/api/2/account/transfer", currency="USDT20", amount="1", type="bankToExchange"))
    assert (on_the_bank_account(target, "USDT20"), trading()) == (bank - 1, held + 1)
    good(target.ask("POST", "/api/2/account/transfer", currency="USDT20", amount="1", type="exchangeToBank"))
    assert (on_the_bank_account(target, "USDT20"), trading()) == (bank, held)


def test_the_rates_of_all_symbols_are_those_of_each(target: Target) -> None:
    every = good(target.ask("GET", "/api/2/trading/fee/all"))
    one = good(target.ask("GET", "/api/2/trading/fee/ETHBTC"))
    assert one in [{name: each[name] for name in one} for each in every]
    for each in every:
        assert DECIMAL.fullmatch(each["takeLiquidityRate"])
        assert DECIMAL.fullmatch(each["provideLiquidityRate"])
    assert error(target.ask("GET", "/api/2/trading/fee/NOSUCH")) == (400, 2001)
    assert error(target.ask("GET", "/api/2/trading/fee/all", anonymous=True)) == (401, 1001)
