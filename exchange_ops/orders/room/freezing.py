"""What a freeze does to orders. Those at the exchange stay and can be cancelled; a queued one is not sent any more."""

from datetime import datetime
from typing import TYPE_CHECKING

from django.urls import reverse

from exchange_ops.market.models import Symbol
from exchange_ops.orders import states
from exchange_ops.orders.models import Order
from exchange_ops.orders.views.titles import title
from exchange_ops.policy.freeze_scopes import covered
from exchange_ops.policy.freezes import Stoppage
from exchange_ops.policy.models import Freeze

if TYPE_CHECKING:
    from desk.models import Person


def lock_open(freeze: Freeze) -> list[Order]:
    """None: each queued order finds the freeze before it is sent (`orders.sending`)."""
    return []


def would_release(freeze: Freeze) -> list[Order]:
    """None: an order has no hold."""
    return []


def would_stop(freeze: Freeze) -> list[Stoppage]:
    """Orders that are queued, and those that wait for an approval, which is not possible during a freeze."""
    waiting = Order.objects.filter(state__in=(states.REQUESTED, states.WAITING)).order_by("pk")
    rows = covered(freeze, waiting)
    symbols = Symbol.objects.in_bulk({row.symbol for row in rows})
    return [
        Stoppage(row.reference, reverse("order", args=[row.pk]), title(row, symbols.get(row.symbol)), _effect(row))
        for row in rows
    ]


def stop(row: Order, *, frozen: Freeze, person: "Person | None", now: datetime, session_key: str) -> None:
    """Nothing: none is locked for it."""


def wake(freeze: Freeze, *, now: datetime) -> None:
    """Nothing: none waits for the end of a freeze."""


def _effect(row: Order) -> str:
    if row.state == states.REQUESTED or row.approve_until is None:
        return "will not be sent"
    return f"cannot be approved while frozen; expires {row.approve_until:%H:%M} UTC"
