"""Who may call what: every row of the catalogue with every key, with none, with a wrong one, with another scheme.

The rights are written here once more, from the documents alone (exchange REST, Endpoints; exchange supplement 2.4), so
that a wrong right in the catalogue shows.
"""

import base64
import hashlib
import hmac
import time
from collections.abc import Iterator

import pytest

from exchange_ops.wire import catalogue
from sandbox.serving import InProcessSandbox
from tests.sandbox.prepared import Answered, Prepared, basic
from wire.operation import Operation

ORDERS, HISTORY = "Place/cancel orders", "Orderbook, History, Trading balance"
PAYMENTS, WITHDRAW = "Payment information", "Withdraw cryptocurrencies"
ANY_KEY, NOBODY = "any valid key", "no key"
# The first that a path begins with counts.
DOCUMENTED = (
    ("/api/2/public/", NOBODY),
    ("/api/2/order", ORDERS),
    ("/api/2/trading/fee/", ORDERS),
    ("/api/2/margin/account", ORDERS),
    ("/api/2/margin/position", ORDERS),
    ("/api/2/margin/order", ORDERS),
    ("/api/2/trading/balance", HISTORY),
    ("/api/2/history/", HISTORY),
    ("/api/2/account/crypto/withdraw", WITHDRAW),
    ("/api/2/account/crypto/estimate-withdraw", WITHDRAW),
    ("/api/2/account/transfer/internal", WITHDRAW),
    ("/api/2/sub-acc/transfer", WITHDRAW),
    ("/api/2/account/", PAYMENTS),
    ("/api/2/sub-acc/acl", PAYMENTS),
    ("/api/2/sub-acc/balance/", PAYMENTS),
    ("/api/2/sub-acc/deposit-address/", PAYMENTS),
    ("/api/2/sub-acc", ANY_KEY),
)
KEYS = {
    "demo-full": {ORDERS, HISTORY, PAYMENTS, WITHDRAW},
    "demo-trade": {ORDERS, HISTORY},
    "demo-read": {HISTORY, PAYMENTS},
    "demo-withdraw": {PAYMENTS, WITHDRAW},
}
OPERATIONS = pytest.mark.parametrize("operation", catalogue.OPERATIONS, ids=lambda operation: operation.name)
SIGNED = pytest.mark.parametrize(
    "operation",
    [operation for operation in catalogue.OPERATIONS if not operation.path.startswith("/api/2/public/")],
    ids=lambda operation: operation.name,
)


def documented_right(operation: Operation) -> str:
    """The right that the documents name for the path."""
    return next(right for start, right in DOCUMENTED if operation.path.startswith(start))


@pytest.fixture(scope="module")
def prepared() -> Iterator[Prepared]:
    """One sandbox for all tests of the module."""
    with InProcessSandbox(seed=1, still=True, payout_seconds=0) as box:
        made = Prepared(box)
        yield made
        made.close()


def refusal(answer: Answered) -> tuple[int, int, str]:
    """Status, code and message of a refusal."""
    return answer.status, answer.error["code"], answer.error["message"]


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def hs256(operation: Operation, secret: str) -> str:
    """The header of demo-full, signed with this secret."""
    timestamp = str(int(time.time()))
    message = f"{operation.method}{timestamp}{operation.path}".encode()
    return "HS256 " + encoded(f"demo-full:{timestamp}:{hmac.new(secret.encode(), message, hashlib.sha256).hexdigest()}")


@OPERATIONS
def test_the_catalogue_asks_for_the_documented_right(operation: Operation) -> None:
    right = documented_right(operation)
    assert operation.public is (right == NOBODY)
    assert (operation.right.value if operation.right else None) == (right if right not in (ANY_KEY, NOBODY) else None)


@SIGNED
def test_without_a_key_1001_and_with_another_scheme_1004(prepared: Prepared, operation: Operation) -> None:
    for arguments in (prepared.good(operation), _path_alone(prepared, operation)):
        for nothing in (None, ""):
            answer = prepared.ask(operation, arguments, authorization=nothing)
            assert refusal(answer) == (401, 1001, "Authorization required")
        for scheme in ("Bearer abc", "Digest username=demo-full", "HS512 " + encoded("demo-full:1:x"), "demo-full"):
            answer = prepared.ask(operation, arguments, authorization=scheme)
            assert refusal(answer) == (401, 1004, "Unsupported authorization method")
    prepared.must_be_unchanged()


@SIGNED
def test_with_what_proves_nothing_1002(prepared: Prepared, operation: Operation) -> None:
    wrong = (
        basic("demo-full", "demo-full-secre"),
        basic("demo-full", ""),
        basic("demo-full", "other-full-secret"),
        basic("nobody"),
        basic("", "demo-full-secret"),
        "Basic !!!",
        hs256(operation, "wrong"),
    )
    for arguments in (prepared.good(operation), _path_alone(prepared, operation)):
        for header in wrong:
            answer = prepared.ask(operation, arguments, authorization=header)
            assert refusal(answer) == (401, 1002, "Authorization required or has been failed"), header
    prepared.must_be_unchanged()


def _path_alone(prepared: Prepared, operation: Operation) -> dict[str, str]:
    """Arguments that are wrong in what is not the path: who may not call is not told about that."""
    return {
        param.name: prepared.value(operation, param)
        for param in operation.params
        if "{" + param.name + "}" in operation.path
    }


@SIGNED
@pytest.mark.parametrize("login", KEYS)
def test_a_key_may_do_what_its_rights_say(prepared: Prepared, operation: Operation, login: str) -> None:
    right = documented_right(operation)
    if right == ANY_KEY or right in KEYS[login]:
        answer = prepared.ask(operation, prepared.good(operation), authorization=basic(login))
        assert answer.status == 200, answer
        if operation.method != "GET":
            prepared.renew()
        return
    for arguments in (prepared.good(operation), _path_alone(prepared, operation)):
        answer = prepared.ask(operation, arguments, authorization=basic(login))
        assert refusal(answer) == (403, 1003, "Action forbidden for this API key")
    prepared.must_be_unchanged()


def test_a_key_of_a_frozen_sub_account_is_forbidden_everything(prepared: Prepared) -> None:
    assert prepared.ask(catalogue.by_name["freeze_subaccounts"], {"ids": "7001"}).status == 200
    before = prepared.box.control("ledger"), prepared.box.control("state")
    for operation in catalogue.OPERATIONS:
        answer = prepared.ask(operation, prepared.good(operation), authorization=basic("sub-full"))
        if documented_right(operation) == NOBODY:
            assert answer.status == 200, operation.name
        else:
            assert refusal(answer) == (401, 403, "Action is forbidden for account"), operation.name
        assert (prepared.box.control("ledger"), prepared.box.control("state")) == before, operation.name
    prepared.renew()


@OPERATIONS
def test_public_rows_look_at_no_key_and_the_others_at_no_other_account(
    prepared: Prepared, operation: Operation
) -> None:
    if documented_right(operation) == NOBODY:
        for header in (None, "Bearer x", basic("demo-full", "wrong"), "Basic !!!", hs256(operation, "wrong")):
            assert prepared.ask(operation, prepared.good(operation), authorization=header).status == 200, header
        return
    answer = prepared.ask(operation, prepared.good(operation), authorization=basic("other-full"))
    own = {param.name for param in operation.params} & {"id", "clientOrderId", "ids", "subAccountId", "subAccountIds"}
    if own and not operation.name.startswith(("create_", "put_")) and operation.name != "get_order_history":
        assert answer.status in (400, 500), answer
        assert answer.error["code"] in (20002, 20004, 20005, 500), answer
        prepared.must_be_unchanged()
    elif operation.method != "GET":
        prepared.renew()
