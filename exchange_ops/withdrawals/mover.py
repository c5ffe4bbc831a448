"""Moving withdrawals: the front of the one mover (`moving`) for the machine of payouts.

`STATES` and `TRANSITIONS` are the whole machine; the moves of its chain are made by `payouts`.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import transaction

from exchange_ops.shared import mover as moving
from exchange_ops.shared import states as shared_states
from exchange_ops.shared.mover import CannotMove, texts
from exchange_ops.shared.states import State, Transition
from exchange_ops.withdrawals.machine import STATES, TRANSITIONS
from exchange_ops.withdrawals.models import Withdrawal, WithdrawalEvent

if TYPE_CHECKING:
    from desk.models import Person

__all__ = ["STATES", "TRANSITIONS", "CannotMove", "State", "Transition", "create", "lock", "move", "texts", "touch"]

ADVANCE_TASK = "exchange_ops.advance"
RELEASE_TASK = "exchange_ops.release"  # the same step in a worker of its own, which no other call can fill
CONTENT = (
    "account_id",
    "initiator_id",
    "initiated_via",
    "currency",
    "amount",
    "include_fee",
    "address",
    "payment_id",
    "reason",
)
_MACHINE = moving.Machine(
    model=Withdrawal,
    events=WithdrawalEvent,
    owner="withdrawal_id",
    states=STATES,
    transitions=TRANSITIONS,
    at_rest=moving.ends(STATES),
    unrecorded=frozenset({"next_action_at", "lease_until", "updated_at"}),
    # Figures read from the exchange and the time of the next look, never state or content.
    touchable=frozenset(
        {"next_action_at", "last_problem", "exchange_status", "exchange_index", "confirmations", "hash"}
    ),
    always_shown=("decision",),
    locked_with=("account", "initiator"),
    named=lambda row: row.reference,
    trail=lambda row, event: moving.Trail(f"withdrawal.{event}", row.subject, {}),
    kept=lambda after: {"decision": after["decision"], "changes": texts(after)},
)


def create(*, withdrawal: Withdrawal, now: datetime, session_key: str = "") -> Withdrawal:
    """Row 1: store a new request with its first event. An equal (initiator, request_key) raises IntegrityError."""
    with transaction.atomic():
        withdrawal.state, withdrawal.version, withdrawal.decision = "draft", 1, shared_states.NONE
        withdrawal.created_at = withdrawal.updated_at = withdrawal.next_action_at = now
        withdrawal.save(force_insert=True)
        content = {name: getattr(withdrawal, name) for name in CONTENT}
        after = {**content, "state": "draft", "version": 1, "decision": shared_states.NONE}
        _MACHINE.record(
            withdrawal,
            "created",
            {},
            after,
            actor=withdrawal.initiator,
            evidence={},
            now=now,
            session_key=session_key,
        )
        _tell(withdrawal, after | {"next_action_at": now}, now)
    return withdrawal


def move(
    withdrawal: Withdrawal,
    *,
    event: str,
    to: str,
    now: datetime,
    actor: "Person | None" = None,
    evidence: Mapping[str, Any] | None = None,
    session_key: str = "",
    **changes: Any,
) -> Withdrawal:
    """Take the row from the state and version that `withdrawal` carries to `to`, with `changes` to other columns.

    `withdrawal` is brought up to date and returned. CannotMove when the table has no such move or somebody was faster.
    """
    _MACHINE.move(
        withdrawal,
        changes,
        event=event,
        to=to,
        now=now,
        actor=actor,
        evidence=evidence,
        session_key=session_key,
        after=lambda new: _tell(withdrawal, new, now),
    )
    return withdrawal


def touch(withdrawal: Withdrawal, **columns: Any) -> bool:
    """Change columns that are no part of the decision; True when the row still was at this state and version."""
    return _MACHINE.touch(withdrawal, columns)


def task_of(state: str) -> str:
    """The task that does the next step of a withdrawal in this state."""
    return RELEASE_TASK if state == "rolling_back" else ADVANCE_TASK


def lock(withdrawal_id: int) -> Withdrawal:
    """Read the row and, where the engine can, keep others waiting until the transaction ends."""
    row: Withdrawal = _MACHINE.lock(withdrawal_id)
    return row


def _tell(withdrawal: Withdrawal, new: Mapping[str, Any], now: datetime) -> None:
    shown = {"state": new["state"], "version": new["version"]}
    moving.announce(subject=withdrawal.subject, topic="withdrawals", number=withdrawal.pk, **shown)
    moving.wake_if_due(task_of(new["state"]), withdrawal.pk, new.get("next_action_at"), now)
