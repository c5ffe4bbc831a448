"""The one mover of transfers: nothing else writes their `state` and `version`.

As for withdrawals (`lifecycle`): a conditional UPDATE on (id, state, version), an event row, a row of the audit trail
and an announcement, in one transaction. Of two movers that saw the same version one wins, the other gets CannotMove.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, connection, transaction

from desk import audit, live, outbox
from exchange_ops.domain.lifecycle import CannotMove, texts
from exchange_ops.models import Transfer, TransferEvent, states
from exchange_ops.models.transfer_states import STATES, TRANSITIONS

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
_ALLOWED = {(t.source, t.event, t.target) for t in TRANSITIONS}
# Columns that only say when to look again: they change at every step and would bury the trail.
_UNRECORDED = frozenset({"next_action_at", "lease_until", "updated_at", "looks"})
_TOUCHABLE = frozenset({"next_action_at", "last_problem", "looks"})


def create(*, transfer: Transfer, now: datetime, session_key: str = "") -> Transfer:
    """Store a new draft with its first event. An equal (initiator, request_key) raises IntegrityError."""
    with transaction.atomic():
        transfer.state, transfer.version = "draft", 1
        transfer.created_at = transfer.updated_at = transfer.next_action_at = now
        transfer.save(force_insert=True)
        after = {name: getattr(transfer, name) for name in CONTENT} | {"state": "draft", "version": 1}
        _record(transfer, "created", "", {}, after, actor=transfer.initiator, evidence={}, now=now, key=session_key)
        _tell(transfer.pk, transfer.account_id, after, now)
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
    Without a `next_action_at` a worker looks again at once where it is the worker's or the exchange's turn, else never.
    """
    source, version = transfer.state, transfer.version
    if (source, event, to) not in _ALLOWED:
        raise CannotMove(f"There is no move {event!r} from {source or 'nothing'} to {to}.")
    if "next_action_at" not in changes:
        changes["next_action_at"] = now if STATES[to].turn in {states.WORKER, states.EXCHANGE} else None
    new = {**changes, "state": to, "version": version + 1, "updated_at": now}
    shown = {name: value for name, value in new.items() if name not in _UNRECORDED}
    before = {name: getattr(transfer, name) for name in shown}
    try:
        with transaction.atomic():
            lock(transfer.pk)
            _record(transfer, event, source, before, shown, actor=actor, evidence=evidence, now=now, key=session_key)
            matching = Transfer.objects.filter(pk=transfer.pk, state=source, version=version)
            if matching.update(**new) != 1:
                raise CannotMove(f"{transfer.reference} was changed by somebody else meanwhile.")
            _tell(transfer.pk, transfer.account_id, new, now)
    except IntegrityError as error:
        raise CannotMove(f"The database refused {event!r} of {transfer.reference}: {error}") from error
    for name, value in new.items():
        setattr(transfer, name, value)
    return transfer


def touch(transfer: Transfer, **columns: Any) -> bool:
    """Change when to look again and why; True when the row still was at this state and version."""
    if not _TOUCHABLE.issuperset(columns):
        raise ValueError(f"Only a move changes {sorted(set(columns) - _TOUCHABLE)}.")
    same = Transfer.objects.filter(pk=transfer.pk, state=transfer.state, version=transfer.version)
    if same.update(**columns) != 1:
        return False
    for name, value in columns.items():
        setattr(transfer, name, value)
    return True


def lock(transfer_id: int) -> Transfer:
    """Read the row and, where the engine can, keep others waiting until the transaction ends.

    Correctness rests on the conditional update alone. Taken before the audit trail's turn, so that two movers can't
    wait for each other.
    """
    rows = Transfer.objects.select_related("account", "initiator")
    if connection.features.has_select_for_update:
        rows = rows.select_for_update(of=("self",))
    return rows.get(pk=transfer_id)


def _record(
    transfer: Transfer,
    event: str,
    source: str,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    *,
    actor: "Person | None",
    evidence: Mapping[str, Any] | None,
    now: datetime,
    key: str,
) -> None:
    """The trail's row and the event row, before the update: a trigger refuses a version that has no event."""
    facts, changes = texts(evidence or {}), texts(after)
    trail = audit.record(
        actor=actor,
        action=f"transfer.{event}",
        subject=transfer.subject,
        before=texts(before),
        after={**changes, "evidence": facts},
        now=now,
        session_key=key,
    )
    TransferEvent.objects.create(
        transfer_id=transfer.pk,
        version=after["version"],
        event=event,
        from_state=source,
        to_state=after["state"],
        actor=actor,
        evidence=facts,
        changes=changes,
        audit_number=trail.seq,
        at=now,
    )


def _tell(number: int, account_id: int, new: Mapping[str, Any], now: datetime) -> None:
    """Hints after commit: to the pages that show it, and to a worker where there is something to do at once."""
    hint = {"state": new["state"], "version": new["version"]}
    live.announce(f"transfer:{number}", **hint)
    live.announce("transfers", id=number, account=account_id, **hint)
    next_at = new.get("next_action_at")
    if next_at is not None and next_at <= now:
        outbox.wake(ADVANCE_TASK, number)
