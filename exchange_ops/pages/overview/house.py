"""Blocks about the desk itself: its health, keys and people, the last changes, and the results of the checks."""

from datetime import timedelta
from typing import Any

from desk.incidents import queries
from desk.models import Person
from desk.people import factors, trail_readers
from desk.staff import states as staff_states
from desk.staff.models import PersonChange
from desk.views import trail
from exchange_ops.keys.models import ApiKey
from exchange_ops.keys.status import ROTATE_AFTER
from exchange_ops.pages.overview.view import View
from exchange_ops.shared.models import Account, CheckRun
from exchange_ops.shared.views import wellbeing as health

SHOWN_EVENTS = 8
RECENT = timedelta(days=1)
RECONCILIATION = "reconciliation:"


def wellbeing(view: View) -> dict[str, Any]:
    """Health in one line: every check, and the unresolved incidents."""
    checks = health.health_for(view.person)
    return {
        "checks": checks,
        "troubled": [(name, check) for name, check in checks.items() if not check.ok],
        "incidents": list(queries.of_scope(queries.unresolved(view.person), *view.scopes)),
    }


def staff(view: View) -> dict[str, Any]:
    """Keys and people that need an administrator."""
    keys = list(ApiKey.objects.filter(account__in=view.accounts, retired_at=None).order_by("pk"))
    people = list(Person.objects.filter(is_active=True).order_by("username"))
    with_factor = factors.those_with_one([person.pk for person in people])
    return {
        "keys": keys,
        "keys_due": [key for key in keys if view.now - key.created_at >= ROTATE_AFTER],
        "keys_troubled": [key for key in keys if key.last_problem or key.probe_problem],
        "people": people,
        "people_without_factor": [person for person in people if person.pk not in with_factor],
        "person_changes": list(
            PersonChange.objects.filter(state__in=staff_states.TABLE.open).select_related("person", "requested_by")
        ),
    }


def changes(view: View) -> dict[str, Any]:
    """The last events of the audit trail that the person may read, of the accounts of the page and the whole desk."""
    is_of_one = view.account is not None and Account.objects.exclude(pk=view.account.pk).exists()
    rows = trail_readers.readable(view.person, at=view.scopes if is_of_one else None).order_by("-seq")
    events = list(rows[:SHOWN_EVENTS])
    trail.tell(events)
    return {"events": events, "recent_events": rows.filter(at__gte=view.now - RECENT).count()}


def checks(view: View) -> dict[str, Any]:
    """The last results of the scheduled checks of these accounts and of the whole desk."""
    names = {f"{RECONCILIATION}{account.pk}": f"Reconciliation, {account.name}" for account in view.accounts}
    others = CheckRun.objects.filter(name__startswith=RECONCILIATION).exclude(name__in=names)
    runs = CheckRun.objects.exclude(name__in=others.values("name")).order_by("name")
    return {"runs": [(names.get(run.name, run.name.capitalize()), run) for run in runs]}
