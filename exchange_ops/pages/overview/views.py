"""The overview: blocks by role, each read by itself and again when something it shows has changed."""

from collections.abc import Callable
from typing import Any, Final

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from desk import clock
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.pages.overview import house, layout, work, worth
from exchange_ops.pages.overview.view import View, range_of
from exchange_ops.portfolio.history import RANGES
from exchange_ops.shared import rules
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import requires

READERS: Final[dict[str, Callable[[View], dict[str, Any]]]] = {
    "work": work.work,
    "requests": work.requests,
    "deadlines": work.deadlines,
    "balances": worth.balances,
    "allocation": worth.allocation,
    "accounts": worth.accounts,
    "flows": worth.flows,
    "lines": worth.lines,
    "wellbeing": house.wellbeing,
    "staff": house.staff,
    "changes": house.changes,
    "checks": house.checks,
}
TEMPLATES: Final = {name: f"exchange_ops/overview/_{name}.html" for name in READERS}


@require_safe
@requires(rules.may_see)
def overview(request: DeskRequest) -> HttpResponse:
    """The first page. htmx asks for one block of it by the id of its element."""
    view = View(request.user, accounts.in_view(request), clock.now(), range_of(request.GET.get("range", "")))
    rows = layout.rows(request.user)
    names = [name for row in rows for name, _ in row]
    target = request.htmx.target if request.htmx else None
    context: dict[str, Any] = {"now": view.now, "account": view.account, "accounts": view.accounts}
    context |= {"may_request": view.account is not None and rules.may_request(request.user)}
    context |= {"range": view.range, "ranges": RANGES}
    read = {name: READERS[name](view) for name in ([target] if target in names else names)}
    context["rows"] = [[{"template": TEMPLATES[name], "width": width} for name, width in row] for row in rows]
    return show(
        request, "exchange_ops/overview.html", _with(context, read), parts={name: TEMPLATES[name] for name in names}
    )


def _with(context: dict[str, Any], read: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The blocks' own variables beside each other: no block writes over what another one reads."""
    for found in read.values():
        context |= found
    return context
