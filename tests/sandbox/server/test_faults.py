"""Arming faults: what is taken, what is refused with which sentence, and in which order faults are served."""

import pytest

from sandbox.server.faults.fault_kinds import KINDS, REST_KINDS, SOCKET_KINDS, Scope
from sandbox.server.faults.faults import CannotArm, Faults, echo

KNOWN_CODES = {20001, 10001}


@pytest.fixture
def faults() -> Faults:
    return Faults(
        operations=["create_withdrawal", "get_balances", "get_transaction"],
        methods=["loadTransactions"],
        notifications=["updateTransaction"],
        knows_code=KNOWN_CODES.__contains__,
    )


def taken(faults: Faults, operation: str, key: str | None = None) -> str | None:
    """The kind that the next REST call of the operation meets."""
    fault = faults.claim(operation, key=key, kinds=REST_KINDS, scope=Scope.REST)
    return fault and fault.kind


def test_a_fault_serves_its_times_and_is_gone(faults: Faults) -> None:
    faults.arm({"operation": "create_withdrawal", "kind": "rate_limit", "times": 2})
    assert [taken(faults, "create_withdrawal") for _ in range(3)] == ["rate_limit", "rate_limit", None]
    assert faults.listed() == []


def test_faults_of_one_operation_are_served_in_the_order_of_arming(faults: Faults) -> None:
    faults.arm({"operation": "*", "kind": "html"})
    faults.arm({"operation": "get_balances", "kind": "rate_limit"})
    assert [taken(faults, "get_balances") for _ in range(3)] == ["html", "rate_limit", None]


def test_other_operations_and_other_keys_go_through(faults: Faults) -> None:
    faults.arm({"operation": "create_withdrawal", "kind": "rate_limit", "key": "demo-full"})
    assert taken(faults, "get_balances", "demo-full") is None
    assert taken(faults, "create_withdrawal", "demo-read") is None
    assert taken(faults, "create_withdrawal", None) is None
    assert taken(faults, "create_withdrawal", "demo-full") == "rate_limit"


def test_the_star_of_a_socket_kind_means_notifications_only(faults: Faults) -> None:
    faults.arm({"operation": "*", "kind": "gap"})
    assert faults.claim("loadTransactions", key=None, kinds=SOCKET_KINDS, scope=Scope.METHOD) is None
    assert taken(faults, "get_balances") is None
    found = faults.claim("updateTransaction", key=None, kinds=SOCKET_KINDS, scope=Scope.NOTIFICATION)
    assert found is not None
    assert found.kind == "gap"


def test_what_is_listed_is_what_was_armed_with_its_defaults(faults: Faults) -> None:
    faults.arm({"operation": "create_withdrawal", "kind": "drop_after", "key": "demo-full", "times": 3})
    taken(faults, "create_withdrawal", "demo-full")
    assert faults.listed() == [
        {
            "number": 1,
            "operation": "create_withdrawal",
            "kind": "drop_after",
            "times": 2,
            "served": 1,
            "key": "demo-full",
            "how": "close",
        }
    ]
    assert faults.clear() == 1
    assert faults.listed() == []


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ({}, "'kind' is None"),
        ({"kind": "explode"}, "'kind' is 'explode'; it takes one of refuse, status,"),
        ({"kind": ["html"]}, "'kind' is ['html']; it takes a text."),
        ({"kind": "html"}, "'operation' is ''"),
        ({"kind": "html", "operation": "withdraw"}, "'operation' is 'withdraw'; the page at / lists"),
        ({"kind": "html", "operation": 7}, "'operation' is 7; it takes a text."),
        ({"kind": "gap", "operation": "get_balances"}, "is for a socket method or socket notification"),
        (
            {"kind": "html", "operation": "updateTransaction"},
            "is for a REST operation or chain-data operation, and 'updateTransaction'",
        ),
        ({"kind": "html", "operation": "*", "times": 0}, "'times' is 0; it takes a whole number from 1"),
        ({"kind": "html", "operation": "*", "times": "2"}, "'times' is '2'"),
        ({"kind": "html", "operation": "*", "times": True}, "'times' is True"),
        ({"kind": "html", "operation": "*", "tims": 1}, "does not take 'tims'; it takes operation, times, key, status"),
        ({"kind": "html", "operation": "*", "status": 99}, "'status' is 99; it takes a whole number from 200"),
        ({"kind": "html", "operation": "*", "executes": 1}, "'executes' is 1; it takes true or false."),
        ({"kind": "redirect", "operation": "*", "status": 304}, "it takes one of 301, 302, 303, 307, 308."),
        ({"kind": "redirect", "operation": "*", "location": "/x\r\nSet-Cookie: a=b"}, "it takes an address"),
        ({"kind": "status", "operation": "*"}, "needs 'status'"),
        ({"kind": "refuse", "operation": "*"}, "needs 'code'"),
        (
            {"kind": "refuse", "operation": "*", "code": 4711},
            "'code' is 4711; the exchange's catalogue has no such code.",
        ),
        ({"kind": "refuse", "operation": "*", "code": "20001"}, "'code' is '20001'; it takes a whole number"),
        ({"kind": "drop_after", "operation": "*", "how": "softly"}, "'how' is 'softly'; it takes one of close, reset."),
        ({"kind": "delay_then_execute", "operation": "*"}, "needs 'ms'"),
        ({"kind": "delay_then_execute", "operation": "*", "ms": -1}, "'ms' is -1"),
        ({"kind": "echo_differs", "operation": "*", "field": "fee"}, "needs 'value', or 'absent': true"),
        ({"kind": "echo_differs", "operation": "*", "value": "1"}, "needs 'field'"),
    ],
)
def test_an_odd_fault_is_refused_with_a_sentence_and_not_armed(
    faults: Faults, fault: dict[str, object], sentence: str
) -> None:
    with pytest.raises(CannotArm) as refused:
        faults.arm(fault)
    assert sentence in str(refused.value)
    assert faults.listed() == []


def test_faults_can_not_be_piled_up_without_end(faults: Faults) -> None:
    for _ in range(1_000):
        faults.arm({"operation": "*", "kind": "html"})
    with pytest.raises(CannotArm, match="1000 faults are armed already"):
        faults.arm({"operation": "*", "kind": "html"})


def test_an_echo_changes_one_field_of_one_record_and_leaves_the_world_alone(faults: Faults) -> None:
    records = [{"id": "a", "fee": "1"}, {"id": "b", "fee": "2"}]
    faults.arm({"operation": "get_transaction", "kind": "echo_differs", "field": "fee", "value": "9", "id": "b"})
    changed = echo(faults, "get_transaction", key=None, scope=Scope.REST, value=records)
    assert changed == [{"id": "a", "fee": "1"}, {"id": "b", "fee": "9"}]
    assert records == [{"id": "a", "fee": "1"}, {"id": "b", "fee": "2"}]
    assert echo(faults, "get_transaction", key=None, scope=Scope.REST, value=records) == records


def test_an_echo_that_meets_no_such_record_stays_armed(faults: Faults) -> None:
    faults.arm({"operation": "*", "kind": "echo_differs", "field": "fee", "absent": True, "id": "b"})
    assert echo(faults, "get_transaction", key=None, scope=Scope.REST, value={"id": "a", "fee": "1"}) == {
        "id": "a",
        "fee": "1",
    }
    assert echo(faults, "get_transaction", key=None, scope=Scope.REST, value={"id": "b", "fee": "1"}) == {"id": "b"}
    assert faults.listed() == []


def test_the_star_of_an_echo_means_records_of_transactions(faults: Faults) -> None:
    faults.arm({"operation": "*", "kind": "echo_differs", "field": "id", "value": None})
    assert echo(faults, "create_withdrawal", key=None, scope=Scope.REST, value={"id": "a"}) == {"id": "a"}
    faults.arm({"operation": "create_withdrawal", "kind": "echo_differs", "field": "id", "absent": True})
    assert echo(faults, "create_withdrawal", key=None, scope=Scope.REST, value={"id": "a"}) == {}


def test_two_echoes_change_two_fields_of_one_answer(faults: Faults) -> None:
    faults.arm({"operation": "get_transaction", "kind": "echo_differs", "field": "fee", "value": "9"})
    faults.arm({"operation": "get_transaction", "kind": "echo_differs", "field": "amount", "value": "NaN"})
    changed = echo(faults, "get_transaction", key=None, scope=Scope.REST, value={"fee": "1", "amount": "2"})
    assert changed == {"fee": "9", "amount": "NaN"}


def test_every_kind_says_what_it_does() -> None:
    assert len(KINDS) == 16
    assert all(kind.meaning and kind.scopes for kind in KINDS.values())
