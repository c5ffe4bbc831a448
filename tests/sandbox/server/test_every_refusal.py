"""The whole error catalogue over HTTP: for every code, what a client does to be answered with it.

Codes for which no request of this interface exists come from the fault plane; they are listed as such.
"""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
import requests

from exchange_ops.wire.refusals import CATALOGUE, OTHER_MESSAGES
from sandbox.serving import InProcessSandbox
from tests.sandbox.conftest import Client

Case = Callable[[InProcessSandbox, Client], requests.Response]
CASES: dict[int, Case] = {}
# An exchange that fails, is closed, or is slow; and what only the real one's insides can bring about.
BY_FAULT = {503, 504, 20014, 20080}
ADDRESS = "1BoatSLRHtKNngkdXEeobR76b53LETtpyT"
ORDER = {"symbol": "ETHBTC", "side": "buy", "quantity": "1", "price": "0.01"}


def provokes(code: int) -> Callable[[Case], Case]:
    """Marks the function that shows how a client is answered with the code."""

    def mark(case: Case) -> Case:
        assert code not in CASES
        CASES[code] = case
        return case

    return mark


def order(client: Client, **changes: object) -> requests.Response:
    """A limit order that rests, with some of its members changed; None leaves one out."""
    form = ORDER | changes
    return client.call("POST", "/order", data={name: value for name, value in form.items() if value is not None})


def held(client: Client) -> str:
    """The id of a withdrawal on hold."""
    form = {"currency": "BTC", "amount": "1", "address": ADDRESS, "autoCommit": "false"}
    return str(client.call("POST", "/account/crypto/withdraw", data=form).json()["id"])


def faulty(box: InProcessSandbox, client: Client, **fault: object) -> requests.Response:
    box.control("faults", {"operation": "create_order"} | fault)
    return order(client)


# Access --------------------------------------------------------------------------------------------------------------


@provokes(403)
def a_frozen_sub_account_calls(box: InProcessSandbox, client: Client) -> requests.Response:
    assert client.call("POST", "/sub-acc/freeze", data={"ids": "7001"}).json() == {"result": True}
    return Client(box.url, "sub-full").call("GET", "/trading/balance")


@provokes(429)
def too_many_calls_in_a_second(box: InProcessSandbox, client: Client) -> requests.Response:
    box.control("config", {"rate_limits": {"trading": 2}})
    assert [client.call("GET", "/order").status_code for _ in range(2)] == [200, 200]
    return client.call("GET", "/order")


@provokes(1001)
def no_credentials(box: InProcessSandbox, client: Client) -> requests.Response:
    return client.call("GET", "/order", auth=None)


@provokes(1002)
def a_wrong_secret(box: InProcessSandbox, client: Client) -> requests.Response:
    return client.call("GET", "/order", auth=("demo-full", "guessed"))


@provokes(1003)
def a_key_without_the_right(box: InProcessSandbox, client: Client) -> requests.Response:
    return Client(box.url, "demo-read").call("GET", "/order")


@provokes(1004)
def another_method(box: InProcessSandbox, client: Client) -> requests.Response:
    return client.call("GET", "/order", auth=None, headers={"Authorization": "Bearer abc"})


# The exchange itself --------------------------------------------------------------------------------------------------


@provokes(500)
def an_unknown_sub_account_is_frozen(box: InProcessSandbox, client: Client) -> requests.Response:
    return client.call("POST", "/sub-acc/freeze", data={"ids": "7999"})


@provokes(503)
def the_exchange_is_closed(box: InProcessSandbox, client: Client) -> requests.Response:
    return faulty(box, client, kind="status", status=503)


@provokes(504)
def nobody_answers_in_time(box: InProcessSandbox, client: Client) -> requests.Response:
    answer = faulty(box, client, kind="status", status=504, executes=True)
    assert len(client.call("GET", "/order").json()) == 1  # and the order may be there all the same
    return answer


@provokes(600)
def a_closed_wallet(box: InProcessSandbox, client: Client) -> requests.Response:
    return client.call("POST", "/account/crypto/address/DDF")


# What is asked for ----------------------------------------------------------------------------------------------------


@provokes(2001)
def an_unknown_symbol(box: InProcessSandbox, client: Client) -> requests.Response:
    return client.call("GET", "/public/ticker/NOPE")


@provokes(2002)
def an_unknown_currency(box: InProcessSandbox, client: Client) -> requests.Response:
    return client.call("GET", "/public/currency/NOPE")


@provokes(2010)
def a_quantity_that_is_no_number(box: InProcessSandbox, client: Client) -> requests.Response:
    return order(client, quantity="many")


@provokes(2011)
def a_quantity_below_the_increment(box: InProcessSandbox, client: Client) -> requests.Response:
    return order(client, quantity="0.00001")


@provokes(2012)
def a_quantity_between_increments(box: InProcessSandbox, client: Client) -> requests.Response:
    return order(client, quantity="1.00001", strictValidate="true")


@provokes(2020)
def a_limit_order_without_a_price(box: InProcessSandbox, client: Client) -> requests.Response:
    return order(client, price=None)


@provokes(2021)
def a_price_below_the_tick(box: InProcessSandbox, client: Client) -> requests.Response:
    return order(client, price="0.0000001")


@provokes(2022)
def a_price_between_ticks(box: InProcessSandbox, client: Client) -> requests.Response:
    return order(client, price="0.0100001", strictValidate="true")


@provokes(10001)
def a_parameter_is_missing(box: InProcessSandbox, client: Client) -> requests.Response:
    return client.call("POST", "/sub-acc/freeze")


@provokes(10021)
def settings_of_a_disabled_sub_account(box: InProcessSandbox, client: Client) -> requests.Response:
    return client.call("PUT", "/sub-acc/acl/7004", data={"isPayoutEnabled": "true"})


# Money and orders -----------------------------------------------------------------------------------------------------


@provokes(20001)
def more_than_there_is(box: InProcessSandbox, client: Client) -> requests.Response:
    return order(client, quantity="1000000")


@provokes(20002)
def an_order_that_is_over(box: InProcessSandbox, client: Client) -> requests.Response:
    client_id = order(client).json()["clientOrderId"]
    assert client.call("DELETE", f"/order/{client_id}").status_code == 200
    return client.call("DELETE", f"/order/{client_id}")


@provokes(20003)
def a_sixth_new_address_in_a_day(box: InProcessSandbox, client: Client) -> requests.Response:
    for _ in range(5):
        assert client.call("POST", "/account/crypto/address/LTC").status_code == 200
    return client.call("POST", "/account/crypto/address/LTC")


@provokes(20004)
def an_unknown_transaction(box: InProcessSandbox, client: Client) -> requests.Response:
    return client.call("GET", "/account/transactions/nosuch")


@provokes(20005)
def an_unknown_withdrawal(box: InProcessSandbox, client: Client) -> requests.Response:
    return client.call("PUT", "/account/crypto/withdraw/nosuch")


@provokes(20006)
def a_rollback_after_the_commit(box: InProcessSandbox, client: Client) -> requests.Response:
    path = f"/account/crypto/withdraw/{held(client)}"
    assert client.call("PUT", path).json() == {"result": True}
    return client.call("DELETE", path)


@provokes(20007)
def a_commit_after_the_rollback(box: InProcessSandbox, client: Client) -> requests.Response:
    path = f"/account/crypto/withdraw/{held(client)}"
    assert client.call("DELETE", path).json() == {"result": True}
    return client.call("PUT", path)


@provokes(20008)
def the_same_id_twice_in_a_day(box: InProcessSandbox, client: Client) -> requests.Response:
    assert order(client, clientOrderId="once").status_code == 200
    return order(client, clientOrderId="once")


@provokes(20009)
def a_replacement_that_changes_nothing(box: InProcessSandbox, client: Client) -> requests.Response:
    order(client, clientOrderId="same")
    change = {"quantity": "1", "price": "0.01", "requestClientId": "next"}
    return client.call("PATCH", "/order/same", data=change)


@provokes(20014)
def no_way_inside_the_exchange(box: InProcessSandbox, client: Client) -> requests.Response:
    return faulty(box, client, kind="refuse", code=20014)


@provokes(20080)
def the_engine_is_too_slow(box: InProcessSandbox, client: Client) -> requests.Response:
    return faulty(box, client, kind="refuse", code=20080)


# Margin --------------------------------------------------------------------------------------------------------------


def margin(client: Client, path: str, method: str = "GET", **form: object) -> requests.Response:
    return client.call(method, f"/margin/{path}", data=form)


def position(box: InProcessSandbox, client: Client) -> dict[str, Any]:
    """A position of 10 ETH at 0.05, bought from somebody else, on a balance of 0.06."""
    margin(client, "account/ETHBTC", "PUT", marginBalance="0.06")
    order(Client(box.url, "other-full"), side="sell", quantity="10", price="0.05")
    bought = margin(client, "order", "POST", symbol="ETHBTC", side="buy", quantity="10", price="0.05")
    assert bought.json()["status"] == "filled", bought.text
    found: dict[str, Any] = margin(client, "position/ETHBTC").json()
    return found


@provokes(20010)
def nobody_takes_the_position(box: InProcessSandbox, client: Client) -> requests.Response:
    position(box, client)
    return margin(client, "position/ETHBTC", "DELETE")


@provokes(20032)
def no_margin_account(box: InProcessSandbox, client: Client) -> requests.Response:
    return margin(client, "order", "POST", **ORDER)


@provokes(20033)
def the_balance_is_that_already(box: InProcessSandbox, client: Client) -> requests.Response:
    margin(client, "account/ETHBTC", "PUT", marginBalance="0.5")
    return margin(client, "account/ETHBTC", "PUT", marginBalance="0.5")


@provokes(20034)
def more_of_a_position_past_its_margin_call(box: InProcessSandbox, client: Client) -> requests.Response:
    price = Decimal(position(box, client)["priceMarginCall"]) - Decimal("0.000001")
    other = Client(box.url, "other-full")
    for side in ("buy", "sell"):
        order(other, side=side, quantity="0.0001", price=str(price))
    return margin(client, "order", "POST", symbol="ETHBTC", side="buy", quantity="0.1", price="0.04")


@provokes(20040)
def a_symbol_without_margin(box: InProcessSandbox, client: Client) -> requests.Response:
    return margin(client, "account/ETHEUR", "PUT", marginBalance="1")


# The catalogue --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", sorted(CATALOGUE))
def test_every_code_of_the_catalogue_is_answered_over_http(code: int, box: InProcessSandbox, client: Client) -> None:
    assert code in CASES, f"nobody shows how a client is answered with {code}"
    answer = CASES[code](box, client)
    row, body = CATALOGUE[code], answer.json()
    assert set(body) == {"error"}
    assert (answer.status_code, body["error"]["code"]) == (row.http_status, code)
    assert answer.headers["Content-Type"] == "application/json; charset=utf-8"
    assert body["error"]["message"] in {row.message, *OTHER_MESSAGES.get(code, ())}
    assert isinstance(body["error"]["description"], str)
    faults = [call["fault"] for call in box.control("calls")["calls"] if call.get("fault")]
    assert bool(faults) is (code in BY_FAULT)


def test_no_case_is_for_a_code_that_the_catalogue_lacks() -> None:
    assert set(CASES) == set(CATALOGUE)
    assert BY_FAULT < set(CASES)


@pytest.mark.parametrize("code", sorted(set(CATALOGUE) - BY_FAULT - {429}))
def test_a_refused_call_changes_no_money(code: int, box: InProcessSandbox, client: Client) -> None:
    """The last call of each case, made once more, leaves the ledger as it is."""
    CASES[code](box, client)
    before = box.control("ledger")
    sent = box.control("calls")["calls"][-1]
    assert sent["executed"] is False
    again = requests.request(
        sent["method"],
        box.url + sent["path"],
        data=[tuple(pair) for pair in sent["form"]] if isinstance(sent["form"], list) else sent["form"],
        auth=client.auth,
        timeout=10,
    )
    assert again.status_code in {200, CATALOGUE[code].http_status}
    assert before["balanced"] is True
    assert box.control("ledger")["balanced"] is True
    if again.status_code != 200:
        assert box.control("ledger") == before
