"""Orders over HTTP: how their parameters arrive, which right they need, which code refuses what, and long polling."""

import threading
import time
from typing import Any

import pytest
import requests

from sandbox.exchange.trading import orders_house
from sandbox.serving import InProcessSandbox
from tests.bounds import stretched
from tests.sandbox.conftest import Client
from tests.sandbox.trading import without_traders

NO_QUANTITY = "Quantity not a valid number or not set"
SALE = {"symbol": "ETHBTC", "side": "sell", "quantity": "0.5", "price": "0.9"}


@pytest.fixture(autouse=True)
def quiet(box: InProcessSandbox) -> None:
    """Nobody trades but who is asked to."""
    box.inside(lambda: without_traders(box.world))


def good(answer: requests.Response) -> Any:
    """The JSON of an answer that says yes."""
    assert answer.status_code == 200, answer.text
    return answer.json()


def error(answer: requests.Response) -> tuple[int, int, str]:
    """HTTP status, code and description."""
    body = answer.json()["error"]
    return answer.status_code, body["code"], body["description"]


def met_by_trader(box: InProcessSandbox, side: str, price: int, quantity: int) -> None:
    """A simulated trader's order in ticks and increments."""

    def act() -> None:
        orders_house.offer(box.world.exchange, "ETHBTC", side, price, quantity)
        box.world.run_due()

    box.inside(act)


# How parameters arrive ------------------------------------------------------------------------------------------------


def test_forms_and_json_with_texts_and_numbers(client: Client) -> None:
    number = dict(SALE, symbol="ethbtc", quantity=0.5, price=0.9, strictValidate=True, postOnly="True", unknown="x")
    for more in ({"data": SALE}, {"json": SALE}, {"json": number}):
        made = good(client.call("POST", "/order", **more))
        assert (made["status"], made["quantity"], made["price"]) == ("new", "0.5000", "0.900000")
        assert isinstance(made["id"], int)
        assert len(made["clientOrderId"]) == 32
    assert len(good(client.call("GET", "/order/?symbol=ethbtc"))) == 3


def test_put_takes_its_parameters_from_query_or_form_and_the_id_from_the_path(client: Client) -> None:
    form = SALE | {"timeInForce": "GTC"}
    assert good(client.call("PUT", "/order/one", params=form))["clientOrderId"] == "one"
    assert good(client.call("PUT", "/order/two", data=form))["clientOrderId"] == "two"
    assert (
        good(client.call("PUT", "/order/a.b_c-1", json=form | {"clientOrderId": "other"}))["clientOrderId"] == "a.b_c-1"
    )
    assert error(client.call("PUT", "/order/one", data=form)) == (
        400,
        20008,
        "ClientOrderId must be unique during trading session",
    )
    assert error(client.call("PUT", "/order/three", data=SALE)) == (400, 10001, "Param 'timeInForce' required")
    assert client.call("PUT", "/order/", data=form).status_code == 404


def test_cancel_and_replace(client: Client) -> None:
    good(client.call("POST", "/order", data=SALE | {"clientOrderId": "a"}))
    new = good(client.call("PATCH", "/order/a", data={"quantity": "0.4", "price": "0.8", "requestClientId": "b"}))
    assert (new["clientOrderId"], new["quantity"], new["price"], new["status"]) == ("b", "0.4000", "0.800000", "new")
    assert error(client.call("PATCH", "/order/a", data={"quantity": "1", "requestClientId": "c"})) == (400, 20002, "")
    assert error(client.call("PATCH", "/order/b", data={"quantity": "0.4", "requestClientId": "c"}))[1] == 20009
    assert error(client.call("PATCH", "/order/b", data={"quantity": "1"})) == (
        400,
        10001,
        "Param 'requestClientId' required",
    )
    assert good(client.call("DELETE", "/order/b"))["status"] == "canceled"
    assert error(client.call("DELETE", "/order/b")) == (400, 20002, "")
    good(client.call("POST", "/order", data=SALE))
    assert good(client.call("DELETE", "/order", data={"symbol": "EOSETH"})) == []
    assert len(good(client.call("DELETE", "/order?symbol=ethbtc"))) == 1


def test_a_market_order_without_a_time_in_force_is_immediate(client: Client, box: InProcessSandbox) -> None:
    met_by_trader(box, "sell", 1_000, 10_000)
    made = good(
        client.call("POST", "/order", data={"symbol": "ETHBTC", "side": "buy", "quantity": "1", "type": "market"})
    )
    assert (made["status"], made["timeInForce"]) == ("filled", "IOC")
    assert set(made["tradesReport"][0]) == {"id", "quantity", "price", "fee", "timestamp"}


@pytest.mark.parametrize(
    ("odd", "code", "description"),
    [
        *(({"quantity": odd}, 2010, NO_QUANTITY) for odd in ("", "abc", "NaN", "1e999", "-1")),
        ({"quantity": "0.00001"}, 2011, "Minimum quantity 0.0001"),
        *(({"price": odd}, 2020, "") for odd in ("", "abc", "NaN", "0", "Infinity")),
        ({"price": "0.0000001"}, 2021, "Minimum price 0.000001"),
        ({"type": "stopLimit", "stopPrice": "abc"}, 2022, ""),
        ({"type": "stopLimit", "stopPrice": ""}, 10001, "Param 'stopPrice' required"),
        ({"symbol": "NONE"}, 2001, "Try get /api/2/public/symbol, to get list of all available symbols."),
        ({"symbol": ""}, 10001, "Param 'symbol' required"),
        ({"side": "both"}, 10001, "Param 'side' is not one of the choices: sell, buy"),
        ({"clientOrderId": "x" * 33}, 10001, "Param 'clientOrderId' is too long: at most 32 characters"),
        ({"clientOrderId": "a b"}, 10001, "Fields are not valid: clientOrderId"),
        ({"expireTime": "yesterday"}, 10001, "Param 'expireTime' can't be read: not an ISO 8601 date and time"),
        ({"quantity": "1000000"}, 20001, "Check that the funds are sufficient, given commissions"),
    ],
)  # fmt: skip
def test_odd_orders_are_refused_as_documented(
    client: Client, box: InProcessSandbox, odd: dict[str, str], code: int, description: str
) -> None:
    before = box.control("ledger")
    for method, path in (("POST", "/order"), ("PUT", "/order/put-id")):
        form = SALE | {"timeInForce": "GTC"} | odd
        if method == "PUT" and "clientOrderId" in odd:
            continue
        assert error(client.call(method, path, data=form)) == (400, code, description)
        assert error(client.call(method, path, json=form)) == (400, code, description)
    assert box.control("ledger") == before
    assert good(client.call("GET", "/order")) == []


def test_missing_numbers_have_the_codes_of_odd_ones(client: Client) -> None:
    for name, code in (("quantity", 2010), ("price", 2020), ("side", 10001)):
        form = {key: value for key, value in SALE.items() if key != name}
        assert error(client.call("POST", "/order", data=form))[1] == code
    assert error(client.call("PATCH", "/order/x", data={"requestClientId": "y"}))[1] == 2010


# Rights --------------------------------------------------------------------------------------------------------------


def test_orders_need_their_right_and_histories_theirs(box: InProcessSandbox) -> None:
    ordering = (("GET", "/order"), ("POST", "/order"), ("DELETE", "/order"), ("GET", "/order/a"), ("PUT", "/order/a"))
    ordering += (
        ("DELETE", "/order/a"),
        ("PATCH", "/order/a"),
        ("GET", "/trading/fee/ETHBTC"),
        ("GET", "/trading/fee/all"),
    )
    history = (("GET", "/history/order"), ("GET", "/history/trades"), ("GET", "/history/order/1/trades"))
    for method, path in (*ordering, *history):
        assert error(requests.request(method, f"{box.url}/api/2{path}", timeout=5))[:2] == (401, 1001)
        for login, allowed in (("demo-withdraw", ()), ("demo-read", history), ("demo-trade", (*ordering, *history))):
            answer = Client(box.url, login).call(method, path, data=SALE)
            if (method, path) in allowed:
                assert answer.status_code in (200, 400), answer.text
            else:
                assert error(answer)[:2] == (403, 1003)


def test_rates_and_histories_have_their_addresses(client: Client) -> None:
    one = good(client.call("GET", "/trading/fee/ethbtc"))
    assert one == {"takeLiquidityRate": "0.0025", "provideLiquidityRate": "0.001"}
    assert {"symbol": "ETHBTC"} | one in good(client.call("GET", "/trading/fee/all"))
    assert good(client.call("GET", "/history/order")) == good(client.call("GET", "/history/trades/")) == []
    assert good(client.call("GET", "/history/order/12345/trades")) == []
    good(client.call("POST", "/order", data=SALE | {"clientOrderId": "mine"}))
    overridden = "/history/order?clientOrderId=mine&limit=9999&offset=-1&symbol=NONE&from=never"
    assert [each["clientOrderId"] for each in good(client.call("GET", overridden))] == ["mine"]
    assert good(client.call("GET", "/history/order?clientOrderId=nobody&limit=9999")) == []
    assert error(client.call("GET", "/history/order?clientOrderId=&limit=9999"))[1] == 10001


# Long polling --------------------------------------------------------------------------------------------------------


def timed(client: Client, path: str) -> tuple[requests.Response, int]:
    """An answer, and how many milliseconds it took."""
    began = time.monotonic_ns()
    answer = client.call("GET", path)
    return answer, (time.monotonic_ns() - began) // 1_000_000


def test_an_order_that_does_not_change_is_told_after_the_wait(client: Client) -> None:
    good(client.call("POST", "/order", data=SALE | {"clientOrderId": "a"}))
    answer, took_ms = timed(client, "/order/a?wait=400")
    assert good(answer)["status"] == "new"
    assert 400 <= took_ms < stretched(5_000)
    _, took_ms = timed(client, "/order/a?wait=0")
    assert took_ms < stretched(400)


@pytest.mark.parametrize("how", ["filled", "canceled", "expired"])
def test_an_order_that_ends_is_told_at_once(client: Client, box: InProcessSandbox, how: str) -> None:
    good(client.call("POST", "/order", data=SALE | {"clientOrderId": "a", "timeInForce": "Day"}))
    midnight_ms = 86_400_000 - box.world.clock.now_ms() % 86_400_000
    ends = {
        "filled": lambda: met_by_trader(box, "buy", 900_000, 5_000),
        "canceled": lambda: client.call("DELETE", "/order/a"),
        "expired": lambda: box.control("clock", {"advance_ms": midnight_ms}),
    }
    threading.Timer(0.3, ends[how]).start()
    answer, took_ms = timed(client, "/order/a?wait=20000")
    assert (good(answer)["status"], good(answer)["clientOrderId"]) == (how, "a")
    assert 200 <= took_ms < stretched(10_000)


def test_a_partial_fill_does_not_end_the_wait_and_is_told_after_it(client: Client, box: InProcessSandbox) -> None:
    good(client.call("POST", "/order", data=SALE | {"clientOrderId": "a"}))
    threading.Timer(0.1, lambda: met_by_trader(box, "buy", 900_000, 1_000)).start()
    answer, took_ms = timed(client, "/order/a?wait=700")
    assert (good(answer)["status"], good(answer)["cumQuantity"]) == ("partiallyFilled", "0.1000")
    assert took_ms >= 700


def test_an_order_that_has_just_ended_is_found_by_who_waits(client: Client, box: InProcessSandbox) -> None:
    good(client.call("POST", "/order", data=SALE | {"clientOrderId": "a"}))
    good(client.call("DELETE", "/order/a"))
    assert error(client.call("GET", "/order/a"))[1] == 20002
    answer, took_ms = timed(client, "/order/a?wait=5000")
    assert (good(answer)["status"], took_ms < stretched(3_000)) == ("canceled", True)
    box.control("clock", {"advance_ms": 60_001})
    assert error(client.call("GET", "/order/a?wait=5000"))[1] == 20002


def test_a_wait_that_is_not_right_or_for_nobody_is_answered_at_once(client: Client, box: InProcessSandbox) -> None:
    for wait in ("60001", "-1", "soon", "1.5", "NaN"):
        assert error(client.call("GET", f"/order/a?wait={wait}"))[:2] == (400, 10001)
    _, took_ms = timed(client, "/order/unknown?wait=5000")
    assert took_ms < stretched(3_000)
    anonymous = requests.get(f"{box.url}/api/2/order/a?wait=5000", timeout=3)
    assert error(anonymous)[1] == 1001


def test_many_wait_while_others_are_served(client: Client, box: InProcessSandbox) -> None:
    for number in range(10):
        good(client.call("POST", "/order", data=SALE | {"clientOrderId": f"w{number}"}))
    answers: list[Any] = []
    waiting = [
        threading.Thread(
            target=lambda path=f"/order/w{number}?wait=20000": answers.append(good(client.call("GET", path)))
        )
        for number in range(10)
    ]
    for thread in waiting:
        thread.start()
    time.sleep(0.3)
    assert len(good(client.call("GET", "/order"))) == 10
    assert answers == []
    good(client.call("DELETE", "/order"))
    for thread in waiting:
        thread.join(10)
    assert [each["status"] for each in answers] == ["canceled"] * 10


def test_who_hangs_up_while_waiting_harms_nobody(box: InProcessSandbox, client: Client) -> None:
    good(client.call("POST", "/order", data=SALE | {"clientOrderId": "a"}))
    with pytest.raises(requests.Timeout):
        client.call("GET", "/order/a?wait=5000", timeout=0.2)
    assert good(client.call("DELETE", "/order/a"))["status"] == "canceled"
    assert box.world.ledger()["balanced"] is True
