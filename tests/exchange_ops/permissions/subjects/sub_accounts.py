"""Who does what to a sub-account, by where it stands, and to what was asked for one."""

from itertools import count
from typing import Any

from desk import clock
from desk.people import roles
from exchange_ops.subaccounts import account_status, machine, states
from exchange_ops.subaccounts.models import SubAccount, SubAccountAction
from tests.exchange_ops import rows
from tests.exchange_ops.permissions.shared_form import KEY, OWN, Subject, nothing, signed, walk

ADMINS = {roles.ADMIN, OWN + roles.ADMIN}
_numbers = count(7101)
SHUT = {"status": states.LISTED_CLOSED, "settings_shown": False}
# What a reading leaves behind of each.
READ: dict[str, dict[str, Any]] = {
    account_status.OPEN: {},
    account_status.NEW: {"status": states.NEW},
    account_status.FROZEN: SHUT | {"closed_as": states.AS_FROZEN},
    account_status.DISABLED: SHUT | {"closed_as": states.AS_DISABLED},
    account_status.CLOSED: SHUT,
    account_status.UNCLEAR: {"status": "of an unknown kind"},
    account_status.GONE: {"missing_since": rows.NOW},
}


def sub_account(state: str, person: Any) -> SubAccount:
    """A sub-account as it was read."""
    return rows.subaccount(next(_numbers), now=clock.now(), **READ[state])


def _decision(kind: str) -> Any:
    return lambda row: signed(row, ids=[row.exchange_id], digest=account_status.digest_of(kind, [row]))


def _settings(row: SubAccount) -> dict[str, Any]:
    digest = account_status.digest_of(states.SETTINGS, [row])
    return signed(row, payouts="off", description="Closed for the holidays", digest=digest)


def requested(state: str, person: Any) -> SubAccountAction:
    """What an administrator asked for, in the state."""
    sub = rows.subaccount(next(_numbers), now=clock.now())
    kind = states.SETTINGS
    row = SubAccountAction(
        sub_account=sub,
        kind=kind,
        lane=states.LANES[kind],
        wanted_payout=False,
        wanted_description="",
        reason="Nobody pays from it",
        requested_by=person,
        request_key=KEY,
        digest=account_status.digest_of(kind, [sub]),
    )
    machine.create(action=row, now=clock.now(), session_key="s", evidence={})
    return walk(machine.MACHINE, row, state, {"claimed": lambda row: {"attempt": row.attempt + 1}})


SUB_ACCOUNTS = Subject(
    name="sub-account",
    states=account_status.NAMES,
    reach=sub_account,
    state_of=lambda row: account_status.status_of(row).name,
    routes={
        "subaccount-freeze": _decision(states.FREEZE),
        "subaccount-activate": _decision(states.ACTIVATE),
        "subaccount-settings": _settings,
    },
    goes_through={
        (account_status.OPEN, "subaccount-freeze"): {roles.ADMIN},
        (account_status.NEW, "subaccount-freeze"): {roles.ADMIN},
        (account_status.FROZEN, "subaccount-activate"): {roles.ADMIN},
        (account_status.CLOSED, "subaccount-activate"): {roles.ADMIN},
        # Where the exchange's list is not clear, the exchange decides.
        **{
            (account_status.UNCLEAR, f"subaccount-{what}"): {roles.ADMIN} for what in ("freeze", "activate", "settings")
        },
        (account_status.OPEN, "subaccount-settings"): {roles.ADMIN},
        (account_status.NEW, "subaccount-settings"): {roles.ADMIN},
    },
    args=lambda row, name: () if name in {"subaccount-freeze", "subaccount-activate"} else (row.exchange_id,),
    reads={"subaccount": roles.ALL, "api-subaccount": roles.ALL},
    topic=lambda row: f"subaccount:{row.exchange_id}",
)
SUB_ACCOUNT_ACTIONS = Subject(
    name="action on a sub-account",
    states=states.STATES,
    reach=requested,
    owners=(roles.ADMIN,),
    routes={"subaccount-take-back": nothing},
    goes_through={("requested", "subaccount-take-back"): ADMINS},
    args=lambda row, name: (row.sub_account.exchange_id, *((row.pk,) if name == "subaccount-take-back" else ())),
    reads={"subaccount": roles.ALL, "api-subaccount-actions": roles.ALL},
)
