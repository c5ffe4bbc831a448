"""The audit trail for those who audit: read only, newest first, with the state of the chain's end."""

import json
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from desk import clock
from desk.audit import trail as audit
from desk.models import AuditEvent
from desk.people import roles
from desk.views.rendering import show
from desk.web import paging


class TrailFilter(forms.Form):
    """Which events to list."""

    subject = forms.CharField(required=False, max_length=120)
    action = forms.CharField(required=False, max_length=60)
    actor = forms.CharField(required=False, max_length=150)

    def narrow(self, rows: QuerySet[AuditEvent]) -> QuerySet[AuditEvent]:
        """Only the events that every filter which is set lets through."""
        self.is_valid()
        chosen = {name: value for name, value in self.cleaned_data.items() if value}
        if "subject" in chosen:
            rows = rows.filter(subject=chosen["subject"])
        if "action" in chosen:
            rows = rows.filter(action__startswith=chosen["action"])
        return rows.filter(actor__username=chosen["actor"]) if "actor" in chosen else rows


@require_safe
def trail(request: HttpRequest) -> HttpResponse:
    """Fifty events a page."""
    if not (request.user.is_authenticated and request.user.has_role(roles.AUDITOR, roles.ADMIN, scope="")):
        raise PermissionDenied("Auditors and administrators read the audit trail.")
    filters = TrailFilter(request.GET)
    page = paging.page(request, filters.narrow(AuditEvent.objects.select_related("actor")), key="seq")
    context = {
        "now": clock.now(),
        "filters": filters,
        "page": page,
        "events": [_line(event) for event in page.rows],
        "head": audit.head(),
        "last": AuditEvent.objects.order_by("-seq").first(),
    }
    return show(request, "desk/trail.html", context)


def _line(event: AuditEvent) -> dict[str, Any]:
    return {
        "row": event,
        "changes": list(_changes(event.before, event.after)),
        "intact": audit.hash_of(event) == event.hash,
    }


def _changes(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[str, str, str]]:
    """What is different, member by member, as text."""
    names = sorted({*before, *after}, key=lambda name: (name not in before, name))
    return [
        (name, _text(before.get(name)), _text(after.get(name))) for name in names if before.get(name) != after.get(name)
    ]


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
