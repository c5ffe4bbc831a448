"""Margin actions that wait to be sent, for people to judge after a restore (`desk.restores`)."""

from typing import Final

from django.urls import reverse

from desk.restores.of_machine import Waits
from exchange_ops.positions import machine, mover

WAITING: Final = Waits(
    mover.MACHINE,
    ends={machine.REQUESTED: ("stopped", machine.NOT_SENT)},
    title=lambda row: f"{row.kind_label}, {row.symbol}",
    url=lambda row: reverse("margin-action", args=[row.pk]),
    asked_by=lambda row: row.initiator_id,
    read_with=("account", "initiator"),
)
