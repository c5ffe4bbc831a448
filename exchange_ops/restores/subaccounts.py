"""Actions on sub-accounts that wait to be sent, for people to judge after a restore (`desk.restores`)."""

from typing import Final

from django.urls import reverse

from desk.restores.of_machine import Waits
from exchange_ops.subaccounts import machine, mover

WAITING: Final = Waits(
    mover.MACHINE,
    ends={machine.REQUESTED: ("taken_back", machine.CANCELLED)},
    title=lambda row: (
        f"{machine.KINDS[row.kind]}, sub-account {row.sub_account.exchange_id}, "
        f"which the exchange's list calls {row.sub_account.status}"
    ),
    url=lambda row: reverse("subaccount", args=[row.sub_account.exchange_id]),
    asked_by=lambda row: row.requested_by_id,
    read_with=("sub_account__account", "requested_by"),
)
