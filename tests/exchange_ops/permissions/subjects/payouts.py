"""Who does what to a payout in which state."""

from decimal import Decimal
from typing import Any

from desk import clock
from desk.people import roles
from exchange_ops.withdrawals import machine, states
from exchange_ops.withdrawals.decisions import policy_evaluation, resolutions
from tests.exchange_ops import rows
from tests.exchange_ops.permissions.shared_form import OWN, Subject, signed, walk

BOTH = f"{roles.OPERATOR} and {roles.TREASURY}"
T, OPERATOR, TREASURER = roles.TREASURY, OWN + roles.OPERATOR, OWN + BOTH
BEFORE_HOLD = {"draft", "review", "queued", "holding", "hold_unknown", "refused", "lapsed", "cancelled"}


def _judged(row: Any) -> dict[str, Any]:
    now = clock.now()
    return policy_evaluation.evaluate(row, now=now, fee_estimate=Decimal("0.001"), fee_estimated_at=now)[1]


def _decided(decision: str) -> Any:
    return lambda row: {"decision": decision, "decided_at": clock.now()}


COLUMNS = {
    "submitted": _judged,
    "hold_claimed": lambda row: {"attempt": 1, "tag": f"tx-{row.pk}"},
    "quorum_reached": lambda row: _decided("commit")(row) if row.state == "held" else {},
    **dict.fromkeys(
        ("echo_differs", "rejected", "cancelled", "time_over"),
        lambda row: _decided("rollback")(row) if row.state in {"held", "committing"} else {},
    ),
}


def reach(state: str, person: Any) -> Any:
    """A payout in the state: recorded, then moved by its own machine."""
    make = rows.requested if state in BEFORE_HOLD else rows.held
    return walk(machine.MACHINE, make(person, now=clock.now()), state, COLUMNS)


def _fields(row: Any) -> dict[str, Any]:
    reasons = {f"{name}-reason": "Ours" for name in ("reject", "cancel", "recall")}
    digest = resolutions.digest_of(row) if row.state in {"investigate", "disputed"} else row.digest
    return signed(row, verdict="not_paid", digest=digest, **reasons)


PAYOUTS = Subject(
    name="payout",
    states=states.STATES,
    reach=reach,
    owners=(roles.OPERATOR, BOTH),
    routes=dict.fromkeys(
        (f"withdrawal-{name}" for name in ("approve", "reject", "cancel", "recall", "resolve", "release")), _fields
    ),
    goes_through={
        ("draft", "withdrawal-cancel"): {OPERATOR, TREASURER, T},
        ("review", "withdrawal-approve"): {T},
        ("review", "withdrawal-reject"): {T},
        ("review", "withdrawal-cancel"): {OPERATOR, TREASURER},
        ("queued", "withdrawal-cancel"): {OPERATOR, TREASURER, T},
        ("held", "withdrawal-approve"): {T},
        ("held", "withdrawal-reject"): {T},
        ("held", "withdrawal-cancel"): {OPERATOR, TREASURER},
        ("committing", "withdrawal-recall"): {T, TREASURER},  # it stops a payment
        ("investigate", "withdrawal-resolve"): {T},
        ("disputed", "withdrawal-resolve"): {T},
    },
    reads={"withdrawal": roles.ALL, "api-withdrawal": roles.ALL},
    part="decide",
    topic=lambda row: f"withdrawal:{row.pk}",
)
