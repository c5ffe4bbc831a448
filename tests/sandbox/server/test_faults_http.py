"""Every fault kind as a client over real HTTP meets it: what was executed, what the client can know, what is logged."""

import http.client
import time
from typing import Any

import pytest
import requests

from sandbox.serving import InProcessSandbox
from tests.bounds import stretched
from tests.sandbox.conftest import Client

HOLD = {"currency": "BTC", "amount": "1", "address": "1BoatSLRHtKNngkdXEeobR76b53LETtpyT", "autoCommit": "false"}
PATH = "/account/crypto/withdraw"


def post(client: Client, **more: Any) -> requests.Response:
    """A withdrawal on hold, asked for once."""
    return client.call("POST", PATH, data=HOLD, **more)


def holds(box: InProcessSandbox) -> int:
    found: int = box.control("state")["counts"]["open_holds"]
    return found


def last_call(box: InProcessSandbox, operation: str = "create_withdrawal") -> dict[str, Any]:
    found: dict[str, Any] = box.control(f"calls?operation={operation}")["calls"][-1]
    return found


def arm(box: InProcessSandbox, kind: str, operation: str = "create_withdrawal", **members: object) -> None:
    box.control("faults", {"operation": operation, "kind": kind, **members})


# Answers that say no -------------------------------------------------------------------------------------------------


def test_refuse_answers_with_the_documented_error_and_executes_nothing(box: InProcessSandbox, client: Client) -> None:
    arm(box, "refuse", code=20001)
    answer = post(client)
    assert (answer.status_code, answer.json()["error"]) == (
        400,
        {
            "code": 20001,
            "message": "Insufficient funds",
            "description": "Check that the funds are sufficient, given commissions",
        },
    )
    assert holds(box) == 0
    assert (last_call(box)["fault"], last_call(box)["executed"]) == ("refuse", False)
    assert post(client).status_code == 200


def test_refuse_may_bring_its_own_description(box: InProcessSandbox, client: Client) -> None:
    arm(box, "refuse", code=600, description="Withdrawals of BTC are closed")
    assert post(client).json()["error"]["description"] == "Withdrawals of BTC are closed"


@pytest.mark.parametrize("status", [400, 404, 418, 500, 502, 503, 504, 599])
def test_status_answers_with_it(box: InProcessSandbox, client: Client, status: int) -> None:
    arm(box, "status", status=status)
    answer = post(client)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, status)
    assert holds(box) == 0


def test_status_may_execute_all_the_same(box: InProcessSandbox, client: Client) -> None:
    arm(box, "status", status=504, executes=True)
    answer = post(client)
    assert (answer.status_code, answer.json()["error"]["message"]) == (504, "Gateway Timeout")
    assert holds(box) == 1
    call = last_call(box)
    assert (call["executed"], call["answer"]["status"]) == (True, 504)


def test_rate_limit_answers_429(box: InProcessSandbox, client: Client) -> None:
    arm(box, "rate_limit", times=2)
    assert [post(client).status_code for _ in range(3)] == [429, 429, 200]


# No answer -----------------------------------------------------------------------------------------------------------


ENDS = {"close": "closed connection without response", "reset": "Connection reset by peer"}


@pytest.mark.parametrize("how", ENDS)
@pytest.mark.parametrize("kind", ["drop_before", "drop_after"])
def test_a_dropped_connection_looks_the_same_whether_it_was_executed(
    box: InProcessSandbox, client: Client, how: str, kind: str
) -> None:
    arm(box, kind, how=how)
    with pytest.raises(requests.ConnectionError, match=ENDS[how]):
        post(client)
    executed = kind == "drop_after"
    assert holds(box) == int(executed)
    call = last_call(box)
    assert (call["fault"], call["executed"], call["answer"]) == (kind, executed, None)
    assert post(client).status_code == 200


def test_a_connection_that_was_used_before_is_dropped_as_well(box: InProcessSandbox, client: Client) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", box.port, timeout=5)
    connection.request("GET", "/api/2/public/currency/BTC")
    connection.getresponse().read()
    arm(box, "drop_after", operation="get_currency")
    connection.request("GET", "/api/2/public/currency/BTC")
    with pytest.raises(http.client.RemoteDisconnected):
        connection.getresponse()
    connection.close()
    assert last_call(box, "get_currency")["executed"] is True


def test_a_drop_leaves_nothing_in_the_log_of_errors(
    box: InProcessSandbox, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    for kind in ("drop_before", "drop_after", "cut_body"):
        arm(box, kind)
        with pytest.raises(requests.RequestException):
            post(client)
    assert [record.getMessage() for record in caplog.records if record.levelname in {"ERROR", "WARNING"}] == []


# Late and cut answers ------------------------------------------------------------------------------------------------


def test_delay_then_execute_answers_late(box: InProcessSandbox, client: Client) -> None:
    arm(box, "delay_then_execute", ms=250)
    began = time.monotonic()
    assert post(client).status_code == 200
    assert time.monotonic() - began >= 0.25
    assert holds(box) == 1


def test_a_client_that_gave_up_waiting_does_not_stop_the_execution(box: InProcessSandbox, client: Client) -> None:
    arm(box, "delay_then_execute", ms=800)
    with pytest.raises(requests.ReadTimeout):
        post(client, timeout=0.2)
    assert (last_call(box)["executed"], holds(box)) == (False, 0)
    until(lambda: last_call(box)["executed"])
    assert holds(box) == 1


def test_delay_then_execute_may_answer_504_first(box: InProcessSandbox, client: Client) -> None:
    arm(box, "delay_then_execute", ms=800, status=504)
    assert post(client).status_code == 504
    assert holds(box) == 0
    until(lambda: last_call(box)["executed"])
    assert holds(box) == 1


def until(holds_now: Any, seconds: int = 3) -> None:
    """Waits until the condition holds."""
    deadline = time.monotonic() + stretched(seconds)
    while not holds_now():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("framing", "problem"),
    [("length", requests.exceptions.ChunkedEncodingError), ("chunked", requests.exceptions.ChunkedEncodingError)],
)
def test_a_cut_body_ends_in_the_middle(
    box: InProcessSandbox, client: Client, framing: str, problem: type[Exception]
) -> None:
    arm(box, "cut_body", framing=framing)
    with pytest.raises(problem):
        post(client)
    assert holds(box) == 1
    arm(box, "cut_body", framing=framing, executes=False)
    with pytest.raises(problem):
        post(client)
    assert holds(box) == 1


def test_a_cut_body_announces_the_length_of_the_whole(box: InProcessSandbox) -> None:
    arm(box, "cut_body", operation="get_currency")
    connection = http.client.HTTPConnection("127.0.0.1", box.port, timeout=5)
    connection.request("GET", "/api/2/public/currency/BTC")
    answer = connection.getresponse()
    assert answer.status == 200
    announced = int(answer.headers["Content-Length"])
    with pytest.raises(http.client.IncompleteRead) as cut:
        answer.read()
    assert len(cut.value.partial) == announced // 2
    connection.close()


# Answers from somebody else ------------------------------------------------------------------------------------------


def test_html_is_a_page_with_any_status(box: InProcessSandbox, client: Client) -> None:
    arm(box, "html")
    arm(box, "html", status=404, executes=True)
    first, second = post(client), post(client)
    assert (first.status_code, first.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "<html>" in first.text
    assert second.status_code == 404
    assert holds(box) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_names_the_same_address_and_a_follower_shows(
    box: InProcessSandbox, client: Client, status: int
) -> None:
    arm(box, "redirect", status=status)
    answer = post(client)
    assert (answer.status_code, answer.headers["Location"]) == (status, f"/api/2{PATH}")
    assert holds(box) == 0
    assert len(box.control("calls")["calls"]) == 1
    arm(box, "redirect", status=307, location=f"/api/2{PATH}?again")
    assert post(client, allow_redirects=True).status_code == 200
    calls = box.control("calls")["calls"]
    assert [call["executed"] for call in calls] == [False, False, True]
    assert calls[2]["query"] == {"again": ""}


# Echoes --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("amount", "1.00000001"),
        ("amount", "NaN"),
        ("fee", "0.5"),
        ("address", "1BoatSLRHtKNngkdXEeobR76b53LETtpyU"),
        ("status", "exploded"),
        ("currency", "BCH"),
        ("id", None),
        ("index", "7"),
        ("createdAt", 17),
    ],
)
def test_an_echo_differs_once_in_the_record_and_in_the_list(
    box: InProcessSandbox, client: Client, field: str, value: object
) -> None:
    held = post(client).json()["id"]
    for path in (f"/account/transactions/{held}", "/account/transactions?limit=1"):
        arm(box, "echo_differs", operation="*", field=field, value=value)
        changed, honest = client.call("GET", path).json(), client.call("GET", path).json()
        changed, honest = (each[0] if isinstance(each, list) else each for each in (changed, honest))
        assert changed[field] == value
        assert honest[field] != value
        assert {**changed, field: None} == {**honest, field: None}


def test_an_echo_keeps_a_number_exact(box: InProcessSandbox, client: Client) -> None:
    held = post(client).json()["id"]
    body = '{"operation":"*","kind":"echo_differs","field":"amount","value":0.10000000000000000001}'
    requests.post(f"{box.url}/_sandbox/faults", data=body, timeout=5)
    assert '"amount":0.10000000000000000001' in client.call("GET", f"/account/transactions/{held}").text


def test_an_answer_may_lack_its_id(box: InProcessSandbox, client: Client) -> None:
    arm(box, "echo_differs", field="id", absent=True)
    answer = post(client)
    assert (answer.status_code, answer.json()) == (200, {})
    assert holds(box) == 1


# Aim -----------------------------------------------------------------------------------------------------------------


def test_a_fault_for_one_key_lets_the_others_through(box: InProcessSandbox, client: Client) -> None:
    arm(box, "html", operation="get_balances", key="demo-read")
    assert client.call("GET", "/account/balance").json()
    assert "<html>" in Client(box.url, "demo-read").call("GET", "/account/balance").text


def test_the_star_meets_every_operation_but_not_the_control_plane(box: InProcessSandbox, client: Client) -> None:
    arm(box, "html", operation="*", times=2)
    assert box.control("state")["faults"] == 1
    assert "<html>" in client.call("GET", "/public/currency/BTC").text
    assert "<html>" in client.call("GET", "/account/balance").text
    assert client.call("GET", "/public/currency/BTC").json()["id"] == "BTC"
    assert client.call("GET", "/nowhere").status_code == 404


def test_a_fault_stands_before_authentication(box: InProcessSandbox) -> None:
    arm(box, "status", operation="get_balances", status=503)
    assert requests.get(f"{box.url}/api/2/account/balance", timeout=5).status_code == 503
    assert requests.get(f"{box.url}/api/2/account/balance", timeout=5).status_code == 401
