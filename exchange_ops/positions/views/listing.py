"""Margin: every account with its position and the distance to its margin call, and a tab with what happened before."""

from typing import Any

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from desk import clock
from desk.views.rendering import show, target
from desk.web.requests import DeskRequest
from exchange_ops.market import interest
from exchange_ops.orders import states as order_states
from exchange_ops.orders.models import Order, OrderReading
from exchange_ops.orders.views import sources
from exchange_ops.policy import freezes
from exchange_ops.policy.freeze_scopes import Movement
from exchange_ops.positions.views import lines
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import requires

PARTS = {
    "rows": "exchange_ops/margin/_rows.html",
    "realised": "exchange_ops/margin/_realised.html",
    "history": "exchange_ops/margin/_history.html",
    "age": "exchange_ops/orders/_age.html",
}
HISTORY = "history"


def _open_orders(account: Account | None) -> int:
    return Order.objects.filter(account=account, active=True, margin=True, state__in=order_states.CANCELLABLE).count()


@require_safe
@requires(rules.may_see)
def margin(request: DeskRequest) -> HttpResponse:
    """The page, one of its parts, or its tab of the past."""
    now, account = clock.now(), accounts.current(request)
    context: dict[str, Any] = {
        "now": now,
        "tab": HISTORY if request.GET.get("tab") == HISTORY else "",
        "back": "margin",
        "source": sources.of_orders(account, now),
        "reading_waits": OrderReading.objects.filter(account=account, answered_at=None).exists(),
        "may_trade": rules.may_trade(request.user),
        "frozen": account and freezes.stopping(Movement(account.pk)),
    }
    if target(request) != "rows":  # that part is read again with every price
        context |= lines.realised(account, listed=lines.MOST_REPORTS if context["tab"] else 0)
    if context["tab"] == HISTORY:
        context |= {
            "reports": lines.reports(account),
            "liquidations": lines.liquidations(account),
            "actions": lines.actions(account),
        }
    else:
        account_lines = lines.of_account(account, now=now)
        interest.glance(codes=[line["account"].symbol for line in account_lines], now=now)
        context |= {"lines": account_lines, "under_way": lines.under_way(account, account_lines)}
        context["positions"] = sum(line["position"] is not None for line in account_lines)
        context["open_orders"] = _open_orders(account)
    return show(request, "exchange_ops/margin.html", context, parts=PARTS)
