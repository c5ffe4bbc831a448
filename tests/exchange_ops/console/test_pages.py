"""The console's pages: every operation opens for everybody, those who work send, and the answer comes by itself."""

import uuid

import pytest

from desk import clock
from exchange_ops.console import entries, tasks
from exchange_ops.console.models import ConsoleCall
from exchange_ops.shared.models import Account
from tests.cases import in_turn

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_broker(monkeypatch):
    """Workers are run by hand."""
    monkeypatch.setattr("desk.outbox._send", lambda *arguments: None)


def test_the_list_has_everything_and_finds_by_a_piece(signed_in, auditor):
    client = signed_in(auditor)
    page = client.get("/console/").content.decode()
    names = [entry.name for service in entries.SERVICES.values() for entry in service.entries.values()]
    assert all(f">{name}<" in page for name in names)
    found = client.get("/console/?q=CANDLES").content.decode()
    assert ">get_symbol_candles<" in found
    assert ">subscribeCandles<" in found
    assert ">get_balances<" not in found
    assert "No operations match" in client.get("/console/?q=%3Cb%3E").content.decode()
    assert "<b>" not in client.get("/console/?q=%3Cb%3E").content.decode()


@pytest.mark.parametrize("service", entries.SERVICES)
def test_every_operation_has_its_page(signed_in, operator, account, service):
    client = signed_in(operator)
    for entry in in_turn(entries.SERVICES[service].entries.values(), loop=service):
        page = client.get(f"/console/{service}/{entry.name}/")
        assert page.status_code == 200, entry.name
        text = page.content.decode()
        assert ("Send request" in text) == (entry.elsewhere is None), entry.name
        assert all(f">{param.name}" in text for param in entry.params), entry.name


def test_a_request_is_sent_and_its_answer_shown(sandbox, signed_in, operator):
    client = signed_in(operator)
    typed = {"p-symbol": "ETHBTC", "p-period": "M30", "p-limit": "3", "request_key": str(uuid.uuid4())}
    sent = client.post("/console/exchange/get_symbol_candles/", typed)
    call = ConsoleCall.objects.get()
    assert sent.url == f"/console/exchange/get_symbol_candles/?call={call.pk}"
    waiting = client.get(sent.url).content.decode()
    assert "The response will appear here automatically" in waiting
    assert f'data-follow="consolecall:{call.pk}"' in waiting
    tasks.console_call(call.pk)
    page = client.get(sent.url, headers={"HX-Request": "true", "HX-Target": "answer"}).content.decode()
    assert 'id="answer"' in page
    assert "<html" not in page
    assert "Status 200" in page
    assert page.count("<tr>") == 4
    assert "data-follow" not in page, "an answer changes no more"
    whole = client.get(sent.url).content.decode()
    assert 'value="ETHBTC"' in whole
    assert "limit=3" in whole
    assert ">get_symbol_candles<" in client.get("/console/history/").content.decode()


def test_what_is_wrong_stands_at_its_field_and_nothing_typed_is_lost(signed_in, operator):
    typed = {"p-symbol": "ETHBTC", "p-limit": "9999", "request_key": str(uuid.uuid4())}
    page = signed_in(operator).post("/console/exchange/get_symbol_candles/", typed)
    assert page.status_code == 422
    text = page.content.decode()
    assert "limit is too high: at most 1000." in text
    assert 'value="9999"' in text
    assert not ConsoleCall.objects.exists()


@pytest.mark.parametrize("typed", ["x" * 30_000, "<script>alert(1)</script>", "\u202etxt", "../../etc"])
def test_odd_values_are_refused_or_asked_about_as_text(signed_in, operator, typed):
    form = {"p-symbol": typed, "request_key": str(uuid.uuid4())}
    page = signed_in(operator).post("/console/exchange/get_symbol/", form)
    assert page.status_code in {302, 422}
    assert "<script>alert" not in page.content.decode()


def test_an_auditor_reads_and_does_not_send(sandbox, signed_in, auditor):
    client = signed_in(auditor)
    assert "Send request" not in client.get("/console/exchange/get_symbol/").content.decode()
    page = client.post("/console/exchange/get_symbol/", {"p-symbol": "ETHBTC", "request_key": str(uuid.uuid4())})
    assert page.status_code == 403
    assert not ConsoleCall.objects.exists()


def test_what_acts_is_not_sent_whatever_is_posted(sandbox, signed_in, operator, account, demo_keys):
    form = {"p-currency": "BTC", "p-amount": "1", "p-type": "bankToExchange", "request_key": str(uuid.uuid4())}
    page = signed_in(operator).post("/console/exchange/transfer_funds/", form)
    assert page.status_code == 409
    assert "Not sent." in page.content.decode()
    assert "Use the Transfers page, where each request is sent only once" in page.content.decode()
    assert not ConsoleCall.objects.exists()


def test_an_answer_of_another_account_or_operation_is_no_page(signed_in, operator, account, demo_keys):
    other = Account.objects.create(name="Other", quote_currency="USD")
    mine = ConsoleCall.objects.create(
        person=operator,
        account=account,
        request_key=uuid.uuid4(),
        service="exchange",
        operation="get_balances",
        state="answered",
        answer='[{"currency":"MINE"}]',
        asked_at=clock.now(),
    )
    client = signed_in(operator)
    where = f"/console/exchange/get_balances/?call={mine.pk}"
    assert "MINE" in client.get(f"/accounts/{account.pk}{where}").content.decode()
    assert client.get(f"/accounts/{other.pk}{where}").status_code == 404
    assert client.get(f"/console/exchange/get_symbols/?call={mine.pk}").status_code == 404
    for number in ("0", "x", "9" * 30, "\u0661"):
        assert client.get(f"/console/exchange/get_symbols/?call={number}").status_code == 404
    assert "get_balances" in client.get(f"/accounts/{account.pk}/console/history/").content.decode()
    assert "get_balances" not in client.get(f"/accounts/{other.pk}/console/history/").content.decode()


def test_no_such_operation(signed_in, operator):
    client = signed_in(operator)
    assert client.get("/console/exchange/no_such/").status_code == 404
    assert client.get("/console/nowhere/get_symbols/").status_code == 404
