"""Moving transfers: the front of the one mover (`moving`) for the machine of transfers."""

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import transaction

from exchange_ops.shared import mover as moving
from exchange_ops.shared.mover import CannotMove, texts
from exchange_ops.transfers.machine import STATES, TRANSITIONS
from exchange_ops.transfers.models import Transfer, TransferEvent

if TYPE_CHECKING:
    from desk.models import Person

__all__ = ["CannotMove", "create", "lock", "move", "touch"]

ADVANCE_TASK = "exchange_ops.advance_transfer"
CONTENT = (
    "account_id",
    "initiator_id",
    "initiated_via",
    "reissues_id",
    "kind",
    "currency",
    "amount",
    "to_currency",
    "by",
    "identifier",
    "subaccount_id",
    "reason",
)
_MACHINE = moving.Machine(
    model=Transfer,
    events=TransferEvent,
    owner="transfer_id",
    states=STATES,
    transitions=TRANSITIONS,
    unrecorded=frozenset({"next_action_at", "lease_until", "updated_at", "looks"}),
    touchable=frozenset({"next_action_at", "last_problem", "looks"}),
    locked_with=("account", "initiator"),
    named=lambda row: row.reference,
    trail=lambda row, event: moving.Trail(f"transfer.{event}", row.subject, {}),
    kept=lambda after: {"changes": texts(after)},
)


def create(*, transfer: Transfer, now: datetime, session_key: str = "") -> Transfer:
    """Store a new draft with its first event. An equal (initiator, request_key) raises IntegrityError."""
    with transaction.atomic():
        transfer.state, transfer.version = "draft", 1
        transfer.created_at = transfer.updated_at = transfer.next_action_at = now
        transfer.save(force_insert=True)
        after = {name: getattr(transfer, name) for name in CONTENT} | {"state": "draft", "version": 1}
        _MACHINE.record(
            transfer,
            "created",
            {},
            after,
            actor=transfer.initiator,
            evidence={},
            now=now,
            session_key=session_key,
        )
        _tell(transfer, after, now)
    return transfer


def move(
    transfer: Transfer,
    *,
    event: str,
    to: str,
    now: datetime,
    actor: "Person | None" = None,
    evidence: Mapping[str, Any] | None = None,
    session_key: str = "",
    **changes: Any,
) -> Transfer:
    """Take the row from the state and version that `transfer` carries to `to`, with `changes` to other columns.

    `transfer` is brought up to date and returned. CannotMove when the table has no such move or somebody was faster.
    """
    _MACHINE.move(
        transfer,
        changes,
        event=event,
        to=to,
        now=now,
        actor=actor,
        evidence=evidence,
        session_key=session_key,
        after=lambda new: _tell(transfer, new, now),
    )
    return transfer


def touch(transfer: Transfer, **columns: Any) -> bool:
    """Change when to look again and why; True when the row still was at this state and version."""
    return _MACHINE.touch(transfer, columns)


def lock(transfer_id: int) -> Transfer:
    """Read the row and, where the engine can, keep others waiting until the transaction ends."""
    row: Transfer = _MACHINE.lock(transfer_id)
    return row


def _tell(transfer: Transfer, new: Mapping[str, Any], now: datetime) -> None:
    shown = {"state": new["state"], "version": new["version"], "account": transfer.account_id}
    moving.announce(subject=f"transfer:{transfer.pk}", topic="transfers", number=transfer.pk, **shown)
    moving.wake_if_due(ADVANCE_TASK, transfer.pk, new.get("next_action_at"), now)
