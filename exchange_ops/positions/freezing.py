"""What a freeze does to margin actions: a queued one is not sent any more."""

from datetime import datetime
from typing import TYPE_CHECKING

from django.urls import reverse

from exchange_ops.policy.freeze_scopes import covered
from exchange_ops.policy.freezes import Stoppage
from exchange_ops.policy.models import Freeze
from exchange_ops.positions import states
from exchange_ops.positions.models import MarginAction

if TYPE_CHECKING:
    from desk.models import Person


def lock_open(freeze: Freeze) -> list[MarginAction]:
    """None: each queued action finds the freeze before it is sent (`positions.sending`)."""
    return []


def would_release(freeze: Freeze) -> list[MarginAction]:
    """None: a margin action has no hold."""
    return []


def would_stop(freeze: Freeze) -> list[Stoppage]:
    """The actions that are queued."""
    rows = MarginAction.objects.filter(state=states.REQUESTED).order_by("pk")
    return [
        Stoppage(
            row.reference,
            reverse("margin-action", args=[row.pk]),
            f"{states.KINDS[row.kind].lower()}, {row.symbol}",
            "will not be sent",
        )
        for row in covered(freeze, rows)
    ]


def stop(row: MarginAction, *, frozen: Freeze, person: "Person | None", now: datetime, session_key: str) -> None:
    """Nothing: none is locked for it."""


def wake(freeze: Freeze, *, now: datetime) -> None:
    """Nothing: none waits for the end of a freeze."""
