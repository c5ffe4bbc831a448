"""The audit trail for those who audit: read only, newest first, with the state of the chain's end."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from django import forms
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_http_methods, require_safe

from desk import clock
from desk.audit import trail as audit
from desk.lists.declared import Column, List
from desk.lists.filters import DatedForm
from desk.lists.listing import Listing
from desk.models import AuditEvent
from desk.people import roles
from desk.views import lists
from desk.views.rendering import show
from desk.web.requests import DeskRequest


class TrailFilter(DatedForm):
    """Which events to list."""

    dated, dated_label = "at", "Happened"

    subject = forms.CharField(label="Subject", required=False, max_length=120)
    action = forms.CharField(label="Action starts with", required=False, max_length=60)
    actor = forms.CharField(label="Person", required=False, max_length=150)

    def narrow(self, rows: QuerySet[AuditEvent]) -> QuerySet[AuditEvent]:
        """Only the events that every filter which is set lets through."""
        chosen = self.chosen()
        if "subject" in chosen:
            rows = rows.filter(subject=chosen["subject"])
        if "action" in chosen:
            rows = rows.filter(action__startswith=chosen["action"])
        return rows.filter(actor__username=chosen["actor"]) if "actor" in chosen else rows


TRAIL: Final = List(
    name="trail",
    one="event",
    many="events",
    route="audit",
    export_route="audit-export",
    cells="desk/trail/_cells.html",
    css="trail",
    filters=TrailFilter,
    order=("seq",),
    columns=(
        Column(name="number", head="No.", css="t-no", order=("seq",), is_end=True, is_mono=True),
        Column(name="at", head="When", css="t-when", is_time=True),
        Column(name="who", head="Who", css="t-who"),
        Column(name="what", head="What", css="t-what"),
        Column(name="changed", head="Changed", css="t-changed"),
        Column(name="hash", head="Hash", css="t-hash", is_mono=True),
        Column(name="request", head="Request", is_shown=False, is_mono=True),
    ),
    exported=(
        ("number", "seq"),
        ("at ({zone})", "at"),
        ("person", "actor.username"),
        ("action", "action"),
        ("subject", "subject"),
        ("before", "before_text"),
        ("after", "after_text"),
        ("request", "request_id"),
        ("previous hash", "prev"),
        ("hash", "hash"),
    ),
)
PARTS: Final = {"totals": "desk/lists/_totals.html"}


@require_safe
def trail(request: DeskRequest) -> HttpResponseBase:
    """The newest first unless it is sorted otherwise."""
    _let_readers_in(request)
    return _opened(request)


@require_http_methods(["GET", "HEAD", "POST"])
def export(request: DeskRequest, form: str) -> HttpResponseBase:
    """The filtered events as a file, or the chosen ones."""
    _let_readers_in(request)
    return lists.file(_listing(request, clock.now()), form)


@lists.opens(TRAIL)
def _opened(request: DeskRequest) -> HttpResponse:
    now = clock.now()
    context = {
        "now": now,
        "list": _listing(request, now),
        "head": audit.head(),
        "last": AuditEvent.objects.order_by("-seq").first(),
    }
    return show(request, "desk/trail.html", context, parts=PARTS)


def _let_readers_in(request: DeskRequest) -> None:
    if not request.user.has_role(roles.AUDITOR, roles.ADMIN, scope=""):
        raise PermissionDenied("Auditors and administrators read the audit trail.")


def _listing(request: DeskRequest, now: datetime) -> Listing:
    return Listing(request, TRAIL, AuditEvent.objects.select_related("actor"), now=now, prepare=_compare)


def _compare(events: Sequence[Any]) -> None:
    """Give each event what it changed, and whether its hash is that of its content."""
    for event in events:
        event.changes = list(_changes(event.before, event.after))
        event.is_intact = audit.hash_of(event) == event.hash


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
