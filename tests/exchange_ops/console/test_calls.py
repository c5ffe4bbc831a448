"""A request from the console: sent once by a worker, answered, refused or lost, and kept without any secret."""

import json
import uuid
from datetime import timedelta

import pytest

from desk import clock
from desk.rows import retention
from exchange_ops.console import calls, entries, tables, tasks
from exchange_ops.console.models import ConsoleCall
from wire.params import BadArgument

pytestmark = pytest.mark.django_db


@pytest.fixture
def ask(operator, monkeypatch):
    """`ask("exchange", "get_ticker", symbol="ETHBTC")`: a request of the operator that waits for its worker."""
    monkeypatch.setattr("desk.outbox._send", lambda *arguments: None)

    def begin(service, name, *, account=None, person=operator, key=None, now=None, **texts):
        return calls.request(
            person=person,
            account=account,
            entry=entries.entry(service, name),
            texts=texts,
            request_key=key or str(uuid.uuid4()),
            now=now or clock.now(),
        )

    return begin


def answered(call):
    tasks.console_call(call.pk)
    call.refresh_from_db()
    return call


def test_a_public_question_needs_no_account_and_its_answer_is_kept_as_it_came(sandbox, ask):
    call = answered(ask("exchange", "get_symbol", symbol="ETHBTC"))
    assert (call.state, call.status, call.problem) == ("answered", 200, "")
    assert json.loads(call.answer)["tickSize"] == "0.000001"
    assert call.answer_bytes == len(call.answer.encode())
    heads = tables.table(call.answer)
    assert ["tickSize", "0.000001"] in heads.rows


def test_a_question_about_the_account_goes_out_with_a_key_of_its_right(sandbox, ask, account, demo_keys):
    call = answered(ask("exchange", "get_balances", account=account))
    assert call.state == "answered", call.problem
    table = tables.table(call.answer)
    assert {"currency", "available", "reserved"} <= set(table.heads)
    assert table.total > 5
    assert "demo-read-secret" not in call.answer


def test_a_question_about_the_chain(sandbox, ask):
    call = answered(ask("chain", "get_block_count"))
    assert (call.state, call.status) == ("answered", 200)
    assert int(call.answer) >= 200
    assert tables.table(call.answer) is None
    assert tables.pretty(call.answer) == call.answer


def test_a_method_of_a_socket_and_a_subscription(sandbox, ask, account, demo_keys):
    symbol = answered(ask("streams", "getSymbol", symbol="ETHBTC"))
    assert symbol.state == "answered", symbol.problem
    assert json.loads(symbol.answer)["id"] == "ETHBTC"
    balances = answered(ask("streams", "getTradingBalance", account=account))
    assert balances.state == "answered", balances.problem
    assert "demo-trade-secret" not in balances.answer
    ticker = answered(ask("streams", "subscribeTicker", symbol="ETHBTC"))
    assert ticker.state == "answered", ticker.problem
    content = json.loads(ticker.answer)
    assert content["result"] is True
    assert content["notifications"][0]["method"] == "ticker"
    assert content["notifications"][0]["params"]["symbol"] == "ETHBTC"


def test_a_refusal_is_an_outcome_with_the_services_own_words(sandbox, ask):
    call = answered(ask("exchange", "get_symbol", symbol="NOSUCH"))
    assert (call.state, call.answer) == ("refused", "")
    assert "2001" in call.problem
    absent = answered(ask("chain", "get_transaction_details", txid="00" * 32))
    assert absent.state == "refused"
    assert absent.problem


def test_a_service_that_is_away_is_no_answer(settings, ask):
    settings.EXCHANGE_URL = "http://127.0.0.1:9"
    call = answered(ask("exchange", "get_currencies"))
    assert call.state == "failed"
    assert call.problem


def test_without_a_usable_key_nothing_is_sent(sandbox, ask, account):
    call = answered(ask("exchange", "get_balances", account=account))
    assert call.state == "failed"
    assert call.problem.startswith("Not sent:")


@pytest.mark.parametrize(
    ("service", "name"),
    [
        ("exchange", "create_withdrawal"),
        ("exchange", "transfer_funds"),
        ("exchange", "create_order"),
        ("streams", "newOrder"),
        ("streams", "login"),
        ("chain", "send_raw_transaction"),
        ("chain", "send_slp_token"),
    ],
)
@pytest.mark.usefixtures("sandbox", "demo_keys")
def test_what_moves_something_is_refused_and_makes_no_row(ask, account, service, name):
    with pytest.raises(calls.CannotSend, match=r"Not sent\."):
        ask(service, name, account=account)
    assert not ConsoleCall.objects.exists()


def test_a_row_that_was_made_past_the_rules_is_not_sent_either(sandbox, ask, account, demo_keys, operator):
    call = ask("exchange", "get_balances", account=account)
    ConsoleCall.objects.update(
        operation="transfer_funds", arguments={"currency": "BTC", "amount": "1", "type": "bankToExchange"}
    )
    answered(call)
    assert [one for one in sandbox.calls._calls if one.as_json()["method"] == "POST"] == []
    assert (call.state, call.answer) == ("failed", "")
    assert call.problem.startswith("Not sent")


def test_a_form_that_is_sent_twice_is_one_request(sandbox, ask):
    key = str(uuid.uuid4())
    first, second = (ask("exchange", "get_symbol", key=key, symbol="ETHBTC") for _ in range(2))
    assert first.pk == second.pk
    answered(first)
    claimed = ConsoleCall.objects.get().claimed_at
    tasks.console_call(first.pk)
    assert ConsoleCall.objects.get().claimed_at == claimed, "a second wake-up sends nothing"


def test_bad_values_make_no_row(ask):
    with pytest.raises(BadArgument):
        ask("exchange", "get_symbol_candles", symbol="ETHBTC", limit="-1")
    with pytest.raises(calls.CannotSend, match="no exchange account"):
        ask("exchange", "get_balances")
    assert not ConsoleCall.objects.exists()


def test_a_person_has_a_bounded_number_of_requests(ask, treasury):
    for _ in range(calls.MOST_UNDER_WAY):
        ask("exchange", "get_currencies")
    with pytest.raises(calls.CannotSend, match="still awaiting a response"):
        ask("exchange", "get_currencies")
    ask("exchange", "get_currencies", person=treasury)
    ConsoleCall.objects.update(state="answered")
    now = clock.now()
    for _ in range(calls.MOST_A_MINUTE - calls.MOST_UNDER_WAY):
        ConsoleCall.objects.filter(pk=ask("exchange", "get_currencies", now=now).pk).update(state="answered")
    with pytest.raises(calls.CannotSend, match="requests per minute reached"):
        ask("exchange", "get_currencies", now=now)
    ask("exchange", "get_currencies", now=now + timedelta(minutes=2))


def test_what_a_worker_lost_says_so_and_what_waits_is_waked_again(ask, monkeypatch):
    woken = []
    lost, waits = ask("exchange", "get_currencies"), ask("exchange", "get_symbols")
    monkeypatch.setattr(calls.outbox, "wake", lambda task, number: woken.append((task, number)))
    now = clock.now()
    ConsoleCall.objects.filter(pk=lost.pk).update(state="sending", claimed_at=now)
    calls.sweep(now=now + timedelta(seconds=30))
    assert woken == [(calls.TASK, waits.pk)]
    assert ConsoleCall.objects.get(pk=lost.pk).state == "sending"
    calls.sweep(now=now + calls.LOST_AFTER + timedelta(seconds=1))
    lost.refresh_from_db()
    assert lost.state == "failed"
    assert "send it again" in lost.problem


def test_requests_are_kept_for_a_while(ask, settings):
    settings.ANSWERS_KEPT_DAYS = 30
    now = clock.now()
    old, new = ask("exchange", "get_currencies", now=now - timedelta(days=31)), ask("exchange", "get_currencies")
    retention.purge(now=now)
    assert list(ConsoleCall.objects.values_list("pk", flat=True)) == [new.pk], old


# What is kept ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ('{"a":1.10,"apiSecret":"x\\"y","b":"z"}', '{"a":1.10,"apiSecret":"\u2026","b":"z"}'),
        ('{"privateKey": "K","fundingWif":"L"}', '{"privateKey": "\u2026","fundingWif":"\u2026"}'),
        ('{"password":null,"swift":"BANK"}', '{"password":null,"swift":"BANK"}'),
        ("not JSON my-secret at all", "not JSON \u2026 at all"),
    ],
)
def test_secrets_are_masked_and_figures_stay(body, kept):
    assert calls.redacted(body.encode(), hidden=("my-secret", "")) == kept


def test_an_answer_is_cut_at_its_bound_and_bad_bytes_are_no_fault():
    assert len(calls.redacted(b"x" * 1_000_000)) == calls.MOST_CHARACTERS
    assert calls.redacted(b"\xff\x00") == "\ufffd\ufffd"


@pytest.mark.parametrize(
    ("text", "heads", "rows", "count"),
    [
        (
            '[{"a":1.50,"b":[1]},{"a":null,"c":true}]',
            ["a", "b", "c"],
            [["1.50", "[1]", "\u2013"], ["\u2013", "\u2013", "true"]],
            2,
        ),
        ('["x",0.10]', ["Value"], [["x"], ["0.10"]], 2),
        ('{"x":{"y":1e-8}}', ["Field", "Value"], [["x", '{"y": 1e-8}']], 1),
    ],
)
def test_answers_become_tables_with_figures_as_they_came(text, heads, rows, count):
    table = tables.table(text)
    assert (table.heads, table.rows, table.total) == (heads, rows, count)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "12", "null", "[" * 100_000 + "]" * 100_000])
def test_what_is_no_table_is_none_and_stays_readable(text):
    assert tables.table(text) is None
    assert isinstance(tables.pretty(text), str)


def test_deep_nesting_below_the_readers_bound_is_shown_as_it_came():
    text = "[" * 700 + "1" + "]" * 700
    assert tables.table(text) is None or tables.table(text).total == 1
    assert tables.pretty(text)


def test_a_long_listing_shows_its_beginning():
    table = tables.table(json.dumps([{"n": number} for number in range(1000)]))
    assert (len(table.rows), table.total, table.is_cut) == (tables.MOST_ROWS, 1000, True)
