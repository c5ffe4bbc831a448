"""The exchange's REST interface over real HTTP: routing, headers, input handling, errors, limits."""

import base64
import email.utils
import hashlib
import hmac
import http.client
import json
import re
import socket
import time
from collections.abc import Callable

import pytest
import requests

from exchange_ops.wire import catalogue
from sandbox.exchange.handlers import HANDLERS
from sandbox.serving import InProcessSandbox
from tests.sandbox.conftest import Client

TRANSFER = {"currency": "USD", "amount": "10", "type": "bankToExchange"}


def error_of(answer: requests.Response) -> tuple[int, int, str, str]:
    """HTTP status, code, message and description."""
    error = answer.json()["error"]
    assert answer.headers["Content-Type"] == "application/json; charset=utf-8"
    return answer.status_code, error["code"], error["message"], error["description"]


def raw(box: InProcessSandbox, request: bytes) -> bytes:
    """What the server sends back for bytes that no client library would send."""
    with socket.create_connection(("127.0.0.1", box.port), timeout=10) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := connection.recv(65_536):
            answer += piece
    return answer


# Headers and connections ----------------------------------------------------------------------------------------------


def test_every_answer_carries_the_date_of_the_sandbox_clock(box: InProcessSandbox, client: Client) -> None:
    box.control("clock", {"frozen": True})
    box.control("clock", {"advance_ms": 3_600_000 * 24 * 400})
    expected = box.world.clock.now_ms() // 1000
    paths = ("/public/currency/BTC", "/account/balance", "/nowhere", "/account/transactions/none", "/order")
    for path in paths:
        answer = client.call("GET", path)
        assert email.utils.parsedate_to_datetime(answer.headers["Date"]).timestamp() == expected
    assert requests.get(box.url, timeout=5).headers["Date"] == answer.headers["Date"]


def test_json_is_announced_with_its_charset_and_one_connection_serves_many_calls(box: InProcessSandbox) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", box.port, timeout=5)
    connection.connect()
    opened = connection.sock
    for _ in range(3):
        connection.request("GET", "/api/2/public/currency/BTC")
        answer = connection.getresponse()
        assert json.loads(answer.read())["id"] == "BTC"
        assert answer.getheader("Content-Type") == "application/json; charset=utf-8"
        assert answer.getheader("Server") is None
        assert connection.sock is opened
    connection.close()


# Routing --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/nowhere"),
        ("POST", "/public/currency"),
        ("PATCH", "/account/balance"),
        ("PUT", "/order/"),
        ("DELETE", "/account/crypto/withdraw"),
    ],
)
def test_an_unknown_path_or_verb_is_a_page_with_404(client: Client, method: str, path: str) -> None:
    answer = client.call(method, path)
    assert answer.status_code == 404
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert f"<pre>Cannot {method} /api/2{path}</pre>" in answer.text


def test_paths_outside_of_the_interface_are_404_too(box: InProcessSandbox) -> None:
    for path in ("/api/1/public/currency", "/api/2", "/favicon.ico", "//", "/api/2/../_sandbox/state"):
        answer = raw(box, f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        assert answer.startswith(b"HTTP/1.1 404 "), path
        assert b"<pre>Cannot GET" in answer


def test_what_the_catalogue_has_and_the_sandbox_does_not_imitate_says_so(client: Client) -> None:
    missing = [operation for operation in catalogue.OPERATIONS if operation.name not in HANDLERS]
    for operation in missing:
        path = re.sub(r"\{.*?\}", "1", operation.path.removeprefix("/api/2"))
        form = {param.name: (param.choices or ("1",))[0] for param in operation.params if param.required}
        status, code, message, description = error_of(
            client.call(operation.method, path, **{"params" if operation.method == "GET" else "data": form})
        )
        assert (status, code, message) == (501, 501, "Not Implemented")
        assert description == f"The sandbox does not imitate {operation.name} yet"
    page = requests.get(client.url + "/", timeout=5)
    assert f"{len(catalogue.OPERATIONS) - len(missing)} of {len(catalogue.OPERATIONS)} documented" in page.text


# Input ----------------------------------------------------------------------------------------------------------------


def test_a_form_a_json_body_and_numbers_in_it_are_the_same(client: Client) -> None:
    for more in (
        {"data": TRANSFER},
        {"json": TRANSFER},
        {"data": '{"currency":"usd","amount":10.00,"type":"bankToExchange","asset":"x"}', "headers": JSON},
        {"data": b"currency=usd&amount=10&type=bankToExchange&startTime=1&networkFee=2", "headers": FORM},
    ):
        answer = client.call("POST", "/account/transfer", **more)  # type: ignore[arg-type]
        assert answer.status_code == 200, answer.text
        record = client.call("GET", f"/account/transactions/{answer.json()['id']}").json()
        assert (record["currency"], record["amount"].rstrip("0").rstrip(".")) == ("USD", "10")


JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def test_a_number_keeps_the_digits_it_was_written_with(box: InProcessSandbox, client: Client) -> None:
    body = '{"currency":"ETH","amount":1.000000000000000001,"type":"bankToExchange"}'
    client.call("POST", "/account/transfer", data=body, headers=JSON)
    assert box.control("calls?operation=transfer_funds")["calls"][0]["form"]["amount"] == "1.000000000000000001"


def test_codes_in_lower_case_and_a_slash_at_the_end(client: Client) -> None:
    assert client.call("GET", "/public/currency/btc").json()["id"] == "BTC"
    assert client.call("GET", "/public/symbol/ethbtc").json()["id"] == "ETHBTC"
    assert [row["id"] for row in client.call("GET", "/public/symbol/?symbols=ethbtc,BTCUSD").json()] == [
        "ETHBTC",
        "BTCUSD",
    ]
    assert client.call("GET", "/account/balance/").status_code == 200


@pytest.mark.parametrize("written", ["true", "false", "True", "False", "TRUE"])
def test_booleans_in_any_case(client: Client, written: str) -> None:
    assert client.call("GET", f"/account/transactions?showSenders={written}").status_code == 200


@pytest.mark.parametrize(
    "till", ["2030-01-30T17:05Z", "2030-01-30T17:05:01.123Z", "2030-01-30", "1893456000000", "2030-01-30T17:05"]
)
def test_datetimes_in_their_documented_forms(client: Client, till: str) -> None:
    assert client.call("GET", "/account/transactions", params={"till": till}).status_code == 200


@pytest.mark.parametrize(
    ("path", "description"),
    [
        ("/account/transactions?from=yesterday", "Param 'from' can't be read"),
        ("/account/transactions?limit=1001", "Param 'limit' is too high: at most 1000"),
        ("/account/transactions?limit=-1", "Param 'limit' is too low: at least 0"),
        ("/account/transactions?limit=ten", "Param 'limit' can't be read"),
        ("/account/transactions?offset=100001", "Param 'offset' is too high: at most 100000"),
        ("/account/transactions?sort=UP", "Param 'sort' is not one of the choices: ASC, DESC"),
        ("/account/transactions?showSenders=maybe", "Param 'showSenders' can't be read"),
        ("/account/crypto/estimate-withdraw?currency=BTC", "Param 'amount' required"),
        ("/account/crypto/estimate-withdraw?currency=BTC&amount=", "Param 'amount' required"),
        ("/account/crypto/estimate-withdraw?currency=BTC&amount=NaN", "Param 'amount' can't be read"),
        ("/account/crypto/estimate-withdraw?currency=BTC&amount=1e999", "Param 'amount' can't be read"),
        ("/account/crypto/estimate-withdraw?currency=BTC&amount=%FF", "Query is not UTF-8"),
    ],
)
def test_a_parameter_that_is_missing_or_odd_is_named(client: Client, path: str, description: str) -> None:
    status, code, message, found = error_of(client.call("GET", path))
    assert (status, code, message) == (400, 10001, "Validation error")
    assert found.startswith(description)


@pytest.mark.parametrize(
    ("content_type", "body", "description"),
    [
        ("application/json", "{", "Body is not valid JSON"),
        ("application/json", "[]", "Body is not a JSON object"),
        ("application/json", '{"currency":{"a":1}}', "Param 'currency' is neither a value nor a list of values"),
        ("application/json", '{"amount":1}', "Param 'currency' required"),
        ("application/json", '{"currency":null}', "Param 'currency' required"),
        ("application/json", '{"currency":true}', "Param 'currency' can't be read: a string is required"),
        ("application/json", '{"a":"\\ud800"}', "Body holds half a character"),
        ("application/json", "[" * 60_000, "Body is not valid JSON"),
        ("application/x-www-form-urlencoded", "currency=%FF", "Body is not UTF-8"),
        ("application/x-www-form-urlencoded", "currency=A%00", "Param 'currency' can't be read"),
        ("application/x-www-form-urlencoded", '{"currency":"USD"}', "Param 'currency' required"),
        ("text/plain", "currency=USD", "Body must be application/x-www-form-urlencoded or application/json"),
    ],
)
def test_a_hostile_body_is_refused_and_changes_nothing(
    box: InProcessSandbox, client: Client, content_type: str, body: str, description: str
) -> None:
    before = box.control("ledger")
    answer = client.call("POST", "/account/transfer", data=body, headers={"Content-Type": content_type})
    status, code, _, found = error_of(answer)
    assert (status, code) == (400, 10001)
    assert found.startswith(description)
    assert box.control("ledger") == before


def test_a_body_that_is_too_long_is_refused_and_the_connection_ends(client: Client) -> None:
    answer = client.call("POST", "/account/transfer", data="a=" + "x" * 70_000, headers=FORM)
    assert error_of(answer)[:3] == (413, 413, "Payload Too Large")
    assert answer.headers["Connection"] == "close"


def test_half_a_request_is_nothing(box: InProcessSandbox) -> None:
    head = b"POST /api/2/account/transfer HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\ncurrency=USD"
    assert raw(box, head) == b""
    assert raw(box, b"\x16\x03\x01\x02\x00 nonsense\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    assert box.control("calls")["calls"] == []


# Who calls ------------------------------------------------------------------------------------------------------------


def test_the_errors_of_authentication(box: InProcessSandbox) -> None:
    url = box.url + "/api/2/account/balance"

    def answered(authorization: str | None) -> tuple[int, int, str, str]:
        headers = {} if authorization is None else {"Authorization": authorization}
        return error_of(requests.get(url, headers=headers, timeout=5))

    wrong = base64.b64encode(b"demo-full:wrong").decode()
    assert answered(None)[:3] == (401, 1001, "Authorization required")
    assert answered(f"Basic {wrong}")[:3] == (401, 1002, "Authorization required or has been failed")
    assert answered("Bearer x")[:3] == (401, 1004, "Unsupported authorization method")
    trader = Client(box.url, "demo-trade").call("GET", "/account/balance")
    assert error_of(trader)[:3] == (403, 1003, "Action forbidden for this API key")


def test_each_key_may_do_what_its_rights_say(box: InProcessSandbox) -> None:
    expected = {
        "demo-full": (200, 200),
        "demo-trade": (403, 403),
        "demo-read": (200, 403),
        "demo-withdraw": (200, 200),
        "other-full": (200, 200),
    }
    for login, statuses in expected.items():
        of_key = Client(box.url, login)
        reads = of_key.call("GET", "/account/balance").status_code
        estimates = of_key.call("GET", "/account/crypto/estimate-withdraw?currency=BTC&amount=1").status_code
        assert (reads, estimates) == statuses, login


def test_hs256_signs_method_path_query_and_body_as_they_were_sent(box: InProcessSandbox) -> None:
    def signed(method: str, target: str, body: str = "", secret: str = "demo-full-secret") -> requests.Response:
        timestamp = str(int(time.time()))
        digest = hmac.new(secret.encode(), (method + timestamp + target + body).encode(), hashlib.sha256).hexdigest()
        credentials = base64.b64encode(f"demo-full:{timestamp}:{digest}".encode()).decode()
        headers = {"Authorization": f"HS256 {credentials}", "Content-Type": "application/x-www-form-urlencoded"}
        return requests.request(method, box.url + target, data=body, headers=headers, timeout=5)

    assert signed("GET", "/api/2/account/balance").status_code == 200
    assert signed("GET", "/api/2/account/transactions?from=2020-01-01T00%3A00Z&sort=ASC").status_code == 200
    assert signed("POST", "/api/2/account/transfer", "currency=USD&amount=1&type=bankToExchange").status_code == 200
    assert error_of(signed("GET", "/api/2/account/balance", secret="other-full-secret"))[1] == 1002
    box.control("clock", {"advance_ms": 55 * 60_000})
    assert signed("GET", "/api/2/account/balance").status_code == 200


def test_public_operations_look_at_no_credentials(box: InProcessSandbox) -> None:
    for authorization in ("Basic !!", "Bearer x", "HS256 " + base64.b64encode(b"a:1:b").decode()):
        answer = requests.get(
            box.url + "/api/2/public/symbol/ETHBTC", headers={"Authorization": authorization}, timeout=5
        )
        assert answer.json()["id"] == "ETHBTC"


def test_accounts_do_not_see_each_other(box: InProcessSandbox, client: Client) -> None:
    made = client.call("POST", "/account/transfer", data=TRANSFER).json()["id"]
    other = Client(box.url, "other-full")
    assert error_of(other.call("GET", f"/account/transactions/{made}"))[1] == 20004
    assert made not in other.call("GET", "/account/transactions").text


# Limits ---------------------------------------------------------------------------------------------------------------


def test_rate_limits_are_off_until_they_are_configured(
    box: InProcessSandbox, client: Client, one_second: Callable[[], None]
) -> None:
    assert {client.call("GET", "/account/balance").status_code for _ in range(30)} == {200}
    box.control("config", {"rate_limits": {"other": 3, "market": 5}})
    statuses = [client.call("GET", "/account/balance").status_code for _ in range(5)]
    assert statuses == [200, 200, 200, 429, 429]
    assert error_of(client.call("GET", "/account/balance"))[:3] == (429, 429, "Too many requests")
    assert Client(box.url, "other-full").call("GET", "/account/balance").status_code == 200
    assert [client.call("GET", "/public/symbol/ETHBTC").status_code for _ in range(6)][-2:] == [200, 429]
    one_second()
    assert client.call("GET", "/account/balance").status_code == 200
    box.control("config", {"rate_limits": None})
    assert {client.call("GET", "/account/balance").status_code for _ in range(10)} == {200}


# The page -------------------------------------------------------------------------------------------------------------


def test_the_page_lists_every_operation_with_what_is_imitated(box: InProcessSandbox) -> None:
    page = requests.get(box.url + "/", timeout=5)
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    for text in (
        "create_withdrawal",
        "POST /api/2/account/crypto/withdraw",
        "demo-withdraw",
        "echo_differs",
        "hold_end",
    ):
        assert text in page.text
    row = next(line for line in page.text.splitlines() if "<code>create_withdrawal</code>" in line)
    assert "<td>yes</td>" in row
    assert "getMempoolEntry" in page.text
    assert "106 of 106 operations are imitated" in page.text
    assert box.world.chain.tip.hash in page.text
    assert "not yet" not in page.text
    assert requests.post(box.url + "/", timeout=5).status_code == 404
