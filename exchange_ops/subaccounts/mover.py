"""Moving what is asked for sub-accounts: the front of the one mover (`moving`), which also keeps what is wanted.

The callers lock the sub-accounts, in the order of their ids, so the move itself locks nothing.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import connection

from desk.live import announcements
from exchange_ops.shared import mover as moving
from exchange_ops.shared.mover import CannotMove
from exchange_ops.subaccounts import machine as states
from exchange_ops.subaccounts.models import SubAccount, SubAccountAction, SubAccountEvent

if TYPE_CHECKING:
    from desk.models import Person

__all__ = ["CannotMove", "create", "lock_accounts", "move", "touch"]

ADVANCE_TASK = "exchange_ops.advance_subaccount"
TOPIC = "subaccounts"
CONTENT = ("kind", "wanted_payout", "wanted_description", "reason", "requested_by_id", "confirmation_id", "digest")
_MACHINE = moving.Machine(
    model=SubAccountAction,
    events=SubAccountEvent,
    owner="action_id",
    states=states.STATES,
    transitions=states.TRANSITIONS,
    at_rest=moving.ends(states.STATES),
    unrecorded=frozenset({"next_action_at", "lease_until", "updated_at", "looks"}),
    touchable=frozenset({"next_action_at", "last_problem", "looks"}),
    locked_with=None,
    named=lambda row: f"{row.label} of {row.sub_account}",
    trail=lambda row, event: moving.Trail(
        f"subaccount.{row.kind}_{event}", row.sub_account.subject, {"action": row.pk}
    ),
)
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
    _MACHINE.record(action, "created", {}, after, actor=actor, evidence=evidence, now=now, session_key=session_key)
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

    def after(new: Mapping[str, Any]) -> None:
        _learn(action, to, closed_as)
        _tell(action, to, new["next_action_at"], now)

    _MACHINE.move(
        action,
        changes,
        event=event,
        to=to,
        now=now,
        actor=actor,
        evidence=evidence,
        session_key=session_key,
        after=after,
    )
    return action


def touch(action: SubAccountAction, **columns: Any) -> bool:
    """Change columns that are no part of the outcome; True when the row still was at this state and version."""
    problem_before = action.last_problem
    touched = _MACHINE.touch(action, columns)
    if touched and action.last_problem != problem_before:
        announcements.announce(action.sub_account.subject, action=action.pk)
    return touched


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


def _tell(action: SubAccountAction, state: str, next_action_at: datetime | None, now: datetime) -> None:
    """Hints after commit: to the pages that show it, and to a worker where there is something to do at once."""
    announcements.announce(action.sub_account.subject, action=action.pk, state=state)
    announcements.announce(TOPIC, id=action.sub_account.exchange_id)
    moving.wake_if_due(ADVANCE_TASK, action.pk, next_action_at, now)
