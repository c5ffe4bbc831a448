"""Rate limits: requests a second by group, each caller for itself, 429 in the documented shape (exchange supplement
2.5)."""

import pytest

from exchange_ops.wire import catalogue
from sandbox.server.auth import MOST_CALLERS, SECOND_NS, Limits, group_of
from sandbox.serving import InProcessSandbox
from sandbox.settings.config import DOCUMENTED_RATES, Config
from tests.sandbox.conftest import Client

RATES = {"market": 3, "trading": 4, "other": 2}
REFUSAL = {"error": {"code": 429, "message": "Too many requests", "description": ""}}
PATHS = {
    "market": ["/public/ticker/ETHBTC", "/public/ticker", "/public/candles?limit=1", "/public/symbol"],
    "trading": ["/order", "/trading/balance", "/margin/account", "/margin/position", "/trading/fee/all"],
    "other": ["/account/balance", "/history/order", "/sub-acc", "/account/transactions"],
}
TRADING_PATHS = {"order", "trading", "margin"}


class Watch:
    """A clock in nanoseconds that stands where the test puts it."""

    def __init__(self) -> None:
        self.at_ns = 10**12

    def __call__(self) -> int:
        return self.at_ns


def test_every_operation_is_in_the_documented_group() -> None:
    groups = {operation.name: group_of(operation) for operation in catalogue.OPERATIONS}
    assert {name for name, group in groups.items() if group == "market"} == {
        operation.name for operation in catalogue.OPERATIONS if "/public/" in operation.path
    }
    trading = {operation.name for operation in catalogue.OPERATIONS if operation.path.split("/")[3] in TRADING_PATHS}
    assert {name for name, group in groups.items() if group == "trading"} == trading
    assert groups["get_order_history"] == groups["get_balances"] == groups["get_subaccounts"] == "other"
    assert set(groups.values()) == set(DOCUMENTED_RATES)


def test_off_in_a_fresh_world() -> None:
    assert Config().rate_limits is None
    limits = Limits(Watch())
    assert all(limits.allows("other", "somebody", None) for _ in range(10_000))
    assert all(limits.allows("other", "somebody", {"market": 1}) for _ in range(100))


def test_a_sliding_second_in_which_refused_calls_do_not_count() -> None:
    watch = Watch()
    limits = Limits(watch)
    assert [limits.allows("other", "a", RATES) for _ in range(5)] == [True, True, False, False, False]
    assert limits.allows("other", "b", RATES)
    assert limits.allows("trading", "a", RATES)
    watch.at_ns += SECOND_NS - 1
    assert not limits.allows("other", "a", RATES)
    watch.at_ns += 1
    assert [limits.allows("other", "a", RATES) for _ in range(3)] == [True, True, False]


def test_callers_are_forgotten_when_there_are_too_many() -> None:
    limits = Limits(Watch())
    for number in range(MOST_CALLERS + 2):
        assert limits.allows("other", str(number), RATES)
    assert len(limits._call_times) <= MOST_CALLERS


@pytest.mark.usefixtures("one_second")
@pytest.mark.parametrize("group", RATES)
def test_a_group_is_limited_in_all_its_paths_together(box: InProcessSandbox, client: Client, group: str) -> None:
    box.control("config", {"rate_limits": RATES})
    paths = (PATHS[group] * 3)[: RATES[group]]
    assert [client.call("GET", path).status_code for path in paths] == [200] * len(paths)
    for path in PATHS[group]:
        answer = client.call("GET", path)
        assert (answer.status_code, answer.json()) == (429, REFUSAL)
        assert "Retry-After" not in answer.headers  # the exchange sends none
        assert box.control("calls")["calls"][-1]["executed"] is False
    for other in set(RATES) - {group}:
        assert client.call("GET", PATHS[other][0]).status_code == 200
    if group != "market":
        assert Client(box.url, "other-full").call("GET", PATHS[group][0]).status_code == 200
    box.control("config", {"rate_limits": None})
    assert all(client.call("GET", path).status_code == 200 for path in PATHS[group] * 2)


@pytest.mark.usefixtures("one_second")
def test_all_keys_of_an_account_share_its_rate(box: InProcessSandbox) -> None:
    box.control("config", {"rate_limits": {"trading": 1}})
    assert Client(box.url, "demo-full").call("GET", "/order").status_code == 200
    assert Client(box.url, "demo-trade").call("GET", "/order").status_code == 429


@pytest.mark.usefixtures("one_second")
def test_a_refused_order_is_not_placed(box: InProcessSandbox, client: Client) -> None:
    box.control("config", {"rate_limits": {"trading": 1}})
    form = {"symbol": "ETHBTC", "side": "buy", "quantity": "1", "price": "0.01"}
    assert [client.call("POST", "/order", data=form).status_code for _ in range(3)] == [200, 429, 429]
    box.control("config", {"rate_limits": None})
    assert len(client.call("GET", "/order").json()) == 1


def test_true_means_the_documented_figures(box: InProcessSandbox) -> None:
    answer = box.control("config", {"rate_limits": True})
    assert answer["rate_limits"] == {"market": 100, "trading": 300, "other": 10}
