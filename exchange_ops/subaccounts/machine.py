"""The machine of what is asked for sub-accounts, what a move means for what is wanted of one, and the guards.

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
# After these the wish is given up again. A freeze that failed stays wanted, so that it stands out until it is done.
_WITHOUT_EFFECT = frozenset({states.REFUSED, states.NOT_DONE})


def create(*, action: SubAccountAction, now: datetime, session_key: str, evidence: Mapping[str, Any]) -> None:
    """Row 1: store a request with its first event and what is wanted from now on. Inside the caller's transaction."""
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
    """Take the action from the state and version it carries to `to`; `closed_as` is what it taught of the sub-account.

    `columns` are those of the kit's move. CannotMove when the table has no such move or somebody was faster.
    """
    with transaction.atomic():
        MACHINE.move(action, event=event, to=to, now=now, **columns)
        _store_consequences(action, to, closed_as)
    return action


def lock_accounts(*, account_id: int, exchange_ids: list[int]) -> list[SubAccount]:
    """The sub-accounts of these ids, in one order, kept from others to the end of the transaction where possible."""
    rows = SubAccount.objects.filter(account_id=account_id, exchange_id__in=exchange_ids).order_by("exchange_id")
    if connection.features.has_select_for_update:
        rows = rows.select_for_update(of=("self",))
    return list(rows)


def _requested_columns(action: SubAccountAction) -> dict[str, Any]:
    """What the action changes of what is wanted."""
    if action.kind == states.SETTINGS:
        settings = {"wanted_payout": action.wanted_payout, "wanted_description": action.wanted_description}
        return {name: value for name, value in settings.items() if value is not None}
    return {"wanted": states.AS_FROZEN if action.kind == states.FREEZE else "active"}


def _store_consequences(action: SubAccountAction, to: str, closed_as: str | None) -> None:
    """What an end means for the sub-account: how it is closed, and a wish that is given up."""
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


GUARDS: Final = Guards(machine=MACHINE, history=(SubAccountEvent,), kept=(SubAccountCall,))
