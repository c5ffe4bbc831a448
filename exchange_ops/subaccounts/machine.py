"""The machine of actions on sub-accounts, what a move changes of what is requested of a sub-account, and the guards.

The callers lock the sub-accounts, in the order of their ids, so the move itself locks nothing. Its table is `states`.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from django.db import connection, transaction

from desk.machines.guards import Guards
from desk.machines.mover import CannotMove, Machine
from exchange_ops.subaccounts import states
from exchange_ops.subaccounts.models import SubAccount, SubAccountAction, SubAccountCall, SubAccountEvent

__all__ = ["CannotMove", "create", "lock_accounts", "move", "touch"]

ADVANCE_TASK = "exchange_ops.advance_subaccount"
TOPIC = "subaccounts"
MACHINE: Machine[SubAccountAction] = Machine(
    model=SubAccountAction,
    events=SubAccountEvent,
    task=ADVANCE_TASK,
    lists=(TOPIC,),
    locked_with=None,
)
touch = MACHINE.touch
# These withdraw the request again. A failed freeze stays requested, so that it stands out until it is done.
_WITHOUT_EFFECT = frozenset({states.REFUSED, states.NOT_DONE})


def create(*, action: SubAccountAction, now: datetime, session_key: str, evidence: Mapping[str, Any]) -> None:
    """Move 1: store an action with its first event and what is requested from now on, in the caller's transaction."""
    sub, columns = action.sub_account, _requested_columns(action)
    action.lane = states.LANES[action.kind]
    action.before = {name: getattr(sub, name) for name in ("wanted", "wanted_payout", "wanted_description")}
    MACHINE.create(
        action,
        now=now,
        actor=action.requested_by,
        evidence=evidence,
        session_key=session_key,
        facts={"wanted": columns},
    )
    _update(sub, columns)


def move(
    action: SubAccountAction, *, event: str, to: str, now: datetime, closed_as: str | None = None, **columns: Any
) -> SubAccountAction:
    """Move the action from its present state and version to `to`; `closed_as` is what it shows about the sub-account.

    `columns` are those of the kit's move. Raises CannotMove when the table has no such move or somebody was faster.
    """
    with transaction.atomic():
        MACHINE.move(action, event=event, to=to, now=now, **columns)
        _store_consequences(action, to, closed_as)
    return action


def lock_accounts(*, account_id: int, exchange_ids: list[int]) -> list[SubAccount]:
    """The sub-accounts with these ids, in one order, locked until the end of the transaction where possible."""
    rows = SubAccount.objects.filter(account_id=account_id, exchange_id__in=exchange_ids).order_by("exchange_id")
    if connection.features.has_select_for_update:
        rows = rows.select_for_update(of=("self",))
    return list(rows)


def _requested_columns(action: SubAccountAction) -> dict[str, Any]:
    """The columns of what is requested that the action changes."""
    if action.kind == states.SETTINGS:
        settings = {"wanted_payout": action.wanted_payout, "wanted_description": action.wanted_description}
        return {name: value for name, value in settings.items() if value is not None}
    return {"wanted": states.AS_FROZEN if action.kind == states.FREEZE else "active"}


def _store_consequences(action: SubAccountAction, to: str, closed_as: str | None) -> None:
    """What an end means for the sub-account: how it is closed, and a request that is withdrawn."""
    columns: dict[str, Any] = {} if closed_as is None else {"closed_as": closed_as}
    failed = to in _WITHOUT_EFFECT and action.kind != states.FREEZE
    newer = SubAccountAction.objects.filter(sub_account=action.sub_account_id, lane=action.lane, pk__gt=action.pk)
    if (failed or to == states.CANCELLED) and not newer.exists():
        columns |= {name: action.before.get(name) for name in _requested_columns(action)}
    if columns:
        _update(action.sub_account, columns)


def _update(sub: SubAccount, columns: Mapping[str, Any]) -> None:
    SubAccount.objects.filter(pk=sub.pk).update(**columns)
    for name, value in columns.items():
        setattr(sub, name, value)


GUARDS: Final = Guards(machine=MACHINE, history=(SubAccountEvent,), records=(SubAccountCall,))
