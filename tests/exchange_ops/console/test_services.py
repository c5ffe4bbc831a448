"""The console knows every documented operation, sends only what asks, and explains each from its catalogue."""

import pytest

from chaindata.wire import catalogue as chain_catalogue
from exchange_ops.console import documentation, elsewhere, entries, examples
from exchange_ops.console.forms import OperationForm, read_arguments
from exchange_ops.shared import places
from exchange_ops.shared.forms import fresh_key
from exchange_ops.wire import catalogue, streams
from wire.params import BadArgument

EVERY = [entry for service in entries.SERVICES.values() for entry in service.entries.values()]


def test_every_documented_operation_is_there():
    counts = {name: len(service.entries) for name, service in entries.SERVICES.items()}
    assert counts == {
        "exchange": len(catalogue.by_name),
        "streams": len(streams.METHODS),
        "chain": len(chain_catalogue.by_name),
    }


def test_what_acts_is_done_elsewhere_and_what_asks_is_sent_from_here():
    acting = {row.name for row in catalogue.by_name.values() if not row.reads}
    assert acting == set(elsewhere.EXCHANGE)
    assert set(streams.ACTING) | {"login"} == set(elsewhere.STREAMS)
    sending = {row.name for row in chain_catalogue.by_name.values() if not row.reads}
    assert sending | chain_catalogue.WITH_PRIVATE_KEY == set(elsewhere.CHAIN)


def test_nothing_with_a_sensitive_parameter_is_sent_from_here():
    open_ones = [entry for entry in EVERY if entry.elsewhere is None]
    assert len(open_ones) > 150
    assert [entry.name for entry in open_ones if any(param.sensitive for param in entry.params)] == []


@pytest.mark.parametrize("entry", EVERY, ids=lambda entry: f"{entry.service}-{entry.name}")
def test_every_operation_has_a_form_members_and_examples(entry):
    kind, members = documentation.members_of(entry.result)
    assert kind
    assert len({member.name for member in members}) == len(members)
    form = OperationForm(entry=entry)
    assert [field.label for field in form.parameters] == [param.name for param in entry.params]
    texts = examples.snippets(entry, {}, place=places.default())
    assert texts
    assert all("\u2026" not in text for text in texts.values())


@pytest.mark.parametrize(
    ("service", "name", "texts", "param"),
    [
        ("exchange", "get_symbol_candles", {"symbol": "ETHBTC", "period": "M2"}, "period"),
        ("exchange", "get_symbol_candles", {}, "symbol"),
        ("exchange", "get_transactions", {"limit": "1001"}, "limit"),
        ("exchange", "get_transactions", {"limit": "ten"}, "limit"),
        ("exchange", "get_symbol", {"symbol": "ETH,BTC"}, "symbol"),
        ("exchange", "get_symbol", {"symbol": "..\x00"}, "symbol"),
        ("streams", "getTrades", {"symbol": "ETHBTC", "by": "price"}, "by"),
        ("chain", "get_address_details", {}, "address"),
    ],
)
def test_a_value_out_of_bounds_is_named_before_anything_is_sent(service, name, texts, param):
    entry = entries.entry(service, name)
    with pytest.raises(BadArgument) as refused:
        read_arguments(entry, texts)
    assert refused.value.param == param
    typed = {f"p-{key}": text for key, text in texts.items()}
    form = OperationForm({**typed, "request_key": fresh_key()}, entry=entry)
    assert not form.is_valid()
    assert f"p-{param}" in form.errors


def test_lists_and_objects_are_typed_by_line():
    entry = entries.entry("chain", "get_slp_balances")
    names = entry.params[0].choices
    found = read_arguments(entry, {"pairs": "one,two\n three , four \n\n"})
    assert found == {
        "pairs": [dict(zip(names, ("one", "two"), strict=True)), dict(zip(names, ("three", "four"), strict=True))]
    }
    with pytest.raises(BadArgument):
        read_arguments(entry, {"pairs": "one"})


def test_the_examples_are_complete_and_name_no_key(settings):
    settings.EXCHANGE_URL, settings.CHAINDATA_URL = "https://exchange.example", "https://chain.example"
    settings.EXCHANGE_WS_URL = "wss://exchange.example"
    entry = entries.entry("exchange", "get_transactions")
    found = examples.snippets(entry, read_arguments(entry, {"currency": "BTC", "limit": "5"}), place=places.default())
    assert found["curl"] == (
        'curl --silent --show-error --user "$EXCHANGE_KEY:$EXCHANGE_SECRET" '
        "'https://exchange.example/api/2/account/transactions?currency=BTC&limit=5'"
    )
    compile(found["Python"], "example", "exec")
    assert "os.environ" in found["Python"]
    public = entries.entry("exchange", "get_ticker")
    assert examples.snippets(public, {}, place=places.default())["curl"] == (
        "curl --silent --show-error https://exchange.example/api/2/public/ticker/SYMBOL"
    )
    socket = entries.entry("streams", "subscribeCandles")
    both = examples.snippets(socket, read_arguments(socket, {"symbol": "ETHBTC", "limit": "3"}), place=places.default())
    assert both["Message"] == '{"method": "subscribeCandles", "params": {"symbol": "ETHBTC", "limit": 3}, "id": 1}'
    compile(both["Python"], "example", "exec")
