"""The catalogue against the specification's own tables, written out here once more, and every row bound and read."""

import json
import re
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exchange_ops.wire import catalogue, records, streams
from exchange_ops.wire.catalogue import Right
from tests.wire.described import arguments_for, received
from wire.operation import BadArgument, Kind, Operation, Place, Problem, bind, read

# Every row of the specification in its order, then supplement 2.7: name, method, path, right, result.
# The rights are "public", "any key", or the first letters of their documented names.
ROWS = """
get_currencies                 GET    /public/currency                           public      list[Currency]
get_currency                   GET    /public/currency/{currency}                public      Currency
get_symbols                    GET    /public/symbol                             public      list[Symbol]
get_symbol                     GET    /public/symbol/{symbol}                    public      Symbol
get_tickers                    GET    /public/ticker                             public      list[Ticker]
get_ticker                     GET    /public/ticker/{symbol}                    public      Ticker
get_trades                     GET    /public/trades                             public      dict[str,list[PublicTrade]]
get_symbol_trades              GET    /public/trades/{symbol}                    public      list[PublicTrade]
get_orderbooks                 GET    /public/orderbook                          public      dict[str,OrderBook]
get_orderbook                  GET    /public/orderbook/{symbol}                 public      OrderBook
get_candles                    GET    /public/candles                            public      dict[str,list[Candle]]
get_symbol_candles             GET    /public/candles/{symbol}                   public      list[Candle]
get_orders                     GET    /order                                     Place       list[Order]
create_order                   POST   /order                                     Place       Order
cancel_orders                  DELETE /order                                     Place       list[Order]
get_order                      GET    /order/{clientOrderId}                     Place       Order
put_order                      PUT    /order/{clientOrderId}                     Place       Order
cancel_order                   DELETE /order/{clientOrderId}                     Place       Order
replace_order                  PATCH  /order/{clientOrderId}                     Place       Order
get_margin_orders              GET    /margin/order                              Place       list[Order]
create_margin_order            POST   /margin/order                              Place       Order
cancel_margin_orders           DELETE /margin/order                              Place       list[Order]
cancel_margin_order            DELETE /margin/order/{clientOrderId}              Place       Order
get_order_history              GET    /history/order                             Orderbook   list[Order]
get_trade_history              GET    /history/trades                            Orderbook   list[AccountTrade]
get_order_trades               GET    /history/order/{orderId}/trades            Orderbook   list[AccountTrade]
get_balances                   GET    /account/balance                           Payment     list[Balance]
get_deposit_address            GET    /account/crypto/address/{currency}         Payment     DepositAddress
create_deposit_address         POST   /account/crypto/address/{currency}         Payment     DepositAddress
get_deposit_addresses          GET    /account/crypto/addresses/{currency}       Payment     list[DepositAddress]
get_used_addresses             GET    /account/crypto/used-addresses/{currency}  Payment     list[UsedAddress]
create_withdrawal              POST   /account/crypto/withdraw                   Withdraw    Identifier
commit_withdrawal              PUT    /account/crypto/withdraw/{id}              Withdraw    Outcome
rollback_withdrawal            DELETE /account/crypto/withdraw/{id}              Withdraw    Outcome
convert_currency               POST   /account/crypto/transfer-convert           Payment     TransactionIds
estimate_withdrawal            GET    /account/crypto/estimate-withdraw          Withdraw    Fee
is_own_address                 GET    /account/crypto/is-mine/{address}          Payment     Outcome
transfer_funds                 POST   /account/transfer                          Payment     Identifier
transfer_to_user               POST   /account/transfer/internal                 Withdraw    TransactionId
get_transactions               GET    /account/transactions                      Payment     list[Transaction]
get_transaction                GET    /account/transactions/{id}                 Payment     Transaction
get_subaccounts                GET    /sub-acc                                   any-key     SubAccounts
freeze_subaccounts             POST   /sub-acc/freeze                            any-key     Outcome
activate_subaccounts           POST   /sub-acc/activate                          any-key     Outcome
transfer_subaccount_funds      POST   /sub-acc/transfer                          Withdraw    TransactionId
get_subaccount_settings        GET    /sub-acc/acl                               Payment     WithdrawalSettings
get_trading_balances           GET    /trading/balance                           Orderbook   list[Balance]
get_trading_fee                GET    /trading/fee/{symbol}                      Place       TradingFee
get_trading_fees               GET    /trading/fee/all                           Place       list[TradingFee]
get_margin_accounts            GET    /margin/account                            Place       list[MarginAccount]
get_margin_account             GET    /margin/account/{symbol}                   Place       MarginAccount
set_margin_account             PUT    /margin/account/{symbol}                   Place       MarginAccount
close_margin_accounts          DELETE /margin/account                            Place       list[MarginAccount]
close_margin_account           DELETE /margin/account/{symbol}                   Place       MarginAccount
get_margin_positions           GET    /margin/position                           Place       list[Position]
get_margin_position            GET    /margin/position/{symbol}                  Place       Position
close_margin_positions         DELETE /margin/position                           Place       list[Position]
close_margin_position          DELETE /margin/position/{symbol}                  Place       list[Position]
get_margin_order               GET    /margin/order/{clientOrderId}              Place       Order
put_margin_order               PUT    /margin/order/{clientOrderId}              Place       Order
set_subaccount_settings        PUT    /sub-acc/acl/{subAccountUserId}            Payment     WithdrawalSettings
get_subaccount_balances        GET    /sub-acc/balance/{id}                      Payment     SubAccountBalancesReply
get_subaccount_deposit_address GET    /sub-acc/deposit-address/{id}/{currency}   Payment     SubAccountAddressReply
""".strip().splitlines()


def result_name(kind: Any) -> str:
    """The result type as it is written in the table."""
    return (
        str(kind.__name__ if isinstance(kind, type) and not hasattr(kind, "__origin__") else kind)
        .replace("exchange_ops.wire.records.", "")
        .replace(" ", "")
    )


def test_rows_are_those_of_the_specification_in_its_order() -> None:
    def documented(operation: Operation) -> list[str]:
        right = operation.right.value.split()[0].split("/")[0].strip(",") if operation.right else "any-key"
        path = operation.path.removeprefix("/api/2")
        right = "public" if operation.public else right
        return [operation.name, operation.method, path, right, result_name(operation.result)]

    assert [documented(operation) for operation in catalogue.OPERATIONS] == [row.split() for row in ROWS]
    assert all(operation.path.startswith("/api/2/") for operation in catalogue.OPERATIONS)


def test_rights_have_their_documented_names() -> None:
    assert {right.value for right in Right} == {
        "Place/cancel orders",
        "Orderbook, History, Trading balance",
        "Payment information",
        "Withdraw cryptocurrencies",
    }


def test_only_reads_and_the_two_idempotent_calls_are_repeatable() -> None:
    repeatable = {operation.name for operation in catalogue.OPERATIONS if operation.repeatable}
    reads = {operation.name for operation in catalogue.OPERATIONS if operation.method == "GET"}
    assert repeatable == reads | {"commit_withdrawal", "rollback_withdrawal"}


# The documented parameters: name, kind, q(uery) f(orm), ! when required, = default, and bounds or choices.
PARAMS = {
    "get_currencies": ["currencies codes q"],
    "get_symbols": ["symbols codes q"],
    "get_tickers": ["symbols codes q"],
    "get_trades": [
        *("symbols codes q", "sort text q =DESC ASC|DESC", "from instant-or-index q", "till instant-or-index q"),
        *("limit integer q =100 0..1000", "offset integer q =0 0..100000"),
    ],
    "get_symbol_trades": [
        *("sort text q =DESC ASC|DESC", "by text q =timestamp timestamp|id", "from instant-or-index q"),
        *("till instant-or-index q", "limit integer q =100 0..1000", "offset integer q =0 0..100000"),
    ],
    "get_orderbooks": ["symbols codes q", "limit integer q =100 0.."],
    "get_orderbook": ["limit integer q =100 0..", "volume decimal q"],
    "get_candles": [
        *("symbols codes q", "period text q =M30 M1|M3|M5|M15|M30|H1|H4|D1|D7|1M", "sort text q =ASC ASC|DESC"),
        *("from instant-or-index q", "till instant-or-index q", "limit integer q =100 0..1000"),
        "offset integer q =0 0..100000",
    ],
    "get_symbol_candles": [
        *("period text q =M30 M1|M3|M5|M15|M30|H1|H4|D1|D7|1M", "sort text q =ASC ASC|DESC"),
        *("from instant-or-index q", "till instant-or-index q", "limit integer q =100 0..1000"),
        "offset integer q =0 0..100000",
    ],
    "get_orders": ["symbol code q"],
    "create_order": [
        *("clientOrderId text f ..32", "symbol code f !", "side text f ! sell|buy"),
        *("type text f =limit limit|market|stopLimit|stopMarket", "timeInForce text f =GTC GTC|IOC|FOK|Day|GTD"),
        *("quantity decimal f !", "price decimal f", "stopPrice decimal f", "expireTime instant f"),
        *("strictValidate boolean f =False", "postOnly boolean f =False", "takeLiquidityMarkup decimal f"),
        "provideLiquidityMarkup decimal f",
    ],
    "cancel_orders": ["symbol code f"],
    "get_order": ["wait integer q 0..60000"],
    "put_order": [
        *("symbol code f !", "side text f ! sell|buy", "type text f =limit limit|market|stopLimit|stopMarket"),
        *("timeInForce text f ! GTC|IOC|FOK|Day|GTD", "quantity decimal f !", "price decimal f"),
        *("stopPrice decimal f", "expireTime instant f", "strictValidate boolean f =False"),
        *("postOnly boolean f =False", "takeLiquidityMarkup decimal f", "provideLiquidityMarkup decimal f"),
    ],
    "replace_order": ["quantity decimal f !", "price decimal f", "requestClientId text f ! ..32"],
    "get_margin_orders": ["symbol code q"],
    "cancel_margin_orders": ["symbol code f"],
    "get_order_history": [
        *("symbol code q", "clientOrderId text q ..32", "from instant q", "till instant q"),
        *("limit integer q =100 0..1000", "offset integer q =0 0..100000"),
    ],
    "get_trade_history": [
        *("symbol code q", "sort text q =DESC ASC|DESC", "by text q =id timestamp|id", "from instant-or-index q"),
        *("till instant-or-index q", "limit integer q =100 0..1000", "offset integer q =0 0..100000"),
        "margin text q =include include|only|ignore",
    ],
    "create_withdrawal": [
        *("currency code f !", "amount decimal f !", "address text f !", "paymentId text f"),
        *("includeFee boolean f =False", "autoCommit boolean f =True", "publicComment text f ..255"),
    ],
    "convert_currency": ["fromCurrency code f !", "toCurrency code f !", "amount decimal f !"],
    "estimate_withdrawal": ["currency code q !", "amount decimal q !"],
    "transfer_funds": ["currency code f !", "amount decimal f !", "type text f ! bankToExchange|exchangeToBank"],
    "transfer_to_user": [
        *("currency code f !", "amount decimal f !", "by text f ! email|username", "identifier text f !"),
    ],
    "get_transactions": [
        *("currency code q", "sort text q =DESC ASC|DESC", "by text q =timestamp timestamp|index"),
        *("from instant-or-index q", "till instant-or-index q", "limit integer q =100 0..1000"),
        *("offset integer q =0 0..100000", "showSenders boolean q =False"),
    ],
    "freeze_subaccounts": ["ids integers f !"],
    "activate_subaccounts": ["ids integers f !"],
    "transfer_subaccount_funds": [
        *("subAccountId integer f !", "amount decimal f !", "currency code f !", "type text f ! deposit|withdraw"),
    ],
    "get_subaccount_settings": ["subAccountIds integers q !"],
    "set_margin_account": ["marginBalance decimal f ! 0..", "strictValidate boolean f =False"],
    "close_margin_position": ["price decimal f", "strictValidate boolean f =False"],
    "set_subaccount_settings": ["isPayoutEnabled boolean f", "description text f"],
}
PARAMS["create_margin_order"] = PARAMS["create_order"]
PARAMS["put_margin_order"] = PARAMS["put_order"]


@pytest.mark.parametrize("operation", catalogue.OPERATIONS, ids=lambda operation: operation.name)
def test_parameters_are_those_of_the_specification(operation: Operation) -> None:
    findings = []
    for param in operation.params:
        if param.place is Place.PATH:
            continue
        words = [param.name, param.kind.value.replace(" ", "-"), param.place.value[0]]
        words += ["!"] if param.required else []
        words += [f"={param.default}"] if param.default is not None else []
        if (param.lowest, param.highest) != (None, None):
            words.append(f"{param.lowest}..{'' if param.highest is None else param.highest}")
        words += [f"..{param.max_length}"] if param.max_length else []
        words += ["|".join(param.choices)] if param.choices else []
        findings.append(" ".join(words))
    assert findings == PARAMS.get(operation.name, [])


@pytest.mark.parametrize("operation", catalogue.OPERATIONS, ids=lambda operation: operation.name)
def test_path_and_path_parameters_agree(operation: Operation) -> None:
    in_path = [param.name for param in operation.params if param.place is Place.PATH]
    assert re.findall(r"\{(\w+)\}", operation.path) == in_path
    assert all(param.required for param in operation.params if param.place is Place.PATH)
    assert len({param.name for param in operation.params}) == len(operation.params)
    if operation.method == "GET":
        assert not [param for param in operation.params if param.place is Place.FORM]


@pytest.mark.parametrize("operation", catalogue.OPERATIONS, ids=lambda operation: operation.name)
@settings(max_examples=40, deadline=None)
@given(chance=st.data())
def test_bind_and_read_are_inverses(operation: Operation, chance: st.DataObject) -> None:
    arguments = chance.draw(arguments_for(operation))
    request = bind(operation, arguments)
    sent = received(request)
    given_back = read(operation, *sent, defaults=False)
    assert given_back == arguments
    assert bind(operation, given_back) == request
    defaults = {param.name: param.default for param in operation.params if param.default is not None}
    assert read(operation, *sent) == defaults | arguments


@pytest.mark.parametrize("operation", catalogue.OPERATIONS, ids=lambda operation: operation.name)
@settings(max_examples=15, deadline=None)
@given(chance=st.data())
def test_json_body_with_numbers_reads_as_the_form_does(operation: Operation, chance: st.DataObject) -> None:
    arguments = chance.draw(arguments_for(operation))
    request = bind(operation, arguments)
    path_values, query, form = received(request)
    body = {}
    for name, text in form:
        kind = operation.param(name).kind
        body[name] = arguments[name] if kind in (Kind.BOOLEAN, Kind.INTEGER, Kind.INTEGERS, Kind.CODES) else text
    written = json.dumps(body)
    for name, text in form:
        if operation.param(name).kind is Kind.DECIMAL:  # as a bare number
            written = written.replace(f'"{name}": "{text}"', f'"{name}": {text}')
    members = json.loads(written, parse_float=Decimal)
    assert read(operation, path_values, query, members.items(), defaults=False) == arguments


@pytest.mark.parametrize("operation", catalogue.OPERATIONS, ids=lambda operation: operation.name)
def test_each_required_parameter_is_missed_by_name(operation: Operation) -> None:
    required = [param for param in operation.params if param.required]
    for param in required:
        present = {other.name: _PLAIN[other.kind] for other in required if other is not param}
        present = {
            name: operation.param(name).choices[0] if operation.param(name).choices else value
            for name, value in present.items()
        }
        with pytest.raises(BadArgument) as of_bind:
            bind(operation, present)
        assert (of_bind.value.param, of_bind.value.problem) == (param.name, Problem.MISSING)
        texts = {
            name: ",".join(map(str, value)) if isinstance(value, list) else str(value)
            for name, value in present.items()
        }
        with pytest.raises(BadArgument) as of_read:
            read(operation, {}, texts.items(), texts.items() if operation.method == "POST" else ())
        assert (of_read.value.param, of_read.value.problem) == (param.name, Problem.MISSING)


_PLAIN: dict[Kind, object] = {
    Kind.TEXT: "a",
    Kind.CODE: "BTC",
    Kind.CODES: ["BTC"],
    Kind.INTEGER: 1,
    Kind.INTEGERS: [1],
    Kind.DECIMAL: Decimal(1),
    Kind.BOOLEAN: True,
}


@pytest.mark.parametrize("kind", sorted({str(operation.result) for operation in catalogue.OPERATIONS}))
def test_every_result_type_can_be_decoded(kind: str) -> None:
    result = next(operation.result for operation in catalogue.OPERATIONS if str(operation.result) == kind)
    msgspec.json.Decoder(result, dec_hook=lambda kind, value: value)


# Sockets -------------------------------------------------------------------------------------------------------------


METHODS = """
marginAccountsGet marginAccountSet marginPositionClose marginOrdersGet marginOrdersCancel
marginOrderNew marginOrderCancel marginOrderCancelReplace
subscribeTransactions unsubscribeTransactions subscribeBalance unsubscribeBalance
getBalance findTransactions loadTransactions
login
getCurrencies getCurrency getSymbols getSymbol getTrades
subscribeTicker unsubscribeTicker subscribeOrderbook unsubscribeOrderbook
subscribeTrades unsubscribeTrades subscribeCandles unsubscribeCandles
subscribeReports newOrder cancelOrder cancelReplaceOrder getOrders getTradingBalance
marginSubscribe
"""
EVENTS = """
marginOrderReport marginAccountReport
updateTransaction balance
ticker snapshotOrderbook updateOrderbook snapshotTrades updateTrades snapshotCandles updateCandles
activeOrders report
marginOrders marginAccounts
"""


def test_methods_are_those_of_the_specification_in_its_order() -> None:
    names = [method.name for method in streams.METHODS]
    assert names == [
        "marginAccountsGet",
        "marginAccountSet",
        "marginPositionClose",
        "marginOrdersGet",
        "marginOrdersCancel",
        "marginOrderNew",
        "marginOrderCancel",
        "marginOrderCancelReplace",
        "subscribeTransactions",
        "unsubscribeTransactions",
        "subscribeBalance",
        "unsubscribeBalance",
        "getBalance",
        "findTransactions",
        "loadTransactions",
        "login",
        "getCurrencies",
        "getCurrency",
        "getSymbols",
        "getSymbol",
        "getTrades",
        "subscribeTicker",
        "unsubscribeTicker",
        "subscribeOrderbook",
        "unsubscribeOrderbook",
        "subscribeTrades",
        "unsubscribeTrades",
        "subscribeCandles",
        "unsubscribeCandles",
        "subscribeReports",
        "newOrder",
        "cancelOrder",
        "cancelReplaceOrder",
        "getOrders",
        "getTradingBalance",
        "marginSubscribe",
    ]
    assert set(streams.by_name) == set(names)


def test_each_method_has_its_address_and_needs_a_login_outside_of_the_public_one() -> None:
    for method in streams.METHODS:
        if method.name == "login":
            assert set(method.addresses) == {streams.Address.TRADING, streams.Address.ACCOUNT}
            assert not method.login
        else:
            assert len(method.addresses) == 1
            assert method.login is (method.addresses != (streams.Address.PUBLIC,))
    account = [method.name for method in streams.METHODS if method.addresses == (streams.Address.ACCOUNT,)]
    assert account == [
        "subscribeTransactions",
        "unsubscribeTransactions",
        "subscribeBalance",
        "unsubscribeBalance",
        "getBalance",
        "findTransactions",
        "loadTransactions",
    ]


def test_notifications_are_those_of_the_specification() -> None:
    names = [event.name for event in streams.EVENTS]
    assert names == [
        "marginOrderReport",
        "marginAccountReport",
        "updateTransaction",
        "balance",
        "ticker",
        "snapshotOrderbook",
        "updateOrderbook",
        "snapshotTrades",
        "updateTrades",
        "snapshotCandles",
        "updateCandles",
        "activeOrders",
        "report",
        "marginOrders",
        "marginAccounts",
    ]
    for method in streams.METHODS:
        for name in method.notifies:
            assert streams.event_by_name[name].address in method.addresses


def test_paging_of_the_two_ledger_methods() -> None:
    found, loaded = streams.by_name["findTransactions"], streams.by_name["loadTransactions"]
    for method, kind, order in ((found, Kind.INSTANT, "DESC"), (loaded, Kind.INTEGER, "ASC")):
        names = [param.name for param in method.params]
        assert names == ["from", "till", "currency", "order", "sort", "limit", "offset", "showSenders"]
        assert {method.param("from").kind, method.param("till").kind} == {kind}
        assert method.param("order").default == order
        assert (method.param("limit").default, method.param("offset").default) == (100, 0)
        assert method.param("showSenders").default is False
    secret = [param.name for param in streams.by_name["login"].params if param.sensitive]
    assert secret == ["sKey", "signature"]


def test_unknown_words_are_kept_as_texts() -> None:
    body = {
        "id": "a",
        "index": 1,
        "currency": "BTC",
        "amount": "1",
        "status": "held-for-review",
        "type": "airdrop",
        "subType": "unheard-of",
        "createdAt": "2020-01-01T00:00:00.000Z",
        "updatedAt": "2020-01-01T00:00:00.000Z",
        "errorCode": "NEW_CODE",
    }
    transaction = msgspec.json.decode(json.dumps(body), type=records.Transaction)
    assert (transaction.status, transaction.type, transaction.sub_type, transaction.error_code) == (
        "held-for-review",
        "airdrop",
        "unheard-of",
        "NEW_CODE",
    )


@pytest.mark.parametrize("index", [2**63, -(2**63) - 1, 1.5, "7", True, None])
def test_whole_numbers_fit_a_column(index: object) -> None:
    body = {"id": 1, "email": "a@b.test", "status": "new"}
    kind = records.SubAccount
    assert msgspec.json.decode(json.dumps(body | {"id": 2**63 - 1}), type=kind).id == 2**63 - 1
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(json.dumps(body | {"id": index}), type=kind)
