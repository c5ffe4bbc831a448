"""Who does what to a payee in which state."""

from typing import Any

from desk import clock
from desk.people import roles
from exchange_ops.payees import machine, states, workflow
from exchange_ops.payees.models import Payee
from tests.exchange_ops import rows
from tests.exchange_ops.permissions.shared_form import OWN, Subject, code_of_now, colleague, nothing, signed, walk

O, T = roles.OPERATOR, roles.TREASURY  # noqa: E741
OWN_O, OWN_T = OWN + O, OWN + T


def added(person: Any, **changes: Any) -> Payee:
    """A payee that this person added."""
    words = {"title": "Harbour Hosting", "owner": "Harbour Hosting Ltd", "evidence": "Read back by phone"}
    place = {"currency": "BCH", "address": rows.ADDRESS, "payment_id": "", "account": rows.account()}
    return workflow.add(person=person, now=clock.now(), **{**words, **place, **changes})


def approved_by_two(row: Payee, *names: str) -> Payee:
    """The same, approved by two new colleagues of these names."""
    for name in names or ("first-approver", "second-approver"):
        words = {"digest": row.digest, "answer": code_of_now(), "comment": "", "session_key": "s"}
        row = workflow.approve(payee_id=row.pk, person=colleague(T, name), now=clock.now(), **words)
    return row


def reach(state: str, person: Any) -> Payee:
    """A payee that the person added; approved where its state needs that."""
    row = added(person)
    if state in {states.COOLING_OFF, states.ACTIVE, states.EXPIRED, states.RENEWED, states.REMOVED}:
        row = approved_by_two(row)
    return walk(machine.MACHINE, row, state, {})


def reason(row: Any) -> dict[str, str]:
    """The reason, under the name that either form gives it."""
    return {"reject-reason": "Ours", "remove-reason": "Ours"}


PAYEES = Subject(
    name="payee",
    states=states.STATES,
    reach=reach,
    owners=(O, T),
    routes={"payee-approve": signed, "payee-reject": reason, "payee-remove": reason, "payee-withdraw": nothing},
    goes_through={
        ("review", "payee-approve"): {T},
        ("review", "payee-reject"): {T},
        ("review", "payee-withdraw"): {OWN_O, OWN_T},
        ("cooling", "payee-remove"): {T, OWN_T},
        ("active", "payee-remove"): {T, OWN_T},
    },
    part="payee",
    reads={"payee": roles.ALL},
    topic=lambda row: f"payee:{row.pk}",
)
