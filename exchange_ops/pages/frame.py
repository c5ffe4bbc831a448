"""What stands around every page and is read again with it: the bar of alarms, the counts of the navigation, the strip
at the foot, and what the browser shows as notifications."""

from datetime import datetime
from typing import Any, Final

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from desk import clock
from desk.incidents import queries as incidents
from desk.models import Person
from desk.views import notifications
from desk.views.rendering import show
from desk.web import context as navigation
from desk.web.requests import DeskRequest, scope_of
from exchange_ops.keys import status as key_status
from exchange_ops.shared.views import accounts, wellbeing

PARTS: Final = ("alarm", "count-action", "strip", "notices")


@require_safe
def frame(request: DeskRequest) -> HttpResponse:
    """Those of the parts that `parts` names, by the ids of their elements; all of them where it names none.

    Everybody who is signed in has a strip and notices. Without a role the bar is empty and nothing is counted.
    """
    person, now = request.user, clock.now()
    parts = request.GET.get("parts", "").split() or PARTS
    context: dict[str, Any] = {"parts": parts, "counts": navigation.counts(request, parts)}
    if "strip" in parts:
        context |= _strip(request, person, now)
    if "notices" in parts:
        context["notices"] = notifications.notices(person, now=now)
    return show(request, "components/frame.html", context)


def _strip(request: DeskRequest, person: Person, now: datetime) -> dict[str, Any]:
    """Whether the desk is well, and what is not over."""
    checks, mine = wellbeing.health_for(person), accounts.in_view(request)
    return {
        "now": now,
        "exchange_now": accounts.exchange_now(mine[0], now) if len(mine) == 1 else None,
        "checks": checks,
        "watches_only": key_status.watches_only(mine),
        "incidents": list(incidents.of_scope(incidents.unresolved(person), scope_of(request))),
        "troubled": {name: check for name, check in checks.items() if not check.ok},
    }
