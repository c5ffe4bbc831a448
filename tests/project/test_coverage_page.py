"""Every documented operation has something of everything behind it, and docs/coverage.md says so."""

import ast
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from chaindata.client import ChainClient
from chaindata.wire import catalogue as chain_catalogue
from exchange_ops.client import ExchangeClient
from exchange_ops.wire import catalogue, streams
from project.management.commands import coverage_page
from sandbox.exchange.handlers import HANDLERS
from tests.architecture import tree
from tools.coverage import chain_uses, contracts, reasons, stream_uses, table, uses

GOLDEN = tree.ROOT / "tests" / "golden" / "exchange"


def test_no_operation_has_a_gap():
    every = [*table.rows(tree.ROOT), *table.chain_rows(tree.ROOT)]
    assert {row.operation.name: row.gaps for row in every if row.gaps} == {}
    assert len(every) == len(catalogue.OPERATIONS) + len(chain_catalogue.ALL)


def test_every_method_of_the_sockets_has_a_use_or_a_reason():
    rows = stream_uses.rows(tree.ROOT)
    assert {row.method.name: row.gaps for row in rows if row.gaps} == {}
    assert [row.method.name for row in rows] == [method.name for method in streams.METHODS]
    pages = {row.method.name: row.pages for row in rows}
    assert pages["subscribeTicker"] == ("markets", "market")
    assert pages["loadTransactions"] == ("ledger", "funds")
    assert pages["findTransactions"] == ("console",)
    assert pages["login"] == ("ledger", "funds", "orders", "margin")


def test_a_session_that_asks_nothing_is_noticed(monkeypatch):
    monkeypatch.setattr(stream_uses, "SESSIONS", {"wire/book.py": ("markets",)})
    with pytest.raises(uses.CannotTell, match=r"wire/book\.py"):
        stream_uses.rows(tree.ROOT)


def test_what_has_no_page_besides_the_console_has_a_reason_of_its_own():
    """No sentence stands for two rows, none is a mere word, and none is kept for a row that has got a page."""
    every = [*table.rows(tree.ROOT), *table.chain_rows(tree.ROOT)]
    without = {row.operation.name for row in every if not stream_uses.besides_console(row.pages)}
    assert without == {*reasons.EXCHANGE, *reasons.CHAIN}
    streams_without = {
        row.method.name for row in stream_uses.rows(tree.ROOT) if not stream_uses.besides_console(row.pages)
    }
    assert streams_without == set(reasons.STREAMS)
    sentences = [*reasons.EXCHANGE.values(), *reasons.CHAIN.values(), *reasons.STREAMS.values()]
    assert len({each.lower() for each in sentences}) == len(sentences)
    assert [each for each in sentences if not each.endswith(".") and not each.endswith("`.")] == []
    assert [each for each in sentences if len(each.split()) < 8] == []


def test_a_reason_is_missed_where_there_is_none_and_noticed_where_there_is_a_page(monkeypatch):
    monkeypatch.setattr(reasons, "CHAIN", {**reasons.CHAIN, "get_difficulty": "", "get_chain_tips": "Nobody reads it."})
    gaps = {row.operation.name: row.gaps for row in table.chain_rows(tree.ROOT) if row.gaps}
    assert gaps == {"get_difficulty": ["page"], "get_chain_tips": ["page"]}
    monkeypatch.setattr(reasons, "STREAMS", {**reasons.STREAMS, "getTrades": ""})
    assert {row.method.name for row in stream_uses.rows(tree.ROOT) if row.gaps} == {"getTrades"}


def test_the_page_is_what_the_code_says():
    call_command("coverage_page")


def test_a_page_that_fell_behind_is_noticed_and_put_right(tmp_path, monkeypatch):
    page = tmp_path / "coverage.md"
    monkeypatch.setattr(coverage_page, "PAGE", page)
    with pytest.raises(CommandError, match="is out of date"):
        call_command("coverage_page")
    call_command("coverage_page", write=True)
    assert page.read_text() == (tree.ROOT / "docs" / "coverage.md").read_text()
    page.write_text(page.read_text().replace("commit_withdrawal", "commit_payout"))
    with pytest.raises(CommandError, match="is out of date"):
        call_command("coverage_page")


def test_a_gap_is_an_error_even_when_the_page_admits_it(tmp_path, monkeypatch):
    monkeypatch.setattr(coverage_page, "PAGE", tmp_path / "coverage.md")
    monkeypatch.delitem(HANDLERS, "get_balances")
    with pytest.raises(CommandError, match=r"Not covered: get_balances: sandbox\."):
        call_command("coverage_page", write=True)


def test_the_page_is_printed(capsys):
    call_command("coverage_page", show=True)
    printed = capsys.readouterr().out
    row = next(line for line in printed.splitlines() if line.startswith("| commit_withdrawal |"))
    assert "`PUT /account/crypto/withdraw/{id}`" in row
    assert "`withdrawals.commit_withdrawal` | `withdrawals.commit_withdrawal` | commit_withdrawal.json" in row
    assert row.endswith("| `/withdrawals/` |")
    assert f"{len(catalogue.OPERATIONS)} operations" in printed
    row = next(line for line in printed.splitlines() if line.startswith("| get_block_by_hash |"))
    assert "`GET /block/detailsByHash/{hash}` | `blocks.get_block_by_hash` | `core.call`" in row
    assert "`/chain/block/{named}/`" in row
    assert f"{len(chain_catalogue.ALL)} operations" in printed


def test_no_golden_file_is_about_nothing():
    assert {path.stem for path in GOLDEN.iterdir()} == set(catalogue.by_name)


def test_the_sandbox_answers_only_what_is_documented():
    assert set(HANDLERS) <= set(catalogue.by_name)


def test_the_client_has_no_call_that_is_not_documented():
    own = {"call", "answer", "listing", "close", "cancel_all_orders", "cancel_all_margin_orders"}
    walks = {"transactions_after", "trades_after", "account_trades_after", "orders_back", "candles_from"}
    methods = {name for name in dir(ExchangeClient) if not name.startswith("_")} - own - walks
    assert methods <= set(catalogue.by_name)


# Nobody calls these, and each has a rule of its own: what breaks the rules of a symbol is not sent.
KEPT_FOR_THEIR_RULE = {"put_order", "put_margin_order"}


def test_the_client_has_no_method_that_nobody_calls():
    """What is asked of the exchange by its name needs no method: `call` takes any operation of the catalogue."""
    called = {
        node.attr
        for room in ("exchange_ops", "project")
        for path in (tree.ROOT / room).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
    }
    unused = {name for name in catalogue.by_name if hasattr(ExchangeClient, name)} - called
    assert unused == KEPT_FOR_THEIR_RULE
    assert {name for name in chain_catalogue.by_name if hasattr(ChainClient, name)} == {"send_raw_transaction"}


# Reading contract tests ----------------------------------------------------------------------------------------------

CONTRACT = """
ORDER = "/api/2/order"

@pytest.fixture
def placed(target):
    target.ask("PUT", "/api/2/order/x")

def read(target, path):
    return good(target.ask("GET", path, anonymous=True))

def test_by_a_shorthand(target):
    read(target, "/api/2/public/candles/ETHBTC?limit=1")
    read("/api/2/public/candles")

def test_literal(target):
    good(target.ask("GET", "/api/2/account/balance?x=1"))

def test_named(target, placed):
    path = f"{ORDER}/{placed['id']}"
    target.ask("PATCH", path, quantity="1")
    target.ask("DELETE", f"{path}?x={1}")

def test_each(target):
    for action in ("freeze", "activate"):
        target.ask("POST", "/api/2/sub-acc/" + action)

@pytest.mark.parametrize("path", ["/api/2/public/symbol", "/api/2/public/ticker/ETHBTC"])
def test_given(target, path):
    target.ask("GET", path)

def test_all_before_one(target):
    target.ask("GET", "/api/2/trading/fee/all")

def test_unknown(target, path):
    target.ask("GET", path)
    target.ask("GET", "/api/2/no/such")
    target.ask("POST", "/api/2/account/balance")
    target.ask("GET", f"/api/2/{path}")

PATHS = ["/api/2/sub-acc", "/api/2/history/order"]

@pytest.mark.parametrize("path", PATHS)
def test_given_by_name(target, path):
    target.good(path)

@pytest.mark.parametrize(("name", "status"), [("config", 200), ("withdraw", 400)])
def test_rows(target, name, status):
    target.refused("/api/2/account/crypto/" + name, {"x": 1})

def test_loop_of_rows(target):
    for name, said in (("order", 1), ("trades", 2)):
        target.get(f"/api/2/history/{name}")
"""


def test_a_call_is_found_by_what_it_spells(tmp_path: Path):
    file = tmp_path / "test_contract_x.py"
    file.write_text(CONTRACT)
    found = contracts.tests_of(catalogue.OPERATIONS, contracts.asked_in([file]))
    assert {name: test.removeprefix("test_contract_x.py::") for name, test in found.items()} == {
        "get_symbol_candles": "test_by_a_shorthand",
        "get_balances": "test_literal",
        "replace_order": "test_named",
        "cancel_order": "test_named",
        "freeze_subaccounts": "test_each",
        "activate_subaccounts": "test_each",
        "get_symbols": "test_given",
        "get_ticker": "test_given",
        "get_trading_fees": "test_all_before_one",
        "get_subaccounts": "test_given_by_name",
        "get_order_history": "test_given_by_name",
        "create_withdrawal": "test_rows",
        "get_trade_history": "test_loop_of_rows",
    }


# The pages -----------------------------------------------------------------------------------------------------------


def test_what_a_walk_and_a_name_ask_for_counts_as_used():
    used = uses.operations_by_module(tree.ROOT)
    assert used["ledger.sync"] == {"get_transactions"}
    assert used["withdrawals.steps.holding"] == {"create_withdrawal"}
    assert "withdrawals.machine" not in used


def test_rules_without_a_page_and_pages_without_rules_are_errors():
    without = {module: page for module, page in uses.PAGES.items() if module != "withdrawals.steps"}
    with pytest.raises(uses.CannotTell, match="holding"):
        uses.pages_of(tree.ROOT, without)
    with pytest.raises(uses.CannotTell, match="machine"):
        uses.pages_of(tree.ROOT, {**uses.PAGES, "withdrawals.machine": ("overview",)})


def test_rules_about_the_chain_without_a_page_and_pages_without_rules_are_errors():
    without = {module: page for module, page in chain_uses.PAGES.items() if module != "explorer.search"}
    with pytest.raises(uses.CannotTell, match="explorer\\.search"):
        chain_uses.pages_of(tree.ROOT, without)
    with pytest.raises(uses.CannotTell, match="cache\\.retention"):
        chain_uses.pages_of(tree.ROOT, {**chain_uses.PAGES, "cache.retention": ("chain",)})
