"""Every operation: the bytes that are sent, and what is made of the documented reply. Nothing asks the catalogue."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from exchange_ops.client import ExchangeClient
from exchange_ops.wire.checking import SymbolRules
from exchange_ops.wire.new_orders import NewOrder
from exchange_ops.wire.records import Currency, Symbol
from tests.exchange_ops.wire import golden
from tests.wire.scripted import Connection, ScriptedServer
from wire.errors import BadReply, OutcomeUnknown
from wire.params import BadArgument
from wire.transport import Transport

FILES = golden.files("exchange")
AT = datetime(2020, 11, 2, 10, 0, 1, 500_000, UTC)
AT_TEXT = "2020-11-02T10:00:01.500Z"
ORDER = NewOrder(
    client_order_id="desk-0002", symbol="ETHBTC", side="sell", quantity=Decimal("0.0630"), price=Decimal("0.046016")
)
FORM = "symbol=ETHBTC&side=sell&type=limit&timeInForce=GTC&quantity=0.0630&price=0.046016"
FORM += "&strictValidate=true&postOnly=false"
ETH, ONE = {"symbol": "ETHBTC"}, {"client_order_id": "desk-0002"}
SEVEN = {"currency": "BTC", "amount": Decimal("0.01")}
SUB = {"subaccount_id": 7988920}
SENT: dict[str, tuple[dict[str, Any], str, str]] = {
    "get_currencies": ({"currencies": ["BTC", "ETH"]}, "GET /public/currency?currencies=BTC,ETH", ""),
    "get_currency": ({"currency": "BTC"}, "GET /public/currency/BTC", ""),
    "get_symbols": ({}, "GET /public/symbol", ""),
    "get_symbol": (ETH, "GET /public/symbol/ETHBTC", ""),
    "get_tickers": ({"symbols": ("ETHBTC",)}, "GET /public/ticker?symbols=ETHBTC", ""),
    "get_ticker": (ETH, "GET /public/ticker/ETHBTC", ""),
    "get_trades": (
        {"symbols": ["ETHBTC"], "sort": "DESC", "from": AT, "till": AT, "limit": 100},
        f"GET /public/trades?symbols=ETHBTC&sort=DESC&from={AT_TEXT}&till={AT_TEXT}&limit=100",
        "",
    ),
    "get_symbol_trades": (
        {**ETH, "by": "id", "since": 7, "until": 9, "sort": "ASC", "limit": 1000},
        "GET /public/trades/ETHBTC?sort=ASC&by=id&from=7&till=9&limit=1000",
        "",
    ),
    "get_orderbooks": ({"limit": 0}, "GET /public/orderbook?limit=0", ""),
    "get_orderbook": ({**ETH, "volume": Decimal("0.5")}, "GET /public/orderbook/ETHBTC?volume=0.5", ""),
    "get_candles": (
        {"period": "D7", "sort": "ASC", "limit": 100},
        "GET /public/candles?period=D7&sort=ASC&limit=100",
        "",
    ),
    "get_symbol_candles": (
        {**ETH, "since": AT},
        f"GET /public/candles/ETHBTC?period=M30&sort=ASC&from={AT_TEXT}&limit=100",
        "",
    ),
    "get_orders": (ETH, "GET /order?symbol=ETHBTC", ""),
    "create_order": ({"order": ORDER}, "POST /order", f"clientOrderId=desk-0002&{FORM}"),
    "cancel_orders": ({"symbol": None}, "DELETE /order", ""),
    "get_order": ({**ONE, "wait_ms": 60000}, "GET /order/desk-0002?wait=60000", ""),
    "put_order": ({"order": ORDER}, "PUT /order/desk-0002", FORM),
    "cancel_order": (ONE, "DELETE /order/desk-0002", ""),
    "replace_order": (
        {**ONE, "new_client_order_id": "desk-0003", "quantity": Decimal("0.1"), "price": Decimal("0.05")},
        "PATCH /order/desk-0002",
        "quantity=0.1&price=0.05&requestClientId=desk-0003",
    ),
    "get_margin_orders": ({}, "GET /margin/order", ""),
    "create_margin_order": ({"order": ORDER}, "POST /margin/order", f"clientOrderId=desk-0002&{FORM}"),
    "cancel_margin_orders": (ETH, "DELETE /margin/order", "symbol=ETHBTC"),
    "cancel_margin_order": (ONE, "DELETE /margin/order/desk-0002", ""),
    "get_margin_order": (ONE, "GET /margin/order/desk-0002", ""),
    "put_margin_order": ({"order": ORDER}, "PUT /margin/order/desk-0002", FORM),
    "get_order_history": (
        {**ETH, "since": AT, "until": AT, "limit": 5},
        f"GET /history/order?symbol=ETHBTC&from={AT_TEXT}&till={AT_TEXT}&limit=5",
        "",
    ),
    "get_trade_history": (
        {"since": 3, "sort": "ASC", "margin": "only"},
        "GET /history/trades?sort=ASC&by=id&from=3&limit=100&margin=only",
        "",
    ),
    "get_order_trades": ({"orderId": 340000000002}, "GET /history/order/340000000002/trades", ""),
    "get_balances": ({}, "GET /account/balance", ""),
    "get_deposit_address": ({"currency": "BTC"}, "GET /account/crypto/address/BTC", ""),
    "create_deposit_address": ({"currency": "BTC"}, "POST /account/crypto/address/BTC", ""),
    "get_deposit_addresses": ({"currency": "BTC"}, "GET /account/crypto/addresses/BTC", ""),
    "get_used_addresses": ({"currency": "BTC"}, "GET /account/crypto/used-addresses/BTC", ""),
    "create_withdrawal": (
        {**SEVEN, "address": "a b"},
        "POST /account/crypto/withdraw",
        "currency=BTC&amount=0.01&address=a+b&includeFee=false&autoCommit=false",
    ),
    "commit_withdrawal": ({"exchange_id": "x/1"}, "PUT /account/crypto/withdraw/x%2F1", ""),
    "rollback_withdrawal": ({"exchange_id": "x"}, "DELETE /account/crypto/withdraw/x", ""),
    "convert_currency": (
        {"from_currency": "USDT20", "to_currency": "USD", "amount": Decimal("0.01")},
        "POST /account/crypto/transfer-convert",
        "fromCurrency=USDT20&toCurrency=USD&amount=0.01",
    ),
    "estimate_withdrawal": (SEVEN, "GET /account/crypto/estimate-withdraw?currency=BTC&amount=0.01", ""),
    "is_own_address": ({"address": "a:b"}, "GET /account/crypto/is-mine/a%3Ab", ""),
    "transfer_funds": (
        {**SEVEN, "type": "bankToExchange"},
        "POST /account/transfer",
        "currency=BTC&amount=0.01&type=bankToExchange",
    ),
    "transfer_to_user": (
        {**SEVEN, "by": "email", "identifier": "other@demo.test"},
        "POST /account/transfer/internal",
        "currency=BTC&amount=0.01&by=email&identifier=other%40demo.test",
    ),
    "get_transactions": (
        {"sort": "ASC", "by": "index", "from": 4, "limit": 1000, "currency": "BTC"},
        "GET /account/transactions?currency=BTC&sort=ASC&by=index&from=4&limit=1000",
        "",
    ),
    "get_transaction": ({"exchange_id": "t1"}, "GET /account/transactions/t1", ""),
    "get_subaccounts": ({}, "GET /sub-acc", ""),
    "freeze_subaccounts": ({"ids": [7988920, 7988921]}, "POST /sub-acc/freeze", "ids=7988920%2C7988921"),
    "activate_subaccounts": ({"ids": (7988920,)}, "POST /sub-acc/activate", "ids=7988920"),
    "transfer_subaccount_funds": (
        {**SUB, **SEVEN, "type": "deposit"},
        "POST /sub-acc/transfer",
        "subAccountId=7988920&amount=0.01&currency=BTC&type=deposit",
    ),
    "get_subaccount_settings": ({"ids": [7988920]}, "GET /sub-acc/acl?subAccountIds=7988920", ""),
    "set_subaccount_settings": (
        {**SUB, "is_payout_enabled": False},
        "PUT /sub-acc/acl/7988920",
        "isPayoutEnabled=false",
    ),
    "get_subaccount_balances": (SUB, "GET /sub-acc/balance/7988920", ""),
    "get_subaccount_deposit_address": (
        {**SUB, "currency": "BTC"},
        "GET /sub-acc/deposit-address/7988920/BTC",
        "",
    ),
    "get_trading_balances": ({}, "GET /trading/balance", ""),
    "get_trading_fee": (ETH, "GET /trading/fee/ETHBTC", ""),
    "get_trading_fees": ({}, "GET /trading/fee/all", ""),
    "get_margin_accounts": ({}, "GET /margin/account", ""),
    "get_margin_account": (ETH, "GET /margin/account/ETHBTC", ""),
    "set_margin_account": (
        {**ETH, "margin_balance": Decimal("0")},
        "PUT /margin/account/ETHBTC",
        "marginBalance=0&strictValidate=true",
    ),
    "close_margin_accounts": ({}, "DELETE /margin/account", ""),
    "close_margin_account": (ETH, "DELETE /margin/account/ETHBTC", ""),
    "get_margin_positions": ({}, "GET /margin/position", ""),
    "get_margin_position": (ETH, "GET /margin/position/ETHBTC", ""),
    "close_margin_positions": ({}, "DELETE /margin/position", ""),
    "close_margin_position": (
        {**ETH, "price": Decimal("9000.50")},
        "DELETE /margin/position/ETHBTC",
        "price=9000.50&strictValidate=true",
    ),
}
MONEY = sorted(name for name, (_, call, _) in SENT.items() if not call.startswith("GET"))


def test_every_documented_operation_is_here():
    assert set(SENT) == set(FILES)


def answered(name: str, *bodies: bytes, status: str = "200 OK") -> tuple[Any, ScriptedServer]:
    """What the method gives when the bodies are the answers, one for each connection, and the server with the calls."""

    def script(body: bytes) -> Any:
        def answer(connection: Connection) -> None:
            connection.read_request()
            connection.answer(body, status)

        return answer

    arguments = SENT[name][0]
    with ScriptedServer(*map(script, bodies)) as server:
        client = ExchangeClient(Transport(base_url=server.url, deadline_s=5))
        try:
            method = getattr(client, name, None)  # what nobody calls with a rule of its own is asked by its name
            return (method(**arguments) if method else client.call(name, **arguments)), server
        finally:
            client.close()


@pytest.mark.parametrize("name", SENT)
def test_what_is_sent_and_read_is_what_is_documented(name):
    _, call, body = SENT[name]
    result, server = answered(name, json.dumps(FILES[name]["reply"]).encode())
    head, _, sent = server.seen[0].partition(b"\r\n\r\n")
    method, target = call.split(" ")
    assert head.split(b"\r\n")[0].decode() == f"{method} /api/2{target} HTTP/1.1"
    assert sent.decode() == body
    found = golden.facts(unfolded(result), unwrapped(name))
    assert found == unwrapped(name)


def unfolded(result: Any) -> Any:
    return list(result.records) if hasattr(result, "asides") else result


def unwrapped(name: str) -> dict[str, Any]:
    """The facts of the file where the method leaves out the envelope: a lone id, a fee, the members under result."""
    plain = {"create_withdrawal": "id", "transfer_funds": "id", "estimate_withdrawal": "fee"}
    envelope = plain.get(name, "result")
    facts = FILES[name]["facts"]
    return (
        {path.removeprefix(envelope).removeprefix("."): found for path, found in facts.items()}
        if any(path == envelope or path.startswith(f"{envelope}.") for path in facts)
        and not name.startswith(("get_order", "create_order"))
        else facts
    )


@pytest.mark.parametrize("name", MONEY)
@pytest.mark.parametrize("body", [b"", b"<html>", b"null", b'{"result": {}}', b'{"id": 7', b'[{"id": "x"}]'])
def test_an_answer_that_does_not_read_as_documented_is_an_unknown_outcome(name, body):
    with pytest.raises(OutcomeUnknown):
        answered(name, body)


@pytest.mark.parametrize("name", sorted(set(SENT) - set(MONEY)))
def test_a_read_that_does_not_read_as_documented_is_a_bad_reply(name):
    with pytest.raises(BadReply):
        answered(name, b"7")


ETHBTC = Symbol(
    id="ETHBTC",
    base_currency="ETH",
    quote_currency="BTC",
    quantity_increment=Decimal("0.0001"),
    tick_size=Decimal("0.000001"),
    take_liquidity_rate=Decimal("0.0025"),
    provide_liquidity_rate=Decimal("0.001"),
    fee_currency="BTC",
)


def unsent(name: str, arguments: dict[str, Any], rules: SymbolRules | Currency) -> str:
    """The parameter that kept the call from leaving."""
    with ScriptedServer(lambda connection: None) as server:
        client = ExchangeClient(Transport(base_url=server.url, deadline_s=2))
        with pytest.raises(BadArgument) as refused:
            getattr(client, name)(**arguments, rules=rules)
        client.close()
        assert server.connections == 0
    return refused.value.param


@pytest.mark.parametrize("name", ["create_order", "put_order", "create_margin_order", "put_margin_order"])
def test_an_order_that_breaks_the_symbols_rules_is_not_sent(name):
    odd = NewOrder(client_order_id="a", symbol="ETHBTC", side="buy", quantity=Decimal("0.00015"), price=Decimal(1))
    assert unsent(name, {"order": odd}, ETHBTC) == "quantity"


def test_a_replacement_and_a_closing_price_that_break_the_symbols_rules_are_not_sent():
    off = {"price": Decimal("0.0000015")}
    new = {"client_order_id": "old", "new_client_order_id": "new", "quantity": Decimal("0.1"), **off}
    assert unsent("replace_order", new, ETHBTC) == "price"
    assert unsent("close_margin_position", {"symbol": "ETHBTC", **off}, ETHBTC) == "price"


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("transfer_funds", {"currency": "BTC", "type": "exchangeToBank"}),
        ("transfer_to_user", {"currency": "BTC", "by": "username", "identifier": "other"}),
        ("convert_currency", {"from_currency": "USDT20", "to_currency": "USD"}),
        ("transfer_subaccount_funds", {**SUB, "currency": "BTC", "type": "withdraw"}),
    ],
)
def test_an_amount_with_too_many_places_is_not_sent(name, more):
    assert unsent(name, {**more, "amount": Decimal("0.00000000001")}, BTC) == "amount"


BTC = Currency(
    id="BTC",
    full_name="Bitcoin",
    crypto=True,
    payin_enabled=True,
    payin_payment_id=False,
    payin_confirmations=2,
    payout_enabled=True,
    payout_is_payment_id=False,
    transfer_enabled=True,
    delisted=False,
    precision_transfer=10,
)
