"""The Python package: what is generated follows the description, and its calls end at the real desk as they should."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import requests
from django.core.management import CommandError, call_command

import countersign_client
from countersign_client import Client, KeyUsed, NoAnswer, NotAllowed, NotFound, NotSignedIn, Refused, Unreadable
from desk import clock
from desk.models import ApiToken
from exchange_ops.withdrawals.models import Withdrawal
from project.clients import package, shapes
from tests.exchange_ops import rows
from tests.exchange_ops.orders import order_rows

DRAFT: Any = {"currency": "BCH", "amount": "1.25", "address": rows.ADDRESS, "reason": "Invoice 2041"}


# What is generated ----------------------------------------------------------------------------------------------------


def test_the_package_is_what_the_description_says():
    call_command("client_package")


def test_a_package_that_fell_behind_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(package, "FOLDER", tmp_path)
    with pytest.raises(CommandError, match=r"shapes.py is out of date"):
        call_command("client_package")
    call_command("client_package", "--write")
    call_command("client_package")


def test_what_no_type_stands_for_is_refused():
    with pytest.raises(shapes.CannotGenerate, match="There is no type"):
        shapes.annotation({"type": "tuple"})
    with pytest.raises(shapes.CannotGenerate, match="made of itself"):
        shapes.module({"A": {"properties": {"a": {"$ref": "#/components/schemas/A"}}}})


def test_every_operation_has_its_method():
    for path, methods in package.description()["paths"].items():
        for facts in methods.values():
            assert callable(getattr(Client, facts["operationId"], None)), path


def test_the_package_needs_nothing_of_ours_and_ships_its_types():
    folder = package.FOLDER
    assert (folder / "py.typed").exists()
    for path in folder.glob("*.py"):
        for ours in ("desk.", "exchange_ops", "django", "wire"):
            assert f"import {ours}" not in path.read_text(), path
            assert f"from {ours}" not in path.read_text(), path
    assert set(countersign_client.__all__) <= set(dir(countersign_client))


# Against the real desk ------------------------------------------------------------------------------------------------


@pytest.fixture
def desk(live_desk, payable, make_person, token_of) -> Iterator[Client]:
    with Client(live_desk.url, token=token_of(make_person("operator"))) as client:
        yield client


def test_a_payout_is_drafted_and_followed_to_its_end(walk, live_desk, token_of):
    """The guided withdrawal by a program: it drafts, people decide, it sees what became of it."""
    with Client(live_desk.url, token=token_of(walk.operator)) as desk:
        currency = next(one for one in desk.currencies_list()["items"] if one["code"] == "BTC")
        assert currency["payout_problem"] == ""
        body: Any = {**DRAFT, "currency": "BTC", "amount": "0.05", "address": "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"}
        drafted = desk.withdrawals_create(body)
        assert (drafted["state"], drafted["initiated_via"]) == ("draft", "api")
        row = Withdrawal.objects.get(pk=drafted["id"])
        assert row.request_key
        walk.until(row, "held")
        walk.step(row)
        reserved = desk.withdrawals_read(drafted["id"])
        assert (reserved["state"], reserved["turn"]) == ("held", "person")
        walk.approve(row)
        walk.until(row, "committed", "sent", "settled")
        paid = desk.withdrawals_read(drafted["id"])
        assert paid["state"] in {"committed", "sent", "settled"}
        assert [one["id"] for one in desk.withdrawals_all(currency="BTC")] == [drafted["id"]]


def test_pages_are_walked_to_the_end(desk):
    now = clock.now()
    for number in range(1, 121):
        rows.entry(number, now=now)
    page = desk.ledger_list()
    assert (len(page["items"]), page["older"] is None) == (50, False)
    found = [row["index"] for row in desk.ledger_all(currency="BCH")]
    assert found == list(map(str, range(120, 0, -1)))


def test_all_orders_are_open_and_ended_ones(desk):
    now = clock.now()
    ended = [order_rows.elsewhere(now=now, number=number + 1, status="filled").pk for number in range(55)]
    still = order_rows.elsewhere(now=now, number=99).pk
    assert [row["id"] for row in desk.orders_all()] == [still, *reversed(ended)]
    assert [row["id"] for row in desk.orders_all(view="open")] == [still]


def test_rows_that_arrive_meanwhile_shift_nothing(desk):
    now = clock.now()
    for number in range(1, 71):
        rows.entry(number, now=now)
    walked = desk.ledger_all()
    first = [next(walked)["index"] for _ in range(50)]
    rows.entry(71, now=now)
    assert first + [row["index"] for row in walked] == list(map(str, range(70, 0, -1)))


def test_a_path_at_one_of_several_accounts(live_desk, payable, make_person, token_of):
    from exchange_ops.shared.models import Account

    first = Account.objects.get()
    Account.objects.create(name="Second desk", quote_currency="USD")
    for number in range(1, 61):
        rows.entry(number, now=clock.now())
    token = token_of(make_person("operator"))
    with Client(live_desk.url, token=token) as desk, pytest.raises(NotFound, match="several accounts"):
        desk.ledger_list()
    with Client(live_desk.url, token=token, account=first.pk) as desk:
        assert len(list(desk.ledger_all())) == 60


def test_the_same_key_gives_the_same_draft_and_another_body_is_refused(desk):
    first = desk.withdrawals_create(DRAFT, idempotency_key="invoice-2041")
    assert desk.withdrawals_create(DRAFT, idempotency_key="invoice-2041") == first
    with pytest.raises(KeyUsed) as refusal:
        desk.withdrawals_create({**DRAFT, "amount": "2"}, idempotency_key="invoice-2041")
    assert (refusal.value.status, refusal.value.idempotency_key) == (422, "invoice-2041")
    assert Withdrawal.objects.count() == 1


def test_refusals_are_exceptions_with_the_sentences_of_the_desk(desk, live_desk, make_person, token_of):
    with pytest.raises(Refused) as refusal:
        desk.withdrawals_create({**DRAFT, "amount": "100000"})
    assert "were available" in refusal.value.errors["amount"]
    assert "Nothing was recorded or sent" in refusal.value.detail
    with pytest.raises(NotFound):
        desk.withdrawals_read(12345)
    reader = token_of(make_person("operator", username="reader"), scope=ApiToken.Scope.READ)
    with Client(live_desk.url, token=reader) as other, pytest.raises(NotAllowed, match="is read-only"):
        other.withdrawals_create(DRAFT)
    with Client(live_desk.url, token="csn_nothing") as other, pytest.raises(NotSignedIn):
        other.funds_list()


class TestLostAnswers:
    """A proxy that swallows answers stands between client and desk."""

    @pytest.fixture
    def lossy(self, live_desk) -> Iterator[Any]:
        class Proxy(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                keys.append(self.headers["Idempotency-Key"])
                sent = {name: self.headers[name] for name in ("Authorization", "Content-Type", "Idempotency-Key")}
                answer = requests.post(live_desk.url + self.path, data=body, headers=sent, timeout=30)
                if len(keys) <= self.server.loses:
                    self.close_connection = True  # the desk has answered; nobody hears it
                    return
                self.send_response(answer.status_code)
                self.send_header("Content-Type", answer.headers["Content-Type"])
                self.send_header("Content-Length", str(len(answer.content)))
                self.end_headers()
                self.wfile.write(answer.content)

            def log_message(self, *_):
                pass

        keys: list[str] = []
        server: Any = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
        server.loses, server.keys = 0, keys
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        server.server_close()
        thread.join()

    def client(self, server, token, **options):
        return Client(f"http://127.0.0.1:{server.server_port}", token=token, **options)

    def test_a_lost_answer_makes_no_second_draft(self, lossy, payable, make_person, token_of):
        lossy.loses = 1
        with self.client(lossy, token_of(make_person("operator"))) as desk:
            drafted = desk.withdrawals_create(DRAFT)
        assert len(lossy.keys) == 2
        assert len(set(lossy.keys)) == 1
        assert Withdrawal.objects.get().pk == drafted["id"]

    def test_when_every_answer_is_lost_the_key_is_told(self, lossy, payable, make_person, token_of):
        lossy.loses = 2
        with self.client(lossy, token_of(make_person("operator")), attempts=2) as desk:
            with pytest.raises(NoAnswer) as lost:
                desk.withdrawals_create(DRAFT)
            assert lost.value.idempotency_key == lossy.keys[0]
            assert desk.withdrawals_create(DRAFT, idempotency_key=lost.value.idempotency_key)["id"]
        assert Withdrawal.objects.count() == 1


@pytest.mark.parametrize(
    "url",
    ["http://desk.example", "ftp://x", "", "https://u:p@desk.example", "https://desk.example/api", "https://x?a=1"],
)
def test_a_token_is_not_sent_to_just_any_address(url):
    with pytest.raises(ValueError, match="address"):
        Client(url, token="csn_x")


def test_a_token_stands_in_no_text_and_goes_to_no_other_server(live_desk, payable, make_person, token_of):
    token = token_of(make_person("operator"))
    with Client(live_desk.url, token=token) as desk:
        assert token not in repr(desk) + str(vars(desk))
        for path in ("https://elsewhere.example/", "//elsewhere.example/"):
            with pytest.raises(Unreadable):
                desk.ask("GET", path)
        with pytest.raises(Unreadable, match="status 302"):
            desk.ask("GET", "/withdrawals/")  # a page, that leads strangers to the sign-in


def test_what_has_a_meaning_in_an_address_is_escaped(desk):
    assert Client.part("../a?b#c/%") == "..%2Fa%3Fb%23c%2F%25"
    with pytest.raises((NotFound, Unreadable)):
        desk.markets_read("../withdrawals/?x=")
