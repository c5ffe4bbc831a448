"""The frame of every page, reloaded in one request: the alarm bar, the counts of the navigation, the strip at the foot,
and the notifications of the browser, with the fills of one's own orders."""

from datetime import datetime
from typing import Any, Final

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from desk import clock
from desk.incidents import queries
from desk.models import Person
from desk.people import roles
from desk.views import notifications
from desk.views.rendering import show
from desk.web import context as navigation
from desk.web.requests import DeskRequest, scope_of
from exchange_ops.keys import status
from exchange_ops.orders.views import fill_notices
from exchange_ops.shared.views import accounts, wellbeing

PARTS: Final = ("alarm", "count-action", "strip", "notices")


@require_safe
def frame(request: DeskRequest) -> HttpResponse:
    """The parts that `parts` names by the ids of their elements, or all of them.

    Everybody who is signed in has notices. Without a role the bar is empty, nothing is counted and there is no strip.
    """
    person, now = request.user, clock.now()
    parts = request.GET.get("parts", "").split() or list(PARTS)
    if not person.has_role(*roles.ALL):
        parts = [part for part in parts if part != "strip"]
    context: dict[str, Any] = {"parts": parts, "counts": navigation.counts(request, parts)}
    if "strip" in parts:
        context |= _strip(request, person, now)
    if "notices" in parts:
        context["notices"] = notifications.notices(person, now=now)
        context["fill_notices"] = fill_notices.recent(person, now=now)
    return show(request, "components/frame.html", context)


def _strip(request: DeskRequest, person: Person, now: datetime) -> dict[str, Any]:
    """The health of the desk, and the unresolved incidents."""
    checks, mine = wellbeing.health_for(person), accounts.in_view(request)
    return {
        "now": now,
        "exchange_now": accounts.exchange_now(mine[0], now) if len(mine) == 1 else None,
        "checks": checks,
        "watches_only": status.watches_only(mine),
        "incidents": list(queries.of_scope(queries.unresolved(person), scope_of(request))),
        "troubled": {name: check for name, check in checks.items() if not check.ok},
    }
