"""The contract of the exchange's sub-accounts, written from the specification alone: literal addresses and members.

`--target URL` (with `--target-key LOGIN:SECRET`) asks another server the same. It needs an account with at least one
active and one disabled sub-account and one BTC on the bank account; what is moved or frozen is brought back.
"""

import base64
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from sandbox.serving import InProcessSandbox
from tests.sandbox.exchange.accounts.test_contract_account import ADDRESS, Target, error, good

UNKNOWN = 424242


@pytest.fixture(scope="module")
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    """The server at --target, or a sandbox in process."""
    url = request.config.getoption("--target", default=None)
    if url:
        yield Target(url, request.config.getoption("--target-key"))
        return
    with InProcessSandbox(seed=1, still=True) as sandbox:
        yield Target(sandbox.url, "demo-full:demo-full-secret")


def with_status(target: Target, status: str) -> int:
    """The id of a sub-account that is listed with this status."""
    listed = good(target.ask("GET", "/api/2/sub-acc"))["result"]
    return next(int(each["id"]) for each in listed if each["status"] == status)


@pytest.fixture
def active(target: Target) -> Iterator[int]:
    """The id of an active sub-account; it is active again after the test."""
    number = with_status(target, "active")
    yield number
    target.ask("POST", "/api/2/sub-acc/activate", ids=str(number))


def description(answer: Any) -> str:
    text: str = answer.json()["error"]["description"]
    return text


def test_the_list(target: Target) -> None:
    listed = good(target.ask("GET", "/api/2/sub-acc"))
    assert set(listed) == {"result"}
    for each in listed["result"]:
        assert isinstance(each["id"], int)
        assert isinstance(each["email"], str)
        assert each["status"] in {"new", "active", "disable"}
    assert error(target.ask("GET", "/api/2/sub-acc", anonymous=True)) == (401, 1001)


def test_freeze_and_activate(target: Target, active: int) -> None:
    assert good(target.ask("POST", "/api/2/sub-acc/freeze", ids=str(active))) == {"result": True}
    again = target.ask("POST", "/api/2/sub-acc/freeze", ids=str(active))
    assert error(again) == (500, 500)
    assert again.json()["error"]["message"] == "Internal Server Error"
    assert description(again) == f"account {active} already freeze or disabled"
    assert good(target.ask("GET", f"/api/2/sub-acc/acl?subAccountIds={active}")) == {"result": []}
    assert good(target.ask("POST", "/api/2/sub-acc/activate", ids=str(active))) == {"result": True}
    statuses = {each["id"]: each["status"] for each in good(target.ask("GET", "/api/2/sub-acc"))["result"]}
    assert statuses[active] == "active"


def test_a_disabled_one_is_not_activated(target: Target) -> None:
    disabled = with_status(target, "disable")
    assert good(target.ask("POST", "/api/2/sub-acc/activate", ids=str(disabled))) == {"result": False}


def test_missing_and_unknown_ids(target: Target, active: int) -> None:
    for action in ("freeze", "activate"):
        missing = target.ask("POST", f"/api/2/sub-acc/{action}")
        assert error(missing) == (400, 10001)
        assert missing.json()["error"]["message"] == "Validation error"
        assert description(missing) == "Param 'ids' required"
        unknown = target.ask("POST", f"/api/2/sub-acc/{action}", ids=f"{active},{UNKNOWN}")
        assert error(unknown) == (500, 500)
        assert description(unknown) == f"Cannot find sub account {UNKNOWN}"
    assert with_status(target, "active") == active


def test_a_transfer_there_and_back(target: Target, active: int) -> None:
    def bank() -> Decimal:
        rows = good(target.ask("GET", "/api/2/account/balance"))
        return next(Decimal(row["available"]) for row in rows if row["currency"] == "BTC")

    before = bank()
    form = {"subAccountId": str(active), "amount": "0.5", "currency": "BTC"}
    made = good(target.ask("POST", "/api/2/sub-acc/transfer", type="deposit", **form))
    assert set(made) == {"result"}
    assert bank() == before - Decimal("0.5")
    theirs = good(target.ask("GET", f"/api/2/sub-acc/balance/{active}"))["result"]
    assert set(theirs) == {"main", "trading"}
    assert any(row["currency"] == "BTC" and Decimal(row["available"]) >= Decimal("0.5") for row in theirs["main"])
    listed = good(target.ask("GET", f"/api/2/account/transactions/{made['result']}"))
    assert listed["id"] == made["result"]
    assert isinstance(good(target.ask("POST", "/api/2/sub-acc/transfer", type="withdraw", **form))["result"], str)
    assert bank() == before


def test_transfers_that_are_refused(target: Target, active: int) -> None:
    form = {"subAccountId": str(active), "amount": "1", "currency": "BTC", "type": "deposit"}
    assert error(target.ask("POST", "/api/2/sub-acc/transfer", **(form | {"amount": "99999999"}))) == (400, 20001)
    assert error(target.ask("POST", "/api/2/sub-acc/transfer", **(form | {"currency": "NOSUCH"}))) == (400, 2002)
    assert error(target.ask("POST", "/api/2/sub-acc/transfer", **(form | {"type": "gift"}))) == (400, 10001)
    for name in form:
        short = {key: value for key, value in form.items() if key != name}
        assert error(target.ask("POST", "/api/2/sub-acc/transfer", **short)) == (400, 10001), name
    closed = target.ask(
        "POST", "/api/2/sub-acc/transfer", **(form | {"subAccountId": str(with_status(target, "disable"))})
    )
    assert error(closed) == (500, 500)
    assert description(closed) == "Bad Request"


def test_the_withdrawal_setting(target: Target, active: int) -> None:
    (before,) = good(target.ask("GET", f"/api/2/sub-acc/acl?subAccountIds={active}"))["result"]
    assert before["subAccountId"] == active
    assert isinstance(before["isPayoutEnabled"], bool)
    flipped = "false" if before["isPayoutEnabled"] else "true"
    changed = good(target.ask("PUT", f"/api/2/sub-acc/acl/{active}", isPayoutEnabled=flipped, description="contract"))
    assert changed["result"][0]["isPayoutEnabled"] is not before["isPayoutEnabled"]
    assert changed["result"][0]["description"] == "contract"
    target.ask(
        "PUT",
        f"/api/2/sub-acc/acl/{active}",
        isPayoutEnabled=str(before["isPayoutEnabled"]).lower(),
        description=before.get("description", ""),
    )
    assert good(target.ask("GET", f"/api/2/sub-acc/acl?subAccountIds={active}"))["result"] == [before]
    disabled = with_status(target, "disable")
    refused = target.ask("PUT", f"/api/2/sub-acc/acl/{disabled}", isPayoutEnabled="true")
    assert error(refused) == (400, 10021)


def test_balances_and_addresses_of_any_state(target: Target) -> None:
    for status in ("active", "disable"):
        number = with_status(target, status)
        balances = good(target.ask("GET", f"/api/2/sub-acc/balance/{number}"))["result"]
        assert all(set(row) == {"currency", "available", "reserved"} for row in balances["main"])
        address = good(target.ask("GET", f"/api/2/sub-acc/deposit-address/{number}/BTC"))["result"]
        assert isinstance(address["address"], str)
    assert error(target.ask("GET", f"/api/2/sub-acc/balance/{UNKNOWN}")) == (500, 500)


# The sandbox's own keys -----------------------------------------------------------------------------------------------


@pytest.fixture
def in_process(request: pytest.FixtureRequest, target: Target) -> Target:
    """The target, when it is the sandbox with its seeded keys."""
    if request.config.getoption("--target", default=None):
        pytest.skip("needs keys with fewer rights")
    return target


@pytest.mark.parametrize(
    ("login", "transfer", "settings"),
    [("demo-trade", 403, 403), ("demo-read", 403, 200), ("demo-withdraw", 200, 200)],
)
def test_the_rights(in_process: Target, login: str, transfer: int, settings: int) -> None:
    theirs = Target(in_process.url, f"{login}:{login}-secret")
    number = with_status(theirs, "active")
    assert good(theirs.ask("POST", "/api/2/sub-acc/freeze", ids=str(number))) == {"result": True}
    assert good(theirs.ask("POST", "/api/2/sub-acc/activate", ids=str(number))) == {"result": True}
    form = {"subAccountId": str(number), "amount": "0.1", "currency": "BTC"}
    moved = theirs.ask("POST", "/api/2/sub-acc/transfer", type="deposit", **form)
    assert moved.status_code == transfer
    if transfer == 200:
        theirs.ask("POST", "/api/2/sub-acc/transfer", type="withdraw", **form)
    for path in (
        f"/api/2/sub-acc/acl?subAccountIds={number}",
        f"/api/2/sub-acc/balance/{number}",
        f"/api/2/sub-acc/deposit-address/{number}/BTC",
    ):
        assert theirs.ask("GET", path).status_code == settings
    answer = theirs.ask("PUT", f"/api/2/sub-acc/acl/{number}", description="Trading")
    assert answer.status_code == settings
    if settings == 403:
        assert error(answer) == (403, 1003)


def test_the_key_of_a_frozen_one_opens_nothing(in_process: Target, active: int) -> None:
    theirs = Target(in_process.url, "sub-full:sub-full-secret")
    assert good(theirs.ask("GET", "/api/2/sub-acc")) == {"result": []}
    good(in_process.ask("POST", "/api/2/sub-acc/freeze", ids=str(active)))
    assert error(theirs.ask("GET", "/api/2/account/balance")) == (401, 403)
    payout = theirs.ask("POST", "/api/2/account/crypto/withdraw", currency="BTC", amount="1", address=ADDRESS)
    assert error(payout) == (401, 403)
    good(in_process.ask("POST", "/api/2/sub-acc/activate", ids=str(active)))
    assert good(theirs.ask("GET", "/api/2/account/balance"))


def test_an_unreadable_key_is_no_key(target: Target) -> None:
    odd = base64.b64encode(b"demo-full").decode()
    assert error(Target(target.url, f"{odd}:x").ask("POST", "/api/2/sub-acc/freeze", ids="7001")) == (401, 1002)
