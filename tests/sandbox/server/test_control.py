"""The control plane over HTTP: what it does to the world, and a clear sentence for every odd call."""

import time

import pytest
import requests

from sandbox.serving import InProcessSandbox
from tests.bounds import stretched
from tests.sandbox.conftest import Client


def refusal(box: InProcessSandbox, path: str, body: object = None, method: str = "POST") -> tuple[int, str]:
    """Status and description of a control call that goes wrong."""
    answer = requests.request(method, f"{box.url}/_sandbox/{path}", json=body, timeout=5)
    assert answer.headers["Content-Type"] == "application/json; charset=utf-8"
    return answer.status_code, answer.json()["error"]["description"]


def balance(client: Client, currency: str, member: str = "available") -> str:
    return next(row[member] for row in client.call("GET", "/account/balance").json() if row["currency"] == currency)


def test_the_state_tells_time_counts_and_configuration_and_serves_as_a_probe(box: InProcessSandbox) -> None:
    state = box.control("state")
    assert (state["seed"], state["frozen"], state["faults"], state["broken"]) == (1, False, 0, "")
    assert state["config"]["hold_end"] == "lapse"
    assert state["counts"]["symbols"] >= 13
    assert abs(state["time_ms"] - time.time_ns() // 1_000_000) < 5_000


def test_a_reset_makes_a_fresh_world_without_faults_and_calls(box: InProcessSandbox, client: Client) -> None:
    started = balance(client, "USD")
    client.call("POST", "/account/transfer", data={"currency": "USD", "amount": "5", "type": "bankToExchange"})
    box.control("config", {"hold_end": "stay"})
    box.control("clock", {"advance_ms": 86_400_000})
    box.control("faults", {"operation": "*", "kind": "html"})
    state = box.control("reset", {"seed": 2})
    assert (state["seed"], state["config"]["hold_end"]) == (2, "lapse")
    assert abs(state["time_ms"] - time.time_ns() // 1_000_000) < 5_000
    assert box.control("faults") == {"faults": []}
    assert box.control("calls")["calls"] == []
    assert balance(client, "USD") == started


def test_the_clock_advances_and_stands_still(box: InProcessSandbox) -> None:
    before = box.control("state")["time_ms"]
    assert box.control("clock", {"advance_ms": 3_600_000})["time_ms"] - before >= 3_600_000
    frozen = box.control("clock", {"frozen": True})["time_ms"]
    time.sleep(0.02)
    assert box.control("state")["time_ms"] == frozen
    assert box.control("clock", {"advance_ms": 10})["time_ms"] == frozen + 10
    box.control("clock", {"frozen": False})
    time.sleep(0.02)
    assert box.control("state")["time_ms"] > frozen + 10


def test_a_hold_lapses_when_the_clock_is_moved_past_its_hour(box: InProcessSandbox, client: Client) -> None:
    held = hold(client)
    assert client.call("GET", f"/account/transactions/{held}").json()["status"] == "created"
    box.control("clock", {"advance_ms": 3_600_001})
    assert client.call("GET", f"/account/transactions/{held}").json()["status"] == "failed"
    assert box.control("ledger")["balanced"] is True


def test_timers_go_off_by_themselves(box: InProcessSandbox, client: Client) -> None:
    """Nothing is asked of the world between the commit and the end of the payout; the test only looks."""
    box.control("config", {"payout_seconds": 0.05})
    held = hold(client)
    client.call("PUT", f"/account/crypto/withdraw/{held}")
    transaction = box.inside(lambda: box.world.exchange.transaction(held))
    deadline = time.monotonic() + stretched(5)
    while transaction.status != "success":
        assert time.monotonic() < deadline
        time.sleep(0.01)


def hold(client: Client, amount: str = "1") -> str:
    """The id of a withdrawal that waits for its commit."""
    form = {"currency": "BTC", "amount": amount, "address": "1BoatSLRHtKNngkdXEeobR76b53LETtpyT", "autoCommit": "false"}
    answer = client.call("POST", "/account/crypto/withdraw", data=form)
    assert answer.status_code == 200, answer.text
    found: str = answer.json()["id"]
    return found


def test_the_configuration_changes_by_name_and_null_switches_off(box: InProcessSandbox) -> None:
    changed = box.control("config", {"rate_limits": True, "fee_drift": 0.1, "list_delay_ms": 50})
    assert (changed["rate_limits"]["other"], changed["fee_drift"], changed["list_delay_ms"]) == (10, "0.1", 50)
    assert box.control("config", {"rate_limits": None})["rate_limits"] is None


def test_faults_are_armed_listed_and_taken_down(box: InProcessSandbox) -> None:
    armed = box.control("faults", {"operation": "create_withdrawal", "kind": "drop_after", "times": 2})
    assert (armed["kind"], armed["times"], armed["how"]) == ("drop_after", 2, "close")
    assert [fault["number"] for fault in box.control("faults")["faults"]] == [armed["number"]]
    assert box.control("state")["faults"] == 1
    assert box.control("faults", method="DELETE") == {"cleared": 1}
    assert box.control("faults") == {"faults": []}


def test_calls_are_listed_with_what_was_asked_and_answered(box: InProcessSandbox, client: Client) -> None:
    client.call("GET", "/account/transactions?limit=1")
    client.call("POST", "/account/transfer", data={"currency": "USD", "amount": "5", "type": "bankToExchange"})
    client.call("POST", "/account/transfer", data={"currency": "USD", "amount": "x", "type": "bankToExchange"})
    requests.get(box.url + "/api/2/account/balance", auth=("a-secret-in-the-wrong-place", ""), timeout=5)
    first, second, third, fourth = box.control("calls")["calls"]
    assert (first["operation"], first["method"], first["path"]) == (
        "get_transactions",
        "GET",
        "/api/2/account/transactions",
    )
    assert (first["query"], first["form"], first["key"]) == ({"limit": "1"}, {}, "demo-full")
    assert second["form"] == {"currency": "USD", "amount": "5", "type": "bankToExchange"}
    assert (second["executed"], second["answer"]["status"]) == (True, 200)
    assert set(second["answer"]["body"]) == {"id"}
    assert (third["executed"], third["answer"]["body"]["error"]["code"]) == (False, 10001)
    assert (fourth["key"], fourth["executed"], fourth["answer"]["status"]) == (None, False, 401)
    assert "secret" not in str([first, second, third, fourth])
    listed = box.control(f"calls?operation=transfer_funds&since={second['number']}")["calls"]
    assert [call["number"] for call in listed] == [third["number"]]
    assert [call["number"] for call in box.control(f"calls?since={fourth['when']}")["calls"]][-1] == fourth["number"]


def test_the_ledger_balances_and_a_deposit_arrives(box: InProcessSandbox, client: Client) -> None:
    address = client.call("POST", "/account/crypto/address/BTC").json()["address"]
    made = box.control("deposit", {"currency": "BTC", "amount": "0.5", "address": address})
    payin = client.call("GET", f"/account/transactions/{made['id']}").json()
    assert (payin["type"], payin["amount"].rstrip("0"), payin["address"]) == ("payin", "0.5", address)
    assert box.control("ledger")["balanced"] is True


def test_a_payout_is_moved_on_or_failed(box: InProcessSandbox, client: Client) -> None:
    box.control("config", {"payout_seconds": 3600})
    held = hold(client)
    client.call("PUT", f"/account/crypto/withdraw/{held}")
    assert box.control(f"payouts/{held}", {"status": "pending"})["status"] == "pending"
    failed = box.control(f"payouts/{held}", {"status": "failed", "errorCode": "INVALID_ADDRESS"})
    assert (failed["status"], failed["errorCode"]) == ("failed", "INVALID_ADDRESS")
    assert refusal(box, f"payouts/{held}", {"status": "success"})[0] == 400


def test_a_withdrawal_made_elsewhere_shows_in_the_ledger(box: InProcessSandbox, client: Client) -> None:
    made = box.control(
        "foreign-withdrawal",
        {"currency": "BTC", "amount": "1", "address": "1BoatSLRHtKNngkdXEeobR76b53LETtpyT", "autoCommit": False},
    )
    assert client.call("GET", f"/account/transactions/{made['id']}").json()["status"] == "created"
    assert box.control("calls?operation=create_withdrawal")["calls"] == []


@pytest.mark.parametrize(
    ("path", "body", "sentence"),
    [
        ("clock", {"advance_ms": -1}, "advance_ms"),
        ("clock", {"advance_ms": "five"}, "advance_ms"),
        ("clock", {"advance_ms": 1.5}, "advance_ms"),
        ("clock", {"advance_ms": 10**18}, "advance_ms"),
        ("clock", {"frozen": "yes"}, "frozen"),
        ("clock", {"advance": 5}, "/_sandbox/clock does not take 'advance'; it takes advance_ms, frozen."),
        ("config", {"hold_end": "explode"}, "hold_end is 'explode'; it takes one of lapse, stay, commit."),
        ("config", {"holdEnd": "stay"}, "'holdEnd' is no part of the configuration"),
        ("config", {"list_delay_ms": None}, "list_delay_ms is False"),
        ("config", {"rate_limits": {"other": 0}}, "rate_limits.other is 0"),
        ("reset", {"seed": "one"}, "seed"),
        ("reset", {"sed": 1}, "sed"),
        ("faults", {"kind": "explode"}, "'kind' is 'explode'"),
        ("faults", {"operation": "*", "kind": "echo_differs", "field": "fee"}, "needs 'value'"),
        ("deposit", {}, "Param 'currency' required"),
        ("deposit", {"currency": "NOPE", "amount": "1"}, "Currency not found"),
        ("deposit", {"currency": "BTC", "amount": "-1"}, "amount"),
        ("deposit", {"currency": "BTC", "amount": "1", "adress": "x"}, "does not take 'adress'"),
        ("payouts/none", {"status": "success"}, "Payout not found"),
        ("foreign-withdrawal", {"currency": "BTC"}, "Param 'amount' required"),
        ("clock", [1], "The body is not a JSON object"),
    ],
)
def test_odd_input_is_a_400_with_a_sentence_and_changes_nothing(
    box: InProcessSandbox, path: str, body: object, sentence: str
) -> None:
    before = box.control("ledger"), box.control("state")["config"], box.control("faults")
    status, description = refusal(box, path, body)
    assert status == 400
    assert sentence in description
    assert (box.control("ledger"), box.control("state")["config"], box.control("faults")) == before


@pytest.mark.parametrize("raw", [b"{", b"\xff", b"nonsense", b'{"advance_ms":NaN}', b"[" * 60_000, b'"x"'])
def test_a_body_that_is_no_json_object_is_a_400(box: InProcessSandbox, raw: bytes) -> None:
    answer = requests.post(f"{box.url}/_sandbox/clock", data=raw, timeout=5)
    assert answer.status_code == 400
    assert "JSON" in answer.json()["error"]["description"]


def test_odd_addresses_and_verbs_are_named(box: InProcessSandbox) -> None:
    status, description = refusal(box, "nothing", {})
    assert status == 404
    assert description.startswith("There is no /_sandbox/nothing; there are state, reset,")
    assert refusal(box, "state", {}) == (405, "/_sandbox/state takes GET.")
    assert refusal(box, "reset", method="GET") == (405, "/_sandbox/reset takes POST.")
    assert refusal(box, "payouts/x", method="GET") == (405, "/_sandbox/payouts/x takes POST.")
    assert refusal(box, "payouts/", {})[0] == 404
    assert refusal(box, "calls?when=now", method="GET")[0] == 400
    assert refusal(box, "calls?since=yesterday", method="GET")[1].startswith("'since' is 'yesterday'")
    assert refusal(box, "chain/mine", {"blocks": 0})[0] == 400


def test_sealed_there_is_no_control_plane() -> None:
    with InProcessSandbox(sealed=True, still=True) as sealed:
        for method, path in (("GET", "state"), ("POST", "reset"), ("DELETE", "faults"), ("POST", "chain/mine")):
            answer = requests.request(method, f"{sealed.url}/_sandbox/{path}", timeout=5)
            assert answer.status_code == 404
            assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
        page = requests.get(sealed.url, timeout=5).text
        assert "_sandbox" not in page
        assert requests.get(f"{sealed.url}/api/2/public/currency/BTC", timeout=5).json()["id"] == "BTC"
