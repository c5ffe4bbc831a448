"""Every documented operation has a row and a golden file; names on either side of the wire are the catalogue's."""

from django.core.management import call_command

from exchange_ops.client import ExchangeClient
from exchange_ops.wire import catalogue
from project.management.commands import coverage_list
from sandbox.handlers import HANDLERS


def test_every_operation_has_a_golden_file():
    assert [row.operation.name for row in coverage_list.covered() if row.golden is None] == []


def test_no_golden_file_is_about_nothing():
    used = {row.golden for row in coverage_list.covered()}
    folder = next(iter(used)).parent
    assert [path.name for path in folder.iterdir() if path not in used] == []


def test_the_sandbox_answers_only_what_is_documented():
    assert set(HANDLERS) <= set(catalogue.by_name)


def test_the_client_has_no_call_that_is_not_documented():
    own = {"call", "listing", "close", "look_before_acting"}
    walks = {"transactions_after", "trades_after", "account_trades_after", "orders_back", "candles_from"}
    methods = {name for name in dir(ExchangeClient) if not name.startswith("_")} - own - walks
    assert methods == set(catalogue.by_name)


def test_the_list_is_printed_with_its_sums(capsys):
    call_command("coverage_list")
    printed = capsys.readouterr().out
    lines = printed.splitlines()
    assert lines[0].split()[0] == "operation"
    row = next(line for line in lines if line.startswith("commit_withdrawal "))
    assert "PUT /api/2/account/crypto/withdraw/{id}" in row
    assert row.split()[-2:] == ["yes", "method"]
    assert f"{len(catalogue.OPERATIONS)} operations" in lines[-1]
