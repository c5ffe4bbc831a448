"""The one mover of what is asked for sub-accounts: nothing else writes an action's state, or what is wanted.

A move is a conditional UPDATE on (id, state, version), an event row, a row of the audit trail and an announcement, in
one transaction, as for withdrawals. Of two movers that saw the same version one wins and the other gets CannotMove.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, connection, transaction

from desk import audit, live, outbox
from exchange_ops.domain.lifecycle import CannotMove, texts
from exchange_ops.models import SubAccount, SubAccountAction, SubAccountEvent
from exchange_ops.models import subaccount_states as states
from exchange_ops.models.states import EXCHANGE, WORKER

if TYPE_CHECKING:
    from desk.models import Person

__all__ = ["CannotMove", "create", "lock_accounts", "move", "touch"]

ADVANCE_TASK = "exchange_ops.advance_subaccount"
TOPIC = "subaccounts"
CONTENT = ("kind", "wanted_payout", "wanted_description", "reason", "requested_by_id", "confirmation_id", "digest")
_ALLOWED = {(t.source, t.event, t.target) for t in states.TRANSITIONS}
_UNRECORDED = frozenset({"next_action_at", "lease_until", "updated_at", "looks"})
_TOUCHABLE = frozenset({"next_action_at", "last_problem", "looks"})
# After these the wish is given up again. A freeze that failed stays wanted, so that it stands out until it is done.
_GIVEN_UP = frozenset({"refused", "not_done"})


def create(*, action: SubAccountAction, now: datetime, session_key: str, evidence: Mapping[str, Any]) -> None:
    """Row 1: store a request with its first event and what is wanted from now on. Inside the caller's transaction."""
    sub = action.sub_account
    action.lane, action.state, action.version = states.LANES[action.kind], "requested", 1
    action.created_at = action.updated_at = action.next_action_at = now
    action.before = {name: getattr(sub, name) for name in ("wanted", "wanted_payout", "wanted_description")}
    action.save(force_insert=True)
    _wish(sub, _wanted_by(action))
    content = {name: getattr(action, name) for name in CONTENT}
    after = {**content, "wanted": _wanted_by(action), "state": "requested", "version": 1}
    actor = action.requested_by
    _record(action, "created", "", {}, after, actor=actor, evidence=evidence, now=now, key=session_key)
    _tell(action, "requested", action.next_action_at, now)


def move(
    action: SubAccountAction,
    *,
    event: str,
    to: str,
    now: datetime,
    actor: "Person | None" = None,
    evidence: Mapping[str, Any] | None = None,
    session_key: str = "",
    closed_as: str | None = None,
    **changes: Any,
) -> SubAccountAction:
    """Take the action from the state and version it carries to `to`; `closed_as` is what it taught of the sub-account.

    CannotMove when the table has no such move or somebody was faster. Without a `next_action_at` a worker looks again
    at once unless the state is an end.
    """
    source, version = action.state, action.version
    if (source, event, to) not in _ALLOWED:
        raise CannotMove(f"There is no move {event!r} from {source or 'nothing'} to {to}.")
    turn = states.STATES[to].turn
    if states.STATES[to].terminal:
        changes |= {"next_action_at": None, "lease_until": None}
    elif "next_action_at" not in changes:
        changes["next_action_at"] = now if turn in {WORKER, EXCHANGE} else None
    new = {**changes, "state": to, "version": version + 1, "updated_at": now}
    shown = {name: value for name, value in new.items() if name not in _UNRECORDED}
    before = {name: getattr(action, name) for name in shown}
    try:
        with transaction.atomic():
            # The event before the update: a trigger refuses a version that has no event.
            _record(action, event, source, before, shown, actor=actor, evidence=evidence, now=now, key=session_key)
            matching = SubAccountAction.objects.filter(pk=action.pk, state=source, version=version)
            if matching.update(**new) != 1:
                raise CannotMove(f"{action.label} of {action.sub_account} was changed by somebody else meanwhile.")
            _learn(action, to, closed_as)
            _tell(action, to, new["next_action_at"], now)
    except IntegrityError as error:
        raise CannotMove(f"The database refused {event!r} of {action.label}: {error}") from error
    for name, value in new.items():
        setattr(action, name, value)
    return action


def touch(action: SubAccountAction, **columns: Any) -> bool:
    """Change columns that are no part of the outcome; True when the row still was at this state and version."""
    if not _TOUCHABLE.issuperset(columns):
        raise ValueError(f"Only a move changes {sorted(set(columns) - _TOUCHABLE)}.")
    same = SubAccountAction.objects.filter(pk=action.pk, state=action.state, version=action.version)
    if same.update(**columns) != 1:
        return False
    if columns.get("last_problem", action.last_problem) != action.last_problem:
        live.announce(action.sub_account.subject, action=action.pk)
    for name, value in columns.items():
        setattr(action, name, value)
    return True


def lock_accounts(*, account_id: int, exchange_ids: list[int]) -> list[SubAccount]:
    """The sub-accounts of these ids, in one order, kept from others to the end of the transaction where possible."""
    rows = SubAccount.objects.filter(account_id=account_id, exchange_id__in=exchange_ids).order_by("exchange_id")
    if connection.features.has_select_for_update:
        rows = rows.select_for_update(of=("self",))
    return list(rows)


def _wanted_by(action: SubAccountAction) -> dict[str, Any]:
    """What the action changes of what is wanted."""
    if action.kind == states.SETTINGS:
        asked = {"wanted_payout": action.wanted_payout, "wanted_description": action.wanted_description}
        return {name: value for name, value in asked.items() if value is not None}
    return {"wanted": states.AS_FROZEN if action.kind == states.FREEZE else "active"}


def _learn(action: SubAccountAction, to: str, closed_as: str | None) -> None:
    """What an end means for the sub-account: how it is closed, and a wish that is given up."""
    columns: dict[str, Any] = {} if closed_as is None else {"closed_as": closed_as}
    failed = to in _GIVEN_UP and action.kind != states.FREEZE
    newer = SubAccountAction.objects.filter(sub_account=action.sub_account_id, lane=action.lane, pk__gt=action.pk)
    if (failed or to == "cancelled") and not newer.exists():
        columns |= {name: action.before.get(name) for name in _wanted_by(action)}
    if columns:
        _wish(action.sub_account, columns)


def _wish(sub: SubAccount, columns: Mapping[str, Any]) -> None:
    SubAccount.objects.filter(pk=sub.pk).update(**columns)
    for name, value in columns.items():
        setattr(sub, name, value)


def _record(
    action: SubAccountAction,
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
    facts = texts(evidence or {})
    trail = audit.record(
        actor=actor,
        action=f"subaccount.{action.kind}_{event}",
        subject=action.sub_account.subject,
        before=texts(before),
        after={**texts(after), "action": action.pk, "evidence": facts},
        now=now,
        session_key=key,
    )
    SubAccountEvent.objects.create(
        action_id=action.pk,
        version=after["version"],
        event=event,
        from_state=source,
        to_state=after["state"],
        actor=actor,
        evidence=facts,
        audit_number=trail.seq,
        at=now,
    )


def _tell(action: SubAccountAction, state: str, next_action_at: datetime | None, now: datetime) -> None:
    """Hints after commit: to the pages that show it, and to a worker where there is something to do at once."""
    live.announce(action.sub_account.subject, action=action.pk, state=state)
    live.announce(TOPIC, id=action.sub_account.exchange_id)
    if next_action_at is not None and next_action_at <= now:
        outbox.wake(ADVANCE_TASK, action.pk)
